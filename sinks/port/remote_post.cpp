#include "sinks/port/remote_post.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "sinks/port/json_answer.h"
#include "sinks/port/sink_mutant.h"

namespace epilogue {

bool Account::same_as(const Account& other) const {
    if (id != 0 && other.id != 0) return id == other.id;
    return !name.empty() && lowered(name) == lowered(other.name);
}

std::optional<Account> OwnAccount::known() const {
    const std::lock_guard lock(mutex_);
    return me_;
}

void OwnAccount::remember(const Account& me) {
    const std::lock_guard lock(mutex_);
    if (!me_ || me_->unnamed()) me_ = me;
}

LookupResult own_posts(std::vector<RemotePost> marked, Account me) {
    LookupResult lookup;
    lookup.ok = true;
    if (marked.empty()) return lookup;
    std::sort(marked.begin(), marked.end(), [](const auto& a, const auto& b) {
        return std::pair(a.created_at, a.id) < std::pair(b.created_at, b.id);
    });
    if (me.unnamed()) me = marked.front().author;
    for (const auto& post : marked) {
        Receipt receipt{.remote_id = fmt::format("{}", post.id), .remote_url = post.url};
        // Listed twice is not posted twice: the worker removes all but the first.
        const bool known = std::any_of(lookup.found.begin(), lookup.found.end(), [&](const Receipt& other) {
            return other.remote_id == receipt.remote_id && other.remote_url == receipt.remote_url;
        });
        const bool ours = post.author.same_as(me) || (me.unnamed() && post.author.unnamed()) ||
                          mutant(SinkMutant::author_not_compared);
        if (ours && !known) lookup.found.push_back(std::move(receipt));
    }
    if (mutant(SinkMutant::youngest_post_kept)) std::reverse(lookup.found.begin(), lookup.found.end());
    return lookup;
}

LookupResult lookup_failed(std::string cause) {
    LookupResult lookup;
    lookup.cause = std::move(cause);
    return lookup;
}

LookupResult unusable_answer(std::string cause) {
    LookupResult lookup = lookup_failed(std::move(cause));
    lookup.platform = PlatformState::answered;
    return lookup;
}

LookupResult later_page_failed(LookupResult failure) {
    failure.platform = PlatformState::answered;
    return failure;
}

LookupResult forbidden(std::string cause) {
    LookupResult lookup = lookup_failed(std::move(cause));
    lookup.forbidden = true;
    return lookup;
}

LookupResult not_looked(const Attempt& no_right) {
    LookupResult lookup = lookup_failed(no_right.cause);
    lookup.forbidden = no_right.answer == Answer::unauthorised || no_right.answer == Answer::refused;
    lookup.rate_limited = no_right.rate_limited;
    lookup.not_before = no_right.not_before;
    lookup.is_estimate = no_right.is_estimate;
    lookup.platform = no_right.platform;
    return lookup;
}

Attempt not_written(const LookupResult& failure) {
    Attempt attempt = not_sent(failure.forbidden ? Answer::unauthorised : Answer::retry, failure.cause);
    attempt.scope_is_target = failure.forbidden;
    attempt.rate_limited = failure.rate_limited;
    attempt.not_before = failure.not_before;
    attempt.is_estimate = failure.is_estimate;
    attempt.platform = failure.platform;
    return attempt;
}

TokenStatus token_status(std::string setting, const HttpAnswer& answer) {
    TokenStatus report;
    report.setting = std::move(setting);
    constexpr int unauthorised = 401;
    const bool answered = answer.outcome == HttpOutcome::answered;
    report.state = answered && answer.status / 100 == 2        ? TokenState::accepted
                   : answered && answer.status == unauthorised ? TokenState::refused
                                                               : TokenState::unreachable;
    if (report.state != TokenState::accepted)
        report.cause = answered ? fmt::format("{} {}", answer.status, one_line(answer.body)) : answer.cause;
    return report;
}

Permission permission_by(const TokenStatus& report, const std::vector<std::string_view>& wanted) {
    if (!report.scopes) return Permission::unknown;
    const bool has_one = std::any_of(wanted.begin(), wanted.end(), [&](std::string_view scope) {
        return std::find(report.scopes->begin(), report.scopes->end(), scope) != report.scopes->end();
    });
    return has_one ? Permission::yes : Permission::no;
}

Attempt not_sent(Answer answer, std::string cause) {
    Attempt attempt;
    attempt.answer = answer;
    attempt.cause = std::move(cause);
    return attempt;
}

Instant look_up_from(const Post& post) {
    constexpr std::chrono::minutes clock_skew{5};
    return mutant(SinkMutant::look_up_window_late) ? post.intent_at : post.intent_at - clock_skew;
}

bool is_number(std::string_view id) {
    return !id.empty() && id.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_deleted(const HttpAnswer& answer) {
    return answer.outcome == HttpOutcome::answered && (answer.status == 204 || answer.status == 404);
}

}  // namespace epilogue
