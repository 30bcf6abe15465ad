// GitLab's REST API as far as Epilogue uses it. It knows no idempotency keys, as the real one, and runs quick
// actions out of every line, code or not: more than the real one, which leaves fences alone.
#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "ops/fake_platform/platform_api.h"

namespace epilogue::fake_platform {
namespace {

using Json = nlohmann::json;

constexpr std::size_t max_characters = 1000000;
const std::string platform = "gitlab";

Reply answer(int status, const Json& body) {
    return json_reply(status, body.dump());
}

Reply refusal(int status, const std::string& message) {
    return answer(status, {{"message", std::to_string(status) + " " + message}});
}

Json note_json(const Comment& note) {
    const auto milliseconds = to_iso(note.created_at).substr(0, 23) + "Z";
    return {{"id", note.id},
            {"body", note.body},
            {"author", {{"id", note.author == bot_login ? bot_id : 2}, {"username", note.author}}},
            {"created_at", milliseconds},
            {"system", false}};
}

std::optional<Reply> unreadable(PlaceState state) {
    if (state == PlaceState::missing || state == PlaceState::gone) return refusal(404, "Not found");
    return std::nullopt;
}

/// `text` without the lines that GitLab would run.
std::string without_quick_actions(const std::string& text) {
    std::string rest;
    std::size_t from = 0;
    while (from < text.size()) {
        const auto end = std::min(text.find('\n', from), text.size() - 1) + 1;
        const auto line = text.substr(from, end - from);
        if (trimmed(line).substr(0, 1) != "/") rest += line;
        from = end;
    }
    return rest;
}

Reply create(const Request& request, const std::string& place, const std::string& discussion,
             CommentStore& store) {
    const PlaceState state = store.state(platform, place);
    if (auto refused = unreadable(state)) return *refused;
    if (state == PlaceState::locked) return refusal(403, "Forbidden - discussion is locked");
    const Json sent = Json::parse(request.body, nullptr, false);
    if (!sent.is_object() || !sent.contains("body") || !sent["body"].is_string())
        return answer(400, {{"error", "body is missing"}});
    if (code_points(sent["body"].get<std::string>()) > max_characters)
        return answer(400, {{"message", {{"note", {"is too long (maximum is 1000000 characters)"}}}}});
    const auto body = without_quick_actions(sent["body"].get<std::string>());
    if (trimmed(body).empty()) return answer(202, {{"commands_changes", Json::object()}});
    Comment note;
    note.platform = platform;
    note.place = place;
    note.author = bot_login;
    note.body = body;
    note.thread = discussion;
    return answer(201, note_json(store.add(std::move(note))));
}

Reply list(const Request& request, const std::string& place, const CommentStore& store) {
    if (auto refused = unreadable(store.state(platform, place))) return *refused;
    const auto parameters = parameters_of(request.query);
    auto notes = store.listed(platform, place);
    const auto sort = parameters.find("sort");
    if (sort == parameters.end() || sort->second == "desc") std::reverse(notes.begin(), notes.end());
    const auto size =
        static_cast<std::size_t>(std::min<std::int64_t>(positive_of(parameters, "per_page", 20), 100));
    const auto first = (static_cast<std::size_t>(positive_of(parameters, "page", 1)) - 1) * size;
    Json shown = Json::array();
    for (std::size_t i = first; i < std::min(first + size, notes.size()); ++i)
        shown.push_back(note_json(*notes[i]));
    return answer(200, shown);
}

Reply discussion(const std::string& place, const std::string& id, const CommentStore& store) {
    if (auto refused = unreadable(store.state(platform, place))) return *refused;
    Json notes = Json::array();
    for (const Comment* note : store.listed(platform, place))
        if (note->thread == id) notes.push_back(note_json(*note));
    if (notes.empty()) return refusal(404, "Discussion Not Found");
    return answer(200, {{"id", id}, {"individual_note", false}, {"notes", notes}});
}

Reply remove(const std::string& place, const std::string& id_text, CommentStore& store) {
    const auto id = number_of(id_text);
    const Comment* const note = id ? store.find(*id) : nullptr;
    if (note == nullptr || note->platform != platform || note->place != place)
        return refusal(404, "Not found");
    if (note->author != bot_login) return refusal(403, "Forbidden");
    store.remove(*id);
    return {204, {}, "", Ending::answer};
}

/// A note by itself: read, or written again.
Reply one_note(const Request& request, const std::string& place, const std::string& id_text,
               CommentStore& store) {
    const auto id = number_of(id_text);
    const Comment* const note = id ? store.find(*id) : nullptr;
    if (note == nullptr || note->platform != platform || note->place != place)
        return refusal(404, "404 Not found");
    if (request.method == "GET") return answer(200, note_json(*note));
    if (note->author != bot_login) return refusal(403, "403 Forbidden");
    const Json sent = Json::parse(request.body, nullptr, false);
    if (!sent.is_object() || !sent.contains("body") || !sent["body"].is_string())
        return answer(400, {{"error", "body is missing"}});
    store.edit(*id, without_quick_actions(sent["body"].get<std::string>()));
    return answer(200, note_json(*store.find(*id)));
}

/// `rest`: what follows the issue's number.
Reply of_place(const Request& request, const std::string& place, const std::vector<std::string>& rest,
               CommentStore& store) {
    const bool post = request.method == "POST";
    const bool get = request.method == "GET";
    if (rest.size() == 1 && rest[0] == "notes" && post) return create(request, place, "", store);
    if (rest.size() == 1 && rest[0] == "notes" && get) return list(request, place, store);
    if (rest.size() == 2 && rest[0] == "notes" && request.method == "DELETE")
        return remove(place, rest[1], store);
    if (rest.size() == 2 && rest[0] == "notes" && (get || request.method == "PUT"))
        return one_note(request, place, rest[1], store);
    if (rest.size() >= 2 && rest[0] == "discussions") {
        const auto found = discussion(place, rest[1], store);
        if (rest.size() == 2 && get) return found;
        if (rest.size() == 3 && rest[2] == "notes" && post)
            return found.status == 200 ? create(request, place, rest[1], store) : found;
    }
    return refusal(404, "Not Found");
}

Reply routed(const Request& request, CommentStore& store) {
    auto at = split(request.path, '/');
    if (at.size() == 2 && at[1] == "user" && request.method == "GET")
        return answer(200, {{"id", bot_id}, {"username", bot_login}});
    if (at.size() == 3 && at[1] == "personal_access_tokens" && at[2] == "self" && request.method == "GET")
        return answer(200, {{"id", bot_id}, {"scopes", split(store.scopes(platform), ',')}});
    if (at.size() < 6 || at[1] != "projects" || !number_of(at[4])) return refusal(404, "Not Found");
    const bool merge_request = at[3] == "merge_requests";
    if (!merge_request && at[3] != "issues") return refusal(404, "Not Found");
    const std::string place = decoded(at[2]) + (merge_request ? "!" : "#") + at[4];
    at.erase(at.begin(), at.begin() + 5);
    return of_place(request, place, at, store);
}

}  // namespace

Reply serve_gitlab(const Request& request, CommentStore& store) {
    store.count_request();
    if (!store.accepts_bearer(header_of(request, "authorization"))) return refusal(401, "Unauthorized");
    return routed(request, store);
}

}  // namespace epilogue::fake_platform
