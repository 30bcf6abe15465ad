#include "ops/doctor/platforms.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ids.h"
#include "sinks/port/descriptor.h"
#include "sinks/registry.h"

namespace epilogue::doctor {
namespace {

constexpr const char* token_check = "token";
constexpr std::chrono::seconds platform_within{4};
constexpr const char* sent_again =
    "what was sent cannot be looked up: after a crash in the wrong moment it is sent again, under the same "
    "id";

std::string described(const TokenStatus& report) {
    std::string text = report.setting;
    if (!report.is_asked) return text + ": set";
    text += report.identity.empty() ? ": accepted" : ": we are " + report.identity;
    if (report.scopes) text += fmt::format("; scopes: {}", fmt::join(*report.scopes, ", "));
    return text;
}

/// The worst that the tokens in use may do; unknown when one of them is.
Permission look_up_of(const std::vector<TokenStatus>& reports) {
    bool all_known = true;
    for (const TokenStatus& report : reports) {
        if (report.state != TokenState::accepted) continue;
        if (report.look_up == Permission::no) return Permission::no;
        all_known = all_known && report.look_up == Permission::yes;
    }
    return all_known ? Permission::yes : Permission::unknown;
}

bool is_any(const std::vector<TokenStatus>& reports, TokenState state) {
    return std::any_of(reports.begin(), reports.end(),
                       [state](const TokenStatus& report) { return report.state == state; });
}

/// What the platform says of each token. Ends at the first one for which the host did not answer: the others
/// have the same host.
std::vector<TokenStatus> check_tokens(Sink& sink, const Transport& transport) {
    std::vector<TokenStatus> reports;
    for (Dialogue<TokenStatus>& check : sink.check_tokens()) {
        reports.push_back(run(std::move(check), transport, platform_within));
        if (reports.back().state == TokenState::unreachable) break;
    }
    return reports;
}

/// A post at this place that is never made.
Post trial_post(Sink& sink, const Target& target) {
    Post post;
    post.delivery_id = DeliveryId(random_uuid());
    post.target = target;
    post.body = sink.render({}, post.delivery_id);
    post.intent_at = system_now();
    return post;
}

/// Whether the posts at this place can be looked at, seen by doing it.
LookupResult trial_look_up(Sink& sink, const Transport& transport, const Target& target) {
    return run(sink.find(trial_post(sink, target)), transport, platform_within);
}

/// Whether anything would be sent there, seen by going up to the first request, which is not made.
Finding judge_first_request(const std::string& name, Sink& sink, const Processor& place) {
    const auto where = describe(place);
    auto posting = sink.create(trial_post(sink, place.target));
    if (posting.request() != nullptr)
        return {Severity::ok, name, "place", where + ", where a callback posts to, is configured", ""};
    return {Severity::error, name, "place", where + ", where a callback posts to: " + posting.outcome().cause,
            "set what is missing; until then its posts are parked"};
}

Finding judge_trial(const std::string& sink, const Processor& place, const LookupResult& trial) {
    const auto where = describe(place);
    if (trial.ok) return {Severity::ok, sink, "look-up", where + " can be looked at", ""};
    return {Severity::warning, sink, "look-up",
            where + ", where a callback posts to, cannot be looked at: " + trial.cause,
            "let the token read what it posts; until then a lost answer parks its delivery"};
}

}  // namespace

Finding judge_token(const std::string& sink, const TokenStatus& report, std::int64_t callbacks) {
    switch (report.state) {
        case TokenState::missing:
            if (callbacks == 0) return {Severity::ok, sink, token_check, report.setting + " is not set", ""};
            return {Severity::error, sink, token_check,
                    fmt::format("{} is not set, and {} active callbacks post there: their posts are parked",
                                report.setting, callbacks),
                    "set " + report.setting};
        case TokenState::unreachable:
            return {Severity::unreachable, sink, token_check,
                    report.setting + ": the platform could not be asked: " + report.cause,
                    "check api_url, and the network between here and there"};
        case TokenState::refused:
            return {Severity::error, sink, token_check,
                    report.setting + ": the platform refuses it: " + report.cause,
                    "set a token that is valid; needed: " + report.needed};
        case TokenState::accepted:
            break;
    }
    if (report.post == Permission::no)
        return {Severity::error, sink, token_check, described(report) + "; it may not post",
                "give it " + report.needed};
    if (report.look_up == Permission::no)
        return {Severity::warning, sink, token_check,
                described(report) + "; it may not look up what it posted", "give it " + report.needed};
    return {Severity::ok, sink, token_check, described(report), ""};
}

Guarantee guarantee_of(const std::string& sink, const std::vector<TokenStatus>& reports,
                       const std::optional<LookupResult>& trial) {
    const auto promised = [&](Promise promise, std::string why) {
        return Guarantee{sink, promise, std::move(why)};
    };
    if (reports.empty()) return promised(Promise::at_least_once, sent_again);
    if (!is_any(reports, TokenState::accepted))
        return promised(Promise::none, is_any(reports, TokenState::unreachable)
                                           ? "the platform could not be asked"
                                       : is_any(reports, TokenState::refused)
                                           ? "the platform refuses the token: posts are parked"
                                           : reports.front().setting + " is not set: posts are parked");
    const bool may_post = std::any_of(reports.begin(), reports.end(), [](const TokenStatus& report) {
        return report.state == TokenState::accepted && report.post != Permission::no;
    });
    if (!may_post) return promised(Promise::none, "the token may not post: posts are parked");
    const auto may = [&](InDoubt in_doubt) {
        return std::any_of(reports.begin(), reports.end(),
                           [=](const TokenStatus& report) { return report.in_doubt == in_doubt; });
    };
    if (may(InDoubt::sends_again)) return promised(Promise::at_least_once, sent_again);
    if (may(InDoubt::parks))
        return promised(Promise::at_most_once,
                        "what was sent cannot be looked up: a delivery whose answer is lost is parked");
    if ((trial && trial->forbidden) || look_up_of(reports) == Permission::no)
        return promised(Promise::at_most_once,
                        "the token may not read what it posts: a delivery whose answer is lost is parked");
    if (trial && trial->ok) return promised(Promise::exactly_once, "lost answers are looked up: tried now");
    if (look_up_of(reports) == Permission::yes)
        return promised(Promise::exactly_once, "lost answers are looked up: the token's scopes allow it");
    return promised(
        Promise::exactly_once,
        "lost answers are looked up, as far as the token may read where it posts: the platform does "
        "not tell, and there is no place to try it at");
}

PlatformVisit visit_platform(const std::string& name, Sink& sink, const Transport& transport,
                             const Watching& watching) {
    PlatformVisit visit;
    const auto reports = check_tokens(sink, transport);
    for (const TokenStatus& report : reports)
        visit.findings.push_back(judge_token(name, report, watching.callbacks));
    std::optional<LookupResult> trial;
    const bool looks =
        !reports.empty() && std::all_of(reports.begin(), reports.end(), [](const TokenStatus& report) {
            return report.in_doubt == InDoubt::looks;
        });
    if (watching.newest && !looks) {
        visit.findings.push_back(judge_first_request(name, sink, *watching.newest));
    } else if (watching.newest && is_any(reports, TokenState::accepted)) {
        trial = trial_look_up(sink, transport, watching.newest->target);
        visit.findings.push_back(judge_trial(name, *watching.newest, *trial));
    }
    visit.guarantee = guarantee_of(name, reports, trial);
    return visit;
}

}  // namespace epilogue::doctor
