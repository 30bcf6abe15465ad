// Jira's REST API (v2) as far as Epilogue uses it. Like the real one it knows no idempotency keys. Cloud or
// Data Center: by the credential's scheme. What Cloud gives back is spaced otherwise than what was sent. Its
// places are the issues' keys.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "ops/fake_platform/platform_api.h"

namespace epilogue::fake_platform {
namespace {

using Json = nlohmann::json;

constexpr std::size_t max_characters = 32767;
const std::string platform = "jira";

Reply answer(int status, const Json& body) {
    return json_reply(status, body.dump());
}

Reply refusal(int status, const std::string& message) {
    return answer(status, {{"errorMessages", {message}}, {"errors", Json::object()}});
}

bool is_cloud(const Request& request) {
    return header_of(request, "authorization").starts_with("Basic ");
}

Json account_json(const std::string& name, bool cloud) {
    if (cloud) return {{"accountId", "712020:" + name}, {"displayName", name}};
    return {{"key", name}, {"name", name}, {"displayName", name}};
}

Json comment_json(const Comment& comment, bool cloud) {
    const auto milliseconds = to_iso(comment.created_at).substr(0, 23) + "+0000";
    return {{"id", std::to_string(comment.id)},
            {"self", "https://jira.example.com/rest/api/2/issue/" + comment.place + "/comment/" +
                         std::to_string(comment.id)},
            {"author", account_json(comment.author, cloud)},
            {"body", cloud ? replaced(comment.body, "\n", " \r\n") : comment.body},
            {"created", milliseconds},
            {"updated", milliseconds}};
}

bool is_there(PlaceState state) {
    return state == PlaceState::open || state == PlaceState::locked;
}

Reply create(const Request& request, const std::string& place, CommentStore& store) {
    if (store.state(platform, place) == PlaceState::locked) return refusal(403, "You may not comment here");
    const Json sent = Json::parse(request.body, nullptr, false);
    if (!sent.is_object() || !sent.contains("body") || !sent["body"].is_string())
        return refusal(400, "Comment body can not be empty!");
    if (code_points(sent["body"].get<std::string>()) > max_characters)
        return answer(400, {{"errorMessages", Json::array()},
                            {"errors", {{"comment", "The entered text is too long."}}}});
    Comment comment;
    comment.platform = platform;
    comment.place = place;
    comment.author = bot_login;
    comment.body = sent["body"];
    return answer(201, comment_json(store.add(std::move(comment)), is_cloud(request)));
}

Reply list(const Request& request, const std::string& place, const CommentStore& store) {
    const auto parameters = parameters_of(request.query);
    auto comments = store.listed(platform, place);
    if (const auto order = parameters.find("orderBy");
        order != parameters.end() && order->second == "-created")
        std::reverse(comments.begin(), comments.end());
    const auto size =
        static_cast<std::size_t>(std::min<std::int64_t>(positive_of(parameters, "maxResults", 50), 100));
    const auto start = parameters.find("startAt");
    const auto first = static_cast<std::size_t>(
        start == parameters.end() ? 0 : std::max<std::int64_t>(number_of(start->second).value_or(0), 0));
    Json shown = Json::array();
    for (std::size_t i = first; i < std::min(first + size, comments.size()); ++i)
        shown.push_back(comment_json(*comments[i], is_cloud(request)));
    return answer(
        200, {{"startAt", first}, {"maxResults", size}, {"total", comments.size()}, {"comments", shown}});
}

Reply remove(const std::string& place, const std::string& id_text, CommentStore& store) {
    const auto id = number_of(id_text);
    const Comment* const comment = id ? store.find(*id) : nullptr;
    if (comment == nullptr || comment->platform != platform || comment->place != place)
        return refusal(404, "Can not find a comment for the id: " + id_text + ".");
    if (comment->author != bot_login) return refusal(403, "You may not delete this comment");
    store.remove(*id);
    return {204, {}, "", Ending::answer};
}

/// The token in "Bearer …"; of "Basic …" all of it, as it was sent.
bool accepts(const Request& request, const CommentStore& store) {
    const auto credential = header_of(request, "authorization");
    const auto space = credential.find(' ');
    return space != std::string::npos &&
           (credential.starts_with("Bearer ") || credential.starts_with("Basic ")) &&
           store.accepts(credential.substr(space + 1));
}

}  // namespace

Reply serve_jira(const Request& request, CommentStore& store) {
    const auto at = split(request.path, '/');  // jira rest api 2 …
    if (!accepts(request, store))
        return refusal(401, "Client must be authenticated to access this resource.");
    if (at.size() == 5 && at[4] == "myself" && request.method == "GET")
        return answer(200, account_json(bot_login, is_cloud(request)));
    if (at.size() < 7 || at[4] != "issue" || at[6] != "comment" || !is_there(store.state(platform, at[5])))
        return refusal(404, "Issue does not exist or you do not have permission to see it.");
    if (at.size() == 7 && request.method == "POST") return create(request, at[5], store);
    if (at.size() == 7 && request.method == "GET") return list(request, at[5], store);
    if (at.size() == 8 && request.method == "DELETE") return remove(at[5], at[7], store);
    return refusal(405, "Method not allowed");
}

}  // namespace epilogue::fake_platform
