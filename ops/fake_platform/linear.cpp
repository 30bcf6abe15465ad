// Linear's GraphQL API as far as Epilogue uses it: the operations are known by their names, not parsed. Like
// the real one it takes the id that a comment is given, once, and tells most errors in a 200. Its places are
// what comments name their issues by: ids, or keys. The id of a comment is its thread.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "ops/fake_platform/platform_api.h"

namespace epilogue::fake_platform {
namespace {

using Json = nlohmann::json;

const std::string platform = "linear";

Reply answer(const Json& data) {
    return json_reply(200, Json{{"data", data}}.dump());
}

Reply refusal(int status, const std::string& code, const std::string& message) {
    const Json error{{"message", message},
                     {"extensions", {{"code", code}, {"userPresentableMessage", message}}}};
    return json_reply(status, Json{{"errors", Json::array({error})}}.dump());
}

Json comment_json(const Comment& comment) {
    return {{"id", comment.thread},
            {"url", "https://linear.app/acme/issue/" + comment.place + "#comment-" + comment.thread},
            {"user", {{"id", "user-" + comment.author}}}};
}

const Comment* comment_of(const CommentStore& store, const std::string& id) {
    const auto& all = store.comments();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& entry) {
        return entry.second.platform == platform && entry.second.thread == id;
    });
    return found == all.end() ? nullptr : &found->second;
}

/// A version 4 UUID, as Linear wants it.
bool is_id(const std::string& text) {
    constexpr std::size_t size = 36;
    constexpr std::size_t version_at = 14;
    return text.size() == size && text[version_at] == '4';
}

Reply create(const Json& input, CommentStore& store) {
    const std::string place = input.value("issueId", "");
    const std::string id = input.value("id", "");
    const PlaceState state = store.state(platform, place);
    if (state == PlaceState::missing || state == PlaceState::gone)
        return refusal(200, "INPUT_ERROR", "Entity not found: Issue");
    if (state == PlaceState::locked) return refusal(200, "FORBIDDEN", "You may not comment here");
    if (!is_id(id)) return refusal(400, "INVALID_INPUT", "id must be a UUID");
    if (comment_of(store, id) != nullptr)
        return refusal(200, "INPUT_ERROR", "Entity with this id exists: Comment");
    Comment comment;
    comment.platform = platform;
    comment.place = place;
    comment.author = bot_login;
    comment.body = input.value("body", "");
    comment.thread = id;
    return answer(
        {{"commentCreate", {{"success", true}, {"comment", comment_json(store.add(std::move(comment)))}}}});
}

Reply find(const std::string& id, const CommentStore& store) {
    Json nodes = Json::array();
    if (const Comment* const comment = comment_of(store, id);
        comment != nullptr && comment->hidden_until <= store.now())
        nodes.push_back(comment_json(*comment));
    return answer({{"viewer", {{"id", std::string("user-") + bot_login}}}, {"comments", {{"nodes", nodes}}}});
}

Reply remove(const std::string& id, CommentStore& store) {
    const Comment* const comment = comment_of(store, id);
    if (comment == nullptr) return refusal(200, "INPUT_ERROR", "Entity not found: Comment");
    if (comment->author != bot_login) return refusal(200, "FORBIDDEN", "You may not delete this comment");
    store.remove(comment->id);
    return answer({{"commentDelete", {{"success", true}}}});
}

/// The credential is a person's key as it is, or "Bearer …".
bool accepts(const Request& request, const CommentStore& store) {
    const auto credential = header_of(request, "authorization");
    return store.accepts_bearer(credential) ||
           (credential.starts_with("lin_api_") && store.accepts(credential));
}

}  // namespace

Reply serve_linear(const Request& request, CommentStore& store) {
    if (!accepts(request, store))
        return refusal(401, "AUTHENTICATION_ERROR", "Authentication required, not authenticated");
    const Json sent = Json::parse(request.body, nullptr, false);
    if (request.method != "POST" || !sent.is_object())
        return refusal(400, "GRAPHQL_PARSE_FAILED", "no query");
    const std::string text = sent.value("query", "");
    const Json variables = sent.value("variables", Json::object());
    const auto has = [&](std::string_view name) { return text.find(name) != std::string::npos; };
    if (has("commentCreate(")) return create(variables.value("input", Json::object()), store);
    if (has("commentDelete(")) return remove(variables.value("id", ""), store);
    if (has("comments(")) return find(variables.value("id", ""), store);
    if (has("viewer"))
        return answer({{"viewer", {{"displayName", bot_login}}}, {"organization", {{"name", "Acme"}}}});
    return refusal(400, "GRAPHQL_VALIDATION_FAILED", "Cannot query this");
}

}  // namespace epilogue::fake_platform
