// Slack's Web API as far as Epilogue uses it. It knows no client_msg_id: every message it takes is one more.
// Errors are `ok: false` in a 200, as the real one's.
#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "ops/fake_platform/platform_api.h"

namespace epilogue::fake_platform {
namespace {

using Json = nlohmann::json;

constexpr std::size_t max_block_characters = 12000;
constexpr std::size_t max_blocks_characters = 13200;
constexpr std::size_t max_text_characters = 40000;
const std::string platform = "slack";

Reply answer(const Json& body) {
    return json_reply(200, body.dump());
}

Reply refusal(const std::string& error) {
    return answer({{"ok", false}, {"error", error}});
}

const Comment* message_at(const CommentStore& store, const std::string& channel, const std::string& ts) {
    const auto id = number_of(ts.substr(std::min(ts.find('.') + 1, ts.size())));
    const Comment* const message = id ? store.find(*id) : nullptr;
    const bool found = message != nullptr && message->platform == platform && message->place == channel &&
                       slack_ts(*message) == ts;
    return found ? message : nullptr;
}

std::string text_at(const Json& json, const char* name) {
    const auto found = json.is_object() ? json.find(name) : json.end();
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<Reply> unreadable(PlaceState state) {
    if (state == PlaceState::missing || state == PlaceState::gone) return refusal("channel_not_found");
    return std::nullopt;
}

Json message_json(const Comment& message, bool with_metadata) {
    const bool ours = message.author == bot_login;
    Json json{{"type", "message"},
              {"user", ours ? "U0BOT" : "U0" + message.author},
              {"text", message.body},
              {"ts", slack_ts(message)}};
    if (ours) json["bot_id"] = "B0BOT";
    if (!message.thread.empty()) json["thread_ts"] = message.thread;
    if (with_metadata && !message.metadata.empty())
        json["metadata"] = Json::parse(message.metadata, nullptr, false);
    return json;
}

/// What a message shows, or the refusal of it.
std::optional<Reply> read_body(const Json& sent, std::string& body) {
    body = text_at(sent, "text").substr(0, max_text_characters);
    if (sent.contains("blocks")) {
        std::size_t size = 0;
        std::string shown;
        for (const Json& block : sent["blocks"]) {
            if (text_at(block, "type") != "markdown") return refusal("invalid_blocks");
            shown += text_at(block, "text");
            if (code_points(text_at(block, "text")) > max_block_characters)
                return refusal("msg_blocks_too_long");
            size += code_points(text_at(block, "text"));
        }
        if (size > max_blocks_characters) return refusal("msg_blocks_too_long");
        body = shown;
    }
    if (trimmed(body).empty()) return refusal("no_text");
    return std::nullopt;
}

Reply post_message(const Json& sent, CommentStore& store) {
    const auto channel = text_at(sent, "channel");
    const PlaceState state = store.state(platform, channel);
    if (auto refused = unreadable(state)) return *refused;
    if (state == PlaceState::locked) return refusal("is_archived");
    std::string body;
    if (auto refused = read_body(sent, body)) return *refused;
    Comment message;
    message.platform = platform;
    message.place = channel;
    message.author = bot_login;
    message.body = body;
    message.thread = text_at(sent, "thread_ts");
    if (sent.contains("metadata")) message.metadata = sent["metadata"].dump();
    const Comment& made = store.add(std::move(message));
    return answer(
        {{"ok", true}, {"channel", channel}, {"ts", slack_ts(made)}, {"message", message_json(made, false)}});
}

Reply update_message(const Json& sent, CommentStore& store) {
    const auto ts = text_at(sent, "ts");
    const Comment* const message = message_at(store, text_at(sent, "channel"), ts);
    if (message == nullptr) return refusal("message_not_found");
    if (message->author != bot_login) return refusal("cant_update_message");
    std::string body;
    if (auto refused = read_body(sent, body)) return *refused;
    store.edit(message->id, body, sent.contains("metadata") ? sent["metadata"].dump() : "");
    return answer({{"ok", true}, {"channel", text_at(sent, "channel")}, {"ts", ts}, {"text", body}});
}

Reply delete_message(const Json& sent, CommentStore& store) {
    const auto ts = text_at(sent, "ts");
    const Comment* const message = message_at(store, text_at(sent, "channel"), ts);
    if (message == nullptr) return refusal("message_not_found");
    if (message->author != bot_login) return refusal("cant_delete_message");
    store.remove(message->id);
    return answer({{"ok", true}, {"channel", text_at(sent, "channel")}, {"ts", ts}});
}

/// A thread, oldest first, or the channel's own messages, newest first.
Reply list(const std::map<std::string, std::string>& parameters, bool replies, const CommentStore& store) {
    const auto given = [&](const std::string& name) {
        const auto found = parameters.find(name);
        return found == parameters.end() ? std::string() : found->second;
    };
    if (auto refused = unreadable(store.state(platform, given("channel")))) return *refused;
    auto messages = store.listed(platform, given("channel"));
    std::erase_if(messages, [&](const Comment* message) {
        const bool in_place = replies ? message->thread == given("ts") || slack_ts(*message) == given("ts")
                                      : message->thread.empty();
        const bool is_late = !given("latest").empty() && slack_ts(*message) > given("latest");
        return !in_place || is_late || slack_ts(*message) < given("oldest");
    });
    if (!replies) std::reverse(messages.begin(), messages.end());
    constexpr std::string_view cursor_start = "from=";
    const auto cursor = given("cursor");
    const auto first =
        cursor.starts_with(cursor_start)
            ? static_cast<std::size_t>(number_of(cursor.substr(cursor_start.size())).value_or(0))
            : std::size_t{0};
    const auto end =
        std::min(first + static_cast<std::size_t>(positive_of(parameters, "limit", 100)), messages.size());
    Json shown = Json::array();
    for (std::size_t i = first; i < end; ++i)
        shown.push_back(message_json(*messages[i], given("include_all_metadata") == "true"));
    const auto next = end < messages.size() ? std::string(cursor_start) + std::to_string(end) : std::string();
    return answer({{"ok", true}, {"messages", shown}, {"response_metadata", {{"next_cursor", next}}}});
}

}  // namespace

std::string slack_ts(const Comment& message) {
    const auto second =
        std::chrono::floor<std::chrono::seconds>(message.created_at).time_since_epoch().count();
    return fmt::format("{}.{:06}", second, message.id);
}

Reply serve_slack(const Request& request, CommentStore& store) {
    store.count_request();
    if (!store.accepts_bearer(header_of(request, "authorization"))) return refusal("invalid_auth");
    const auto method = request.path.substr(std::min(request.path.find('/', 1) + 1, request.path.size()));
    if (method == "auth.test") {
        Reply me = answer({{"ok", true},
                           {"team", "Tests"},
                           {"team_id", "T0"},
                           {"user", bot_login},
                           {"user_id", "U0BOT"},
                           {"bot_id", "B0BOT"}});
        me.headers.emplace_back("x-oauth-scopes", store.scopes(platform));
        return me;
    }
    const bool reads = method.starts_with("conversations.");
    const bool may =
        reads ? store.has_scope(platform, "channels:history") || store.has_scope(platform, "groups:history")
              : store.has_scope(platform, "chat:write");
    if (!may) return refusal("missing_scope");
    const auto parameters = parameters_of(request.query);
    if (method == "conversations.replies") return list(parameters, true, store);
    if (method == "conversations.history") return list(parameters, false, store);
    const Json sent = Json::parse(request.body, nullptr, false);
    if (!sent.is_object()) return refusal("invalid_json");
    if (method == "chat.postMessage") return post_message(sent, store);
    if (method == "chat.update") return update_message(sent, store);
    if (method == "chat.delete") return delete_message(sent, store);
    return refusal("unknown_method");
}

}  // namespace epilogue::fake_platform
