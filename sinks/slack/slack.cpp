#include "sinks/slack/slack.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/text.h"
#include "sinks/format/folded.h"
#include "sinks/format/format.h"
#include "sinks/port/http_answer.h"
#include "sinks/port/json_answer.h"
#include "sinks/port/remote_post.h"
#include "sinks/port/sink_mutant.h"
#include "sinks/slack/mrkdwn.h"

namespace epilogue {
namespace {

constexpr std::size_t max_block_characters = 12000;    ///< of one `markdown` block
constexpr std::size_t max_message_characters = 13000;  ///< blocks and text together
constexpr std::size_t max_pages = 100;
constexpr const char* published_limits = "1/s";          ///< in one channel
constexpr const char* published_look_limits = "50/min";  ///< tier 3, for all channels together
constexpr const char* own_origin = "https://slack.com";
constexpr const char* no_token = "no token: set [slack] token or [slack.teams.<team_id>] token";
constexpr const char* no_place = "the target is no channel";

/// What may stand in a URL's query as it is: Slack's ids and times.
bool is_plain(std::string_view text) {
    constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";
    return text.find_first_not_of(allowed) == std::string_view::npos;
}

const SlackTarget* place_of(const Post& post) {
    const auto* target = target_in<SlackTarget>(post.target);
    const bool fits = target != nullptr && !target->channel.empty() && is_plain(target->channel) &&
                      is_plain(target->thread_ts);
    return fits ? target : nullptr;
}

/// `body` in mrkdwn, in at most `max_characters`: the source gives way until its rendering fits.
std::string truncated_mrkdwn(const std::string& body, std::size_t max_characters) {
    std::size_t room = max_characters;
    auto text = mrkdwn(truncate(body, room));
    while (code_points(text) > max_characters && room > 100) {
        room = std::max<std::size_t>(100, room - room / 4);
        text = mrkdwn(truncate(body, room));
    }
    return text;
}

nlohmann::json message_of(const Post& post, const SlackTarget& place) {
    nlohmann::json message{{"channel", place.channel}};
    if (!place.thread_ts.empty()) message["thread_ts"] = place.thread_ts;
    message["metadata"] = {{"event_type", "epilogue_delivery"},
                           {"event_payload", {{"id", post.delivery_id}}}};
    message["client_msg_id"] = post.delivery_id;  // best effort: Slack documents nothing about it
    message["parse"] = "none";
    message["unfurl_links"] = false;
    message["unfurl_media"] = false;
    return message;
}

std::string link_to(const SlackTarget& place, const std::string& ts) {
    const auto thread = place.thread_ts.empty()
                            ? std::string()
                            : fmt::format("?thread_ts={}&cid={}", place.thread_ts, place.channel);
    return fmt::format("https://slack.com/archives/{}/p{}{}", place.channel, replaced(ts, ".", ""), thread);
}

bool same_author(const SlackAccount& author, const SlackAccount& me) {
    return (!me.bot_id.empty() && author.bot_id == me.bot_id) ||
           (!me.user_id.empty() && author.user_id == me.user_id);
}

}  // namespace

SlackSink::SlackSink(SlackSettings settings)
    : settings_(std::move(settings)),
      api_(settings_.api_url, {"User-Agent: epilogue/" + settings_.version}) {}

std::string SlackSink::render(const Summary& summary, const DeliveryId&) const {
    return markdown_post(summary, {}, max_block_characters);
}

Dialogue<LookupResult> SlackSink::find(Post post) {
    const auto* place = place_of(post);
    if (place == nullptr) co_return lookup_failed(no_place);
    const auto token = token_for(*place);
    if (token.empty()) co_return forbidden(no_token);
    auto reading = read_marked(post, *place);
    const auto marked = co_await reading;
    if (!marked.what) co_return marked.failure;
    std::vector<SlackMessage> candidates;
    if (!place->message_ts.empty() && !place->notify) {
        auto reading_edited = shown(*place);
        const auto edited = co_await reading_edited;
        if (!edited.what) co_return edited.failure;
        if (*edited.what && (*edited.what)->delivery_id == post.delivery_id)
            candidates.push_back(**edited.what);
    }
    // The look-up is for the short post that announces the edit, not for the edited message.
    for (const auto& message : *marked.what)
        if (message.ts != place->message_ts) candidates.push_back(message);
    LookupResult lookup;
    lookup.ok = true;
    if (candidates.empty()) co_return lookup;
    auto asking = ask_who_we_are(token);
    const auto me = co_await asking;
    if (!me.what) co_return me.failure;
    for (const auto& message : candidates) {
        const bool known = !lookup.found.empty() && lookup.found.back().remote_id == message.ts;
        if (!known && same_author(message.author, *me.what))
            lookup.found.push_back({.remote_id = message.ts, .remote_url = link_to(*place, message.ts)});
    }
    co_return lookup;
}

Dialogue<Attempt> SlackSink::create(Post post) {
    const auto* place = place_of(post);
    if (place == nullptr) co_return not_sent(Answer::refused, no_place);
    const auto token = token_for(*place);
    if (token.empty()) co_return not_sent(Answer::unauthorised, no_token);
    if (!place->message_ts.empty()) {
        auto editing = edit(post, *place);
        const auto edited = co_await editing;
        if (edited) co_return *edited;
    }
    auto posting = post_new(post, *place);
    co_return co_await posting;
}

Dialogue<Attempt> SlackSink::post_new(Post post, SlackTarget place) {
    auto writing = write("chat.postMessage", post, place);
    const auto answer = co_await writing;
    auto attempt = classify_slack_message(answer);
    if (attempt.answer == Answer::sent)
        attempt.receipt.remote_url = link_to(place, attempt.receipt.remote_id);
    co_return attempt;
}

Dialogue<HttpAnswer> SlackSink::write(std::string method, Post post, SlackTarget place) {
    const auto token = token_for(place);
    auto message = message_of(post, place);
    if (method == "chat.update") {
        message["ts"] = place.message_ts;
        message.erase("thread_ts");
        message.erase("client_msg_id");
    }
    const std::size_t block = code_points(post.body);
    message["text"] =
        truncated_mrkdwn(post.body, max_message_characters - std::min(block, max_block_characters));
    message["blocks"] = {{{"type", "markdown"}, {"text", post.body}}};
    auto request = call(token, method, json_line(message));
    const auto answer = co_await request;
    if (!refuses_blocks(answer)) co_return answer;
    message["blocks"] = nlohmann::json::array();  // a changed message keeps the blocks that are not named
    message["text"] = truncated_mrkdwn(post.body, max_block_characters);
    if (method != "chat.update") message.erase("blocks");
    auto as_text = call(token, method, json_line(message));
    co_return co_await as_text;
}

Dialogue<ReadOf<std::optional<SlackMessage>>> SlackSink::shown(SlackTarget place) {
    const auto token = token_for(place);
    const auto query =
        fmt::format("{0}?channel={1}{2}&oldest={3}&latest={3}&inclusive=true&include_all_metadata=true",
                    place.thread_ts.empty() ? "conversations.history" : "conversations.replies",
                    place.channel, place.thread_ts.empty() ? "" : "&ts=" + place.thread_ts, place.message_ts);
    auto request = ask(token, query);
    const auto answer = co_await request;
    const auto page = read_slack_page(answer);
    if (!page) co_return slack_lookup_failed(answer);
    const auto found =
        std::find_if(page->messages.begin(), page->messages.end(),
                     [&](const SlackMessage& message) { return message.ts == place.message_ts; });
    if (found == page->messages.end()) co_return std::optional<SlackMessage>();
    auto asking = ask_who_we_are(token);
    const auto me = co_await asking;
    if (!me.what) co_return me.failure;
    co_return same_author(found->author, *me.what) ? std::optional(*found) : std::nullopt;
}

Dialogue<std::optional<Attempt>> SlackSink::edit(Post post, SlackTarget place) {
    auto reading = shown(place);
    const auto found = co_await reading;
    if (!found.what) co_return not_written(found.failure);
    if (!*found.what) co_return std::nullopt;
    Attempt attempt = not_sent(Answer::sent, "");
    attempt.platform = PlatformState::answered;
    attempt.receipt.remote_id = place.message_ts;
    const std::string& shows = (*found.what)->delivery_id;
    // The outcome of a later turn stays.
    const bool shows_newer = std::ranges::find(post.newer, DeliveryId(shows)) != post.newer.end();
    if (shows != post.delivery_id && !shows_newer) {
        auto writing = write("chat.update", post, place);
        const auto answer = co_await writing;
        if (has_nothing_to_change(answer)) co_return std::nullopt;
        attempt = classify_slack_message(answer);
    }
    attempt.receipt.remote_url = link_to(place, place.message_ts);
    if (attempt.answer != Answer::sent || !place.notify) co_return attempt;
    post.body = notice_of(post.body, attempt.receipt.remote_url);
    auto telling = post_new(post, place);
    co_return co_await telling;
}

Dialogue<bool> SlackSink::remove(Post post, Receipt duplicate) {
    const auto* place = place_of(post);
    const auto token = place == nullptr ? std::string() : token_for(*place);
    if (token.empty() || duplicate.remote_id.empty() || !is_plain(duplicate.remote_id)) co_return false;
    const nlohmann::json message{{"channel", place->channel}, {"ts", duplicate.remote_id}};
    auto request = call(token, "chat.delete", json_line(message));
    const auto answer = co_await request;
    co_return !read_slack_ts(answer).empty() || slack_error(answer) == "message_not_found";
}

std::vector<Dialogue<TokenStatus>> SlackSink::check_tokens() {
    std::vector<Dialogue<TokenStatus>> checks;
    if (!settings_.token.empty() || settings_.teams.empty())
        checks.push_back(check_token("[slack] token", settings_.token));
    for (const auto& [team, token] : settings_.teams)
        checks.push_back(check_token("[slack.teams." + team + "] token", token));
    return checks;
}

Dialogue<TokenStatus> SlackSink::check_token(std::string setting, std::string token) const {
    if (trimmed(token).empty()) co_return TokenStatus{.setting = std::move(setting)};
    auto request = ask(std::string(trimmed(token)), "auth.test");
    const auto answer = co_await request;
    TokenStatus report = token_status(std::move(setting), answer);
    if (const auto error = slack_error(answer); !error.empty()) {
        report.state = TokenState::refused;
        report.cause = error;
    }
    const auto json = parsed(answer.body);
    report.identity = text_at(json, "user").empty() ? text_at(json, "user_id") : text_at(json, "user");
    if (const auto team = text_at(json, "team"); !team.empty()) report.identity += " of " + team;
    report.scopes = list_in(answer, "x-oauth-scopes");
    report.needed =
        "chat:write, and to look up lost answers channels:history (public) and groups:history "
        "(private channels)";
    report.post = permission_by(report, {"chat:write"});
    report.look_up = permission_by(report, {"channels:history", "groups:history"});
    co_return report;
}

bool SlackSink::writes_into_one(const Target& target) const {
    const auto* place = target_in<SlackTarget>(target);
    return place != nullptr && !place->message_ts.empty();
}

Quota SlackSink::quota(const Target& target) const {
    const auto* place = target_in<SlackTarget>(target);
    if (place == nullptr) return {};
    constexpr std::size_t longest_channel = 64;  // Slack's have eleven characters
    const auto credential = credential_of("slack", token_for(*place), settings_.api_url, own_origin);
    const auto look_limits =
        settings_.budget == "auto"
            ? limits_of(settings_.budget, settings_.api_url, own_origin, published_look_limits)
            : look_limits_of(limits_of(settings_.budget, settings_.api_url, own_origin, published_limits));
    const bool own = settings_.teams.contains(place->team_id);
    return {.credential = credential,
            .setting = own ? "[slack.teams." + place->team_id + "] token" : "[slack] token",
            .window = credential + "/" + place->channel.substr(0, longest_channel),
            .look_window = credential + "/reads",
            .limits = limits_of(settings_.budget, settings_.api_url, own_origin, published_limits),
            .look_limits = look_limits};
}

std::string SlackSink::token_for(const SlackTarget& place) const {
    const auto team = settings_.teams.find(place.team_id);
    return std::string(trimmed(team == settings_.teams.end() ? settings_.token : team->second));
}

HttpRequest SlackSink::call(const std::string& token, const std::string& method, std::string body) const {
    return api_.request("POST", api_.url() + "/" + method, std::move(body), "Authorization: Bearer " + token);
}

HttpRequest SlackSink::ask(const std::string& token, const std::string& method_and_query) const {
    return api_.request("GET", api_.url() + "/" + method_and_query, {}, "Authorization: Bearer " + token);
}

Dialogue<ReadOf<std::vector<SlackMessage>>> SlackSink::read_marked(Post post, SlackTarget place) const {
    const auto since =
        std::chrono::duration_cast<std::chrono::seconds>(look_up_from(post).time_since_epoch());
    const auto query =
        fmt::format("{}?channel={}{}&oldest={}.000000&inclusive=true&include_all_metadata=true&limit=200",
                    place.thread_ts.empty() ? "conversations.history" : "conversations.replies",
                    place.channel, place.thread_ts.empty() ? "" : "&ts=" + place.thread_ts, since.count());
    const auto token = token_for(place);
    std::vector<SlackMessage> marked;
    std::string cursor;
    for (std::size_t page = 0; page < max_pages; ++page) {
        auto request = ask(token, query + (cursor.empty() ? "" : "&cursor=" + cursor));
        const auto answer = co_await request;
        const auto read = read_slack_page(answer);
        if (!read) {
            const bool is_answer = answer.outcome == HttpOutcome::answered && answer.status == 200;
            if (is_answer && slack_error(answer).empty())
                co_return unusable_answer("200 without a readable list of messages");
            auto failure = slack_lookup_failed(answer);
            co_return page == 0 ? failure : later_page_failed(failure);
        }
        for (const auto& message : read->messages)
            if (message.delivery_id == post.delivery_id) marked.push_back(message);
        if (read->next_cursor.empty() || mutant(SinkMutant::slack_cursor_ignored)) {
            std::sort(marked.begin(), marked.end(), [](const auto& a, const auto& b) { return a.ts < b.ts; });
            co_return marked;
        }
        cursor = replaced(replaced(read->next_cursor, "%", "%25"), "=", "%3D");
    }
    co_return unusable_answer(fmt::format("more than {} pages of messages", max_pages));
}

Dialogue<ReadOf<SlackAccount>> SlackSink::ask_who_we_are(std::string token) {
    if (const auto known = known_account(token)) co_return *known;
    auto request = ask(token, "auth.test");
    const auto answer = co_await request;
    const auto me = read_slack_account(answer);
    if (!me) co_return slack_lookup_failed(answer);
    remember(token, *me);
    co_return *me;
}

std::optional<SlackAccount> SlackSink::known_account(const std::string& token) const {
    const std::lock_guard lock(mutex_);
    const auto known = accounts_.find(token);
    return known == accounts_.end() ? std::nullopt : std::optional(known->second);
}

void SlackSink::remember(const std::string& token, const SlackAccount& account) {
    const std::lock_guard lock(mutex_);
    accounts_.emplace(token, account);
}

}  // namespace epilogue
