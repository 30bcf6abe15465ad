#include "tests/sim/platform.h"

#include <algorithm>

#include "sinks/github/github_target.h"

namespace epilogue::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string place_of(const Target& target) {
    const auto& github = std::any_cast<const GithubTarget&>(target);
    return "github:" + github.repo + "#" + std::to_string(github.number);
}

}  // namespace

std::string Platform::apply(const std::string& place, const Post& post) {
    const std::size_t index = posts_.size();
    posts_.push_back({place, post.delivery_id, post.body, false, false});
    const bool lags = schedule_.faults.strikes(Fault::look_up_lags);
    hidden_until_.push_back(schedule_.now() +
                            (lags ? schedule_.random.between(milliseconds{100}, seconds{12}) : Micros{0}));
    by_delivery_[post.delivery_id].push_back(index);
    schedule_.say("platform: post {} of {} at {}{}", index, post.delivery_id, place,
                  lags ? ", shown late" : "");
    if (schedule_.faults.strikes(Fault::user_deletes)) {
        schedule_.after(schedule_.random.between(seconds{1}, seconds{90}), [this, index] {
            schedule_.say("platform: a user deletes post {}", index);
            posts_[index].deleted_by_user = true;
        });
    }
    return std::to_string(index);
}

std::vector<Receipt> Platform::look(const DeliveryId& delivery_id) {
    std::vector<Receipt> seen;
    for (const std::size_t index : by_delivery_[delivery_id]) {
        const SeenPost& post = posts_[index];
        if (post.deleted_by_user || post.removed_by_us || hidden_until_[index] > schedule_.now()) continue;
        seen.push_back({std::to_string(index), "sim://post/" + std::to_string(index)});
    }
    if (seen.empty()) oracle_.saw_nothing_of(delivery_id, schedule_.now());
    return seen;
}

bool Platform::remove(const std::string& remote_id) {
    SeenPost& post = posts_.at(std::stoul(remote_id));
    schedule_.say("platform: post {} is removed", remote_id);
    post.removed_by_us = true;
    return true;
}

void Platform::forbid(const DeliveryId& delivery_id) {
    for (const std::size_t index : by_delivery_[delivery_id]) posts_[index].look_up_forbidden = true;
}

Quota Platform::quota_of(const Target& target) const {
    const bool odd = std::any_cast<const GithubTarget&>(target).number % 2 != 0;
    const std::string credential = odd ? "github:odd" : "github:even";
    return {.credential = credential,
            .setting = "[github] token",
            .window = credential,
            .look_window = credential,
            .limits = limits_,
            .look_limits = look_limits_of(limits_)};
}

std::string rendered(const Summary& summary) {
    return summary.headline + "\n" + summary.final_message + "\n" + summary.facts;
}

std::string SimSink::render(const Summary& summary, const DeliveryId&) const {
    return rendered(summary);
}

Attempt SimSink::lost(const char* why) {
    Attempt attempt;
    attempt.answer = Answer::unknown;
    attempt.platform = PlatformState::failed;
    attempt.cause = why;
    return attempt;
}

LookupResult SimSink::down(const char* why) {
    LookupResult lookup;
    lookup.platform = PlatformState::failed;
    lookup.cause = why;
    return lookup;
}

Attempt SimSink::send(const Post& post) {
    Schedule& schedule = process_.schedule();
    Faults& faults = schedule.faults;
    const std::string place = place_of(post.target);
    ++platform_.attempts;
    process_.pass(Point::before_request);
    process_.wait(schedule.random.between(milliseconds{5}, milliseconds{800}));
    process_.pass(Point::request_on_its_way);
    Attempt attempt;
    attempt.platform = PlatformState::answered;
    if (const auto refusal = platform_.meet(post.target, post.delivery_id, true)) {
        process_.wait(schedule.random.between(milliseconds{5}, milliseconds{800}));
        if (refusal->answer == Answer::unknown) return lost("503");
        attempt.answer = refusal->answer;
        attempt.rate_limited = refusal->answer == Answer::retry;
        attempt.not_before = refusal->not_before;
        return attempt;
    }
    if (faults.strikes(Fault::rate_limited)) {
        attempt.answer = Answer::retry;
        attempt.cause = "429";
        attempt.rate_limited = true;
        if (schedule.random.chance(0.5)) attempt.not_before = seconds{schedule.random.between(0, 20)};
        return attempt;
    }
    if (faults.strikes(Fault::refused)) {
        schedule.say("platform refuses {} for good", post.delivery_id);
        platform_.refuse(std::any_cast<const GithubTarget&>(post.target).number);
        attempt.answer = Answer::refused;
        attempt.cause = "410";
        return attempt;
    }
    if (faults.strikes(Fault::unauthorised)) {
        attempt.answer = Answer::unauthorised;
        attempt.cause = "401";
        attempt.scope_is_target = schedule.random.chance(0.3);
        return attempt;
    }
    if (faults.strikes(Fault::request_lost)) {
        process_.wait(schedule.random.between(seconds{1}, seconds{19}));
        return lost("timeout");
    }
    if (faults.strikes(Fault::applied_late)) {
        // Given up by us, but still on its way: it arrives after the first look-ups.
        ++platform_.requests_on_their_way;
        schedule.after(schedule.random.between(seconds{1}, seconds{40}),
                       [&platform = platform_, place, post] {
                           --platform.requests_on_their_way;
                           platform.apply(place, post);
                       });
        process_.wait(schedule.random.between(milliseconds{500}, seconds{19}));
        return lost("timeout");
    }
    const std::string id = platform_.apply(place, post);
    if (faults.strikes(Fault::platform_twin)) platform_.apply(place, post);
    process_.pass(Point::request_applied);
    process_.wait(schedule.random.between(milliseconds{5}, milliseconds{800}));
    if (faults.strikes(Fault::answer_lost)) return lost("reset");
    attempt.answer = Answer::sent;
    attempt.receipt = {id, "sim://post/" + id};
    return attempt;
}

LookupResult SimSink::look(const Post& post) {
    Schedule& schedule = process_.schedule();
    process_.pass(Point::before_look_up);
    process_.wait(schedule.random.between(milliseconds{5}, milliseconds{800}));
    LookupResult lookup;
    if (const auto refusal = platform_.meet(post.target, post.delivery_id, false)) {
        if (refusal->answer == Answer::unknown) return down("503");
        lookup.rate_limited = refusal->answer == Answer::retry;
        lookup.forbidden = !lookup.rate_limited;
        lookup.not_before = refusal->not_before;
        return lookup;
    }
    if (schedule.faults.strikes(Fault::look_up_fails)) {
        lookup.rate_limited = schedule.random.chance(0.3);
        if (!lookup.rate_limited) return down("502");
        lookup.cause = "429";
        lookup.not_before = seconds{schedule.random.between(0, 20)};
        return lookup;
    }
    if (schedule.faults.strikes(Fault::look_up_forbidden)) {
        platform_.forbid(post.delivery_id);
        lookup.forbidden = true;
        lookup.cause = "403";
        return lookup;
    }
    lookup.ok = true;
    lookup.found = platform_.look(post.delivery_id);
    schedule.say("{} looks for {}: {} seen", process_.name(), post.delivery_id, lookup.found.size());
    process_.pass(Point::after_look_up);
    return lookup;
}

bool SimSink::remove(const Receipt& duplicate) {
    Schedule& schedule = process_.schedule();
    process_.pass(Point::before_heal);
    process_.wait(schedule.random.between(milliseconds{5}, milliseconds{800}));
    if (schedule.faults.strikes(Fault::removal_fails)) return false;
    const bool removed = platform_.remove(duplicate.remote_id);
    process_.pass(Point::after_heal);
    return removed;
}

}  // namespace epilogue::sim
