#include "tests/sim/platform.h"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "ops/fake_platform/platform_api.h"
#include "sinks/github/github_section.h"
#include "sinks/gitlab/gitlab_section.h"
#include "sinks/registry.h"
#include "sinks/slack/slack_section.h"
#include "tests/sim/database.h"
#include "tests/support/rsa_key.h"

namespace epilogue::sim {
namespace {

using fake_platform::bot_login;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

/// A platform's clock is set by other people.
constexpr minutes greatest_skew{4};

std::string http_date(Instant at) {
    const auto whole = std::chrono::floor<seconds>(at).time_since_epoch().count();
    return fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(static_cast<std::time_t>(whole)));
}

/// The delivery whose marker or metadata the comment carries; "" when there is none.
std::string delivery_in(const fake_platform::Comment& comment) {
    if (comment.platform == "slack") {
        const auto metadata = nlohmann::json::parse(comment.metadata, nullptr, false);
        return metadata.is_object() ? metadata["event_payload"].value("id", "") : std::string();
    }
    constexpr std::string_view before = "<!-- epilogue:1 id=";
    const auto from = comment.body.find(before);
    if (from == std::string::npos) return {};
    const auto id = comment.body.substr(from + before.size());
    return id.substr(0, id.find(' '));
}

/// GitHub and Slack may give fewer than they are asked for: then there are more pages.
std::string in_short_pages(std::string query) {
    for (const auto& [asked, given] :
         {std::pair("per_page=100", "per_page=2"), std::pair("limit=200", "limit=2")})
        query = replaced(query, asked, given);
    return query;
}

fake_platform::Request received(const HttpRequest& request) {
    const auto path = request.url.find('/', std::string_view("http://").size());
    const auto query = std::min(request.url.find('?'), request.url.size());
    fake_platform::Request received;
    received.method = request.method;
    received.path = request.url.substr(path, query - path);
    received.query = request.url.substr(std::min(query + 1, request.url.size()));
    if (platform_of(request) != "gitlab") received.query = in_short_pages(received.query);
    received.headers["host"] = "sim";
    for (const std::string& header : request.headers)
        received.headers[lowered(header.substr(0, header.find(':')))] =
            std::string(trimmed(std::string_view(header).substr(header.find(':') + 1)));
    received.body = request.body;
    return received;
}

/// Made once: it is seen in nothing that a schedule does.
const std::string& key_of_the_app() {
    static const std::string pem = testing::new_rsa_key().private_pem;
    return pem;
}

HttpAnswer answer_of(const fake_platform::Reply& reply) {
    HttpAnswer answer;
    answer.outcome = HttpOutcome::answered;
    answer.status = reply.status;
    for (const auto& [name, value] : reply.headers) answer.headers[lowered(name)] = value;
    answer.body = reply.body;
    return answer;
}

class WatchedSink final : public Sink {
  public:
    WatchedSink(std::unique_ptr<Sink> sink, Schedule& schedule, Oracle& oracle, bool one_at_a_time)
        : sink_(std::move(sink)), schedule_(schedule), oracle_(oracle), one_at_a_time_(one_at_a_time) {}

    std::string render(const Summary& summary, const DeliveryId& id) const override {
        return sink_->render(summary, id);
    }
    Dialogue<LookupResult> find(Post post) override {
        const DeliveryId id = post.delivery_id;
        auto looking = sink_->find(std::move(post));
        const LookupResult lookup = co_await looking;
        schedule_.say("a look-up for {}: {}", id,
                      lookup.ok ? std::to_string(lookup.found.size()) + " seen" : lookup.cause);
        if (lookup.ok && lookup.found.empty()) oracle_.saw_nothing_of(id, schedule_.now());
        co_return lookup;
    }
    Dialogue<Attempt> create(Post post) override { return sink_->create(std::move(post)); }
    Dialogue<bool> remove(Post post, Receipt duplicate) override {
        return sink_->remove(std::move(post), std::move(duplicate));
    }
    Quota quota(const Target& target) const override { return sink_->quota(target); }
    bool writes_into_one(const Target& target) const override {
        return one_at_a_time_ || sink_->writes_into_one(target);
    }
    DuplicateCheck duplicate_check() const override { return sink_->duplicate_check(); }

  private:
    const std::unique_ptr<Sink> sink_;
    Schedule& schedule_;
    Oracle& oracle_;
    const bool one_at_a_time_;
};

}  // namespace

Platform::Platform(Schedule& schedule, Oracle& oracle)
    : schedule_(schedule),
      oracle_(oracle),
      skew_(schedule.random.between(-Micros(greatest_skew), Micros(greatest_skew))),
      tells_account_(schedule.random.chance(0.8)),
      store_([this] { return Database::start + schedule_.now() + skew_; }),
      judges_(make_sinks(settings())) {}

SinkSettings Platform::settings() const {
    SinkSettings settings;
    const std::string budget = budget_.empty() ? "off" : budget_;
    const Secret token("a token");
    settings.sections.edit<GithubSection>() = {"http://sim/github", token, budget};
    if (is_app()) {
        auto& github = settings.sections.edit<GithubSection>();
        github.token = Secret();
        github.app_id = store_.app().id;
        github.private_key = Secret(key_of_the_app());
    }
    settings.sections.edit<GitlabSection>() = {"http://sim/gitlab", token, budget};
    settings.sections.edit<SlackSection>() = {"http://sim/slack", token, {}, budget};
    settings.mac_key = "a key";
    settings.version = "sim";
    settings.now = [&schedule = schedule_] { return Database::start + schedule.now(); };
    return settings;
}

void Platform::become_app(std::chrono::seconds lifetime) {
    auto& app = store_.app();
    app.id = 12;
    app.lifetime = lifetime;
    app.installations = {{34, {.account = "o"}}};
}

std::map<std::string, std::unique_ptr<Sink>> Platform::sinks() const {
    auto sinks = make_sinks(settings());
    for (auto& [name, sink] : sinks)
        sink = std::make_unique<WatchedSink>(std::move(sink), schedule_, oracle_, skew_.count() % 4 == 0);
    return sinks;
}

std::string Platform::rendered(const std::string& sink, const Summary& summary, const DeliveryId& id) const {
    return judges_.at(sink)->render(summary, id);
}

HttpAnswer Platform::serve(const HttpRequest& request) {
    const Asked asked = asked_by(request);
    if (asked == Asked::removal)
        judge_removal(request);
    else if (asked != Asked::account)
        begin_place(request);
    if (asked == Asked::account && platform_of(request) == "github" && !tells_account_ && !is_app())
        return refuse(request, 403);
    const auto sent = received(request);
    const std::int64_t first = store_.next_id();
    const auto reply = fake_platform::platform_api_of(sent.path)->serve(sent, store_);
    const std::int64_t end = store_.next_id();
    for (std::int64_t id = first; id < end; ++id) note_post(*store_.find(id));
    HttpAnswer answer = answer_of(reply);
    answer.headers["date"] = http_date(store_.now());
    return answer;
}

HttpAnswer Platform::refuse(const HttpRequest& request, int status,
                            std::optional<std::chrono::seconds> retry_after) {
    HttpAnswer answer;
    answer.outcome = HttpOutcome::answered;
    answer.status = status;
    answer.body = R"({"message": "no"})";
    answer.headers["date"] = http_date(store_.now());
    if (retry_after)
        answer.headers["retry-after"] = schedule_.random.chance(0.5) ? std::to_string(retry_after->count())
                                                                     : http_date(store_.now() + *retry_after);
    if (platform_of(request) == "slack" && status < 500) {
        const char* error = status == 429   ? "ratelimited"
                            : status == 401 ? "invalid_auth"
                            : status == 403 ? "missing_scope"
                                            : "is_archived";
        answer.status = 200;
        answer.body = fmt::format(R"({{"ok": false, "error": "{}"}})", error);
    }
    return answer;
}

/// Other people write there as well.
void Platform::begin_place(const HttpRequest& request) {
    const std::int64_t number = number_in(request);
    if (!begun_.insert(number).second) return;
    Random& random = schedule_.random;
    const std::string name = place_of(number).name;
    const auto colon = name.find(':');
    const bool is_crowded = name.starts_with("gitlab") && random.chance(0.03);
    for (int others = is_crowded ? 110 : random.between(0, 4); others > 0; --others)
        add_other(name.substr(0, colon), name.substr(colon + 1), "a comment");
}

void Platform::add_other(const std::string& platform, const std::string& place, const std::string& body) {
    Comment comment;
    comment.platform = platform;
    comment.place = place;
    comment.author = "somebody";
    comment.body = body;
    if (platform == "slack") comment.thread = "1760000000.000100";
    store_.add(std::move(comment));
}

void Platform::note_post(const Comment& comment) {
    Random& random = schedule_.random;
    const std::int64_t id = comment.id;
    const std::string delivery = delivery_in(comment);
    const std::size_t index = posts_.size();
    by_id_[id] = index;
    posts_.push_back({comment.platform + ":" + comment.place, delivery, comment.body, false, false});
    const bool lags = schedule_.faults.strikes(Fault::look_up_lags);
    const Micros shown_in = lags ? random.between(milliseconds{100}, seconds{12}) : Micros{0};
    if (lags) store_.hide(id, store_.now() + shown_in);
    schedule_.say("platform: post {} of {} at {}{}", id, delivery, comment.place, lags ? ", shown late" : "");
    if (schedule_.faults.strikes(Fault::user_deletes)) {
        schedule_.after(random.between(seconds{1}, seconds{90}), [this, id, index] {
            schedule_.say("platform: a user deletes post {}", id);
            posts_[index].deleted_by_user = true;
            store_.remove(id);
        });
    }
    // A post that is seen can be copied, marker and all, and other people go on talking.
    if (schedule_.faults.strikes(Fault::forged_copy))
        schedule_.after(shown_in + random.between(seconds{1}, seconds{20}), [this, id] { copy(id); });
    if (random.chance(0.3)) add_other(comment.platform, comment.place, "another comment");
}

void Platform::copy(std::int64_t id) {
    const Comment* ours = store_.find(id);
    if (ours == nullptr) return;
    Comment copied = *ours;
    copied.author = "mallory";
    copied.created_at = copied.updated_at = copied.hidden_until = {};
    schedule_.say("platform: somebody copies post {}", id);
    store_.add(std::move(copied));
}

/// Removed is one of ours, and never the oldest of its delivery.
void Platform::judge_removal(const HttpRequest& request) {
    const std::string target =
        platform_of(request) == "slack" ? nlohmann::json::parse(request.body).value("ts", "") : request.url;
    const std::int64_t id = std::stoll(target.substr(target.find_last_of("/.") + 1));
    const Comment* comment = store_.find(id);
    if (comment == nullptr) return;
    if (!comment->author.starts_with(bot_login)) {
        oracle_.complain(fmt::format("a worker wants to remove comment {} of {}", id, comment->author));
        return;
    }
    SeenPost& post = posts_.at(by_id_.at(id));
    const bool has_older = std::any_of(by_id_.begin(), by_id_.find(id), [&](const auto& other) {
        const SeenPost& older = posts_.at(other.second);
        return older.delivery_id == post.delivery_id && !older.removed_by_us;
    });
    if (!has_older) oracle_.complain(fmt::format("the oldest post of {} is removed", post.delivery_id));
    schedule_.say("platform: post {} is removed", id);
    post.removed_by_us = true;
}

void Platform::forbid(const HttpRequest& request) {
    const std::string name = place_of(number_in(request)).name;
    for (SeenPost& post : posts_)
        if (post.place == name) post.look_up_forbidden = true;
}

Transport SimNetwork::transport() {
    return {.send = [this](const HttpRequest& request) { return send(request); },
            .now = [&schedule = process_.schedule()] { return std::chrono::nanoseconds(schedule.now()); }};
}

HttpAnswer SimNetwork::send(const HttpRequest& request) {
    if (request.timeout.count() <= 0) return lost("timeout");
    switch (asked_by(request)) {
        case Asked::post:
            return arrived(post(request));
        case Asked::removal:
            return arrived(remove(request));
        case Asked::look_up:
        case Asked::account:
            break;
    }
    return arrived(look_up(request));
}

HttpAnswer SimNetwork::arrived(HttpAnswer answer) {
    answer.received_at = Database::start + process_.schedule().now();
    return answer;
}

HttpAnswer SimNetwork::lost(const char* why) {
    HttpAnswer answer;
    answer.cause = why;
    return answer;
}

void SimNetwork::travel() {
    process_.wait(process_.schedule().random.between(milliseconds{5}, milliseconds{800}));
}

std::optional<HttpAnswer> SimNetwork::met(const HttpRequest& request, bool posts) {
    const auto refusal = platform_.meet(number_in(request), posts);
    if (!refusal) return std::nullopt;
    if (posts) travel();
    const int status = refusal->answer == Answer::unknown ? 503
                       : refusal->answer == Answer::retry ? 429
                                                          : 401;
    return platform_.refuse(request, status, refusal->not_before);
}

HttpAnswer SimNetwork::post(const HttpRequest& request) {
    Schedule& schedule = process_.schedule();
    Faults& faults = schedule.faults;
    ++platform_.attempts;
    process_.pass(Point::before_request);
    travel();
    process_.pass(Point::request_on_its_way);
    if (auto refused = met(request, true)) return *refused;
    if (faults.strikes(Fault::rate_limited)) {
        const bool says_when = schedule.random.chance(0.5);
        return platform_.refuse(
            request, 429, says_when ? std::optional(seconds{schedule.random.between(0, 20)}) : std::nullopt);
    }
    if (faults.strikes(Fault::refused)) {
        schedule.say("platform refuses something at {} for good", number_in(request));
        platform_.refused_for_good(number_in(request));
        return platform_.refuse(request, 410);
    }
    if (faults.strikes(Fault::unauthorised))
        return platform_.refuse(request, schedule.random.chance(0.3) ? 403 : 401);
    if (faults.strikes(Fault::request_lost)) {
        process_.wait(schedule.random.between(seconds{1}, seconds{19}));
        return lost("timeout");
    }
    if (faults.strikes(Fault::applied_late)) {
        // Given up by us, but still on its way: it arrives after the first look-ups.
        ++platform_.requests_on_their_way;
        schedule.after(schedule.random.between(seconds{1}, seconds{40}), [&platform = platform_, request] {
            --platform.requests_on_their_way;
            platform.serve(request);
        });
        process_.wait(schedule.random.between(milliseconds{500}, seconds{19}));
        return lost("timeout");
    }
    HttpAnswer answer = platform_.serve(request);
    // Slack is asked too seldom to see what it doubles by itself. (sinks.md, W8)
    if (platform_of(request) != "slack" && faults.strikes(Fault::platform_twin)) platform_.serve(request);
    process_.pass(Point::request_applied);
    travel();
    return faults.strikes(Fault::answer_lost) ? lost("reset") : answer;
}

HttpAnswer SimNetwork::look_up(const HttpRequest& request) {
    Schedule& schedule = process_.schedule();
    process_.pass(Point::before_look_up);
    travel();
    const bool is_later_page =
        request.url.find("&cursor=") != std::string::npos ||
        (request.url.find("&page=") != std::string::npos && !request.url.ends_with("&page=1"));
    if (auto refused = is_later_page ? std::nullopt : met(request, false)) return *refused;
    if (schedule.faults.strikes(Fault::look_up_fails)) {
        if (!schedule.random.chance(0.3)) return platform_.refuse(request, 502);
        return platform_.refuse(request, 429, seconds{schedule.random.between(0, 20)});
    }
    if (asked_by(request) == Asked::look_up && schedule.faults.strikes(Fault::look_up_forbidden)) {
        platform_.forbid(request);
        return platform_.refuse(request, 403);
    }
    HttpAnswer answer = platform_.serve(request);
    process_.pass(Point::after_look_up);
    return answer;
}

HttpAnswer SimNetwork::remove(const HttpRequest& request) {
    process_.pass(Point::before_heal);
    travel();
    if (process_.schedule().faults.strikes(Fault::removal_fails)) return platform_.refuse(request, 502);
    HttpAnswer answer = platform_.serve(request);
    process_.pass(Point::after_heal);
    return answer;
}

}  // namespace epilogue::sim
