#include "sinks/slack/slack_answers.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sinks/port/http_answer.h"
#include "sinks/port/json_answer.h"
#include "sinks/port/remote_post.h"

namespace epilogue {
namespace {

using Json = nlohmann::json;

/// Errors of which Slack's own words are that some of it may have happened, or that say nothing about it.
constexpr std::array<std::string_view, 7> ambiguous{
    "fatal_error",          "internal_error",    "service_unavailable",        "request_timeout",
    "message_already_sent", "duplicate_message", "duplicate_message_not_found"};

/// Errors of Slack as a whole.
constexpr std::array<std::string_view, 4> of_platform{"fatal_error", "internal_error", "service_unavailable",
                                                      "request_timeout"};

/// Errors of the credential: nothing of it will work until it is mended.
constexpr std::array<std::string_view, 16> of_credential{"not_authed",
                                                         "invalid_auth",
                                                         "account_inactive",
                                                         "token_revoked",
                                                         "token_expired",
                                                         "no_permission",
                                                         "missing_scope",
                                                         "not_allowed_token_type",
                                                         "access_denied",
                                                         "accesslimited",
                                                         "ekm_access_denied",
                                                         "org_login_required",
                                                         "team_access_not_granted",
                                                         "enterprise_is_restricted",
                                                         "two_factor_setup_required",
                                                         "invalid_token"};

constexpr std::array<std::string_view, 4> of_blocks{"invalid_blocks", "invalid_blocks_format",
                                                    "msg_blocks_too_long", "block_mismatch"};

constexpr std::array<std::string_view, 3> of_change{"message_not_found", "cant_update_message",
                                                    "edit_window_closed"};

constexpr std::array<std::string_view, 2> of_rate{"ratelimited", "rate_limited"};

/// A look-up that Slack refuses like this will be refused tomorrow.
constexpr std::array<std::string_view, 4> out_of_sight{"not_in_channel", "channel_not_found",
                                                       "thread_not_found", "is_archived"};

template <std::size_t n>
bool among(const std::array<std::string_view, n>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// The body of a 200 with `ok: true`; discarded otherwise.
Json accepted(const HttpAnswer& answer) {
    if (answer.outcome != HttpOutcome::answered || answer.status != 200)
        return Json(Json::value_t::discarded);
    auto json = parsed(answer.body);
    const auto ok = json.is_object() ? json.find("ok") : json.end();
    const bool is_ok = ok != json.end() && ok->is_boolean() && ok->get<bool>();
    return is_ok ? json : Json(Json::value_t::discarded);
}

bool is_rate_limited(const HttpAnswer& answer) {
    return answer.outcome == HttpOutcome::answered &&
           (answer.status == 429 || among(of_rate, slack_error(answer)));
}

SlackMessage message_in(const Json& json) {
    SlackMessage message{.ts = text_at(json, "ts"),
                         .author = {.user_id = text_at(json, "user"), .bot_id = text_at(json, "bot_id")},
                         .delivery_id = {}};
    const auto metadata = json.is_object() ? json.find("metadata") : json.end();
    if (metadata != json.end() && text_at(*metadata, "event_type") == "epilogue_delivery" &&
        metadata->contains("event_payload"))
        message.delivery_id = DeliveryId(text_at((*metadata)["event_payload"], "id"));
    return message;
}

/// Slack says in a 200, too, that it is down.
PlatformState state_told_by(const HttpAnswer& answer) {
    return among(of_platform, slack_error(answer)) ? PlatformState::failed : platform_state(answer);
}

std::string cause_of(const HttpAnswer& answer) {
    if (answer.outcome != HttpOutcome::answered) return answer.cause;
    if (is_rate_limited(answer)) return fmt::format("{} rate limited", answer.status);
    const auto error = slack_error(answer);
    return error.empty() ? fmt::format("{}", answer.status) : error;
}

}  // namespace

std::optional<SlackAccount> read_slack_account(const HttpAnswer& answer) {
    const auto json = accepted(answer);
    SlackAccount account{.user_id = text_at(json, "user_id"), .bot_id = text_at(json, "bot_id")};
    if (account.user_id.empty() && account.bot_id.empty()) return std::nullopt;
    return account;
}

std::string read_slack_ts(const HttpAnswer& answer) {
    return text_at(accepted(answer), "ts");
}

std::optional<SlackPage> read_slack_page(const HttpAnswer& answer) {
    const auto json = accepted(answer);
    if (!json.is_object() || !json.contains("messages") || !json["messages"].is_array()) return std::nullopt;
    SlackPage page;
    for (const auto& message : json["messages"]) page.messages.push_back(message_in(message));
    if (const auto more = json.find("response_metadata"); more != json.end())
        page.next_cursor = text_at(*more, "next_cursor");
    return page;
}

std::string slack_error(const HttpAnswer& answer) {
    const auto json = parsed(answer.body);
    const auto ok = json.is_object() ? json.find("ok") : json.end();
    const bool refused = ok != json.end() && ok->is_boolean() && !ok->get<bool>();
    return refused ? one_line(text_at(json, "error")) : std::string{};
}

bool has_nothing_to_change(const HttpAnswer& answer) {
    return answer.outcome == HttpOutcome::answered && answer.status < 500 &&
           among(of_change, slack_error(answer));
}

bool refuses_blocks(const HttpAnswer& answer) {
    return answer.outcome == HttpOutcome::answered && answer.status < 500 &&
           among(of_blocks, slack_error(answer));
}

Attempt classify_slack_message(const HttpAnswer& answer) {
    Attempt attempt = not_sent(Answer::unknown, cause_of(answer));
    attempt.platform = state_told_by(answer);
    if (answer.outcome == HttpOutcome::uncertain) return attempt;
    const int status = answer.status;
    const auto error = slack_error(answer);
    if (answer.outcome == HttpOutcome::not_sent) {
        attempt.answer = Answer::retry;
    } else if (is_rate_limited(answer)) {
        attempt.answer = Answer::retry;
        attempt.rate_limited = true;
        attempt.not_before = retry_after(answer, time_of(answer));
    } else if (auto ts = read_slack_ts(answer); !ts.empty()) {
        attempt.answer = Answer::sent;
        attempt.receipt.remote_id = ts;
        attempt.cause.clear();
    } else if (status >= 500 || status == 408 || among(ambiguous, error)) {
        return attempt;
    } else if (status == 401 || status == 403 || among(of_credential, error)) {
        attempt.answer = Answer::unauthorised;
    } else if (!error.empty() || status >= 300) {
        attempt.answer = Answer::refused;
    } else {
        attempt.cause = fmt::format("{} without a readable message", status);
    }
    return attempt;
}

LookupResult slack_lookup_failed(const HttpAnswer& answer) {
    auto lookup = lookup_failed(cause_of(answer));
    lookup.platform = state_told_by(answer);
    if (answer.outcome != HttpOutcome::answered) return lookup;
    if (is_rate_limited(answer)) {
        lookup.rate_limited = true;
        lookup.not_before = retry_after(answer, time_of(answer));
        return lookup;
    }
    const auto error = slack_error(answer);
    const int status = answer.status;
    lookup.forbidden = status == 401 || status == 403 || status == 404 || among(of_credential, error) ||
                       among(out_of_sight, error);
    return lookup;
}

}  // namespace epilogue
