// GitHub's REST API as far as Epilogue uses it. It knows no idempotency keys, as the real one.
#include <algorithm>
#include <chrono>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "ops/fake_platform/platform_api.h"

namespace epilogue::fake_platform {
namespace {

using Json = nlohmann::json;
using Segments = std::vector<std::string>;

constexpr std::size_t max_characters = 65536;
constexpr std::size_t requests_per_hour = 5000;
const std::string platform = "github";

Reply answer(int status, const Json& body) {
    return json_reply(status, body.dump());
}

Reply refusal(int status, const std::string& message) {
    return answer(status, {{"message", message}, {"documentation_url", "https://docs.github.com/rest"}});
}

// The API speaks in whole seconds, and compares in them.
Instant whole_second(Instant at) {
    return std::chrono::floor<std::chrono::seconds>(at);
}

std::string time_of(Instant at) {
    return to_iso(at).substr(0, 19) + "Z";
}

std::string root_of(const Request& request) {
    return "http://" + header_of(request, "host") + "/github";
}

/// The account behind every accepted token.
std::string own_login(const CommentStore& store) {
    return store.app().id == 0 ? bot_login : store.app().login();
}

/// An App's bot is another account than the one of its name without "[bot]".
int id_of(const std::string& author) {
    constexpr int bot_of_app = 3;
    constexpr int person = 2;
    return author == bot_login ? bot_id : author.starts_with(bot_login) ? bot_of_app : person;
}

/// Review comments stand beside the conversation: "owner/repo!7".
bool is_review(const Comment& comment) {
    return comment.place.find('!') != std::string::npos;
}

Json comment_json(const Comment& comment, const Request& request) {
    const std::size_t mark = comment.place.find_last_of("#!");
    const std::string repository = comment.place.substr(0, mark);
    const std::string number = comment.place.substr(mark + 1);
    const std::string id = std::to_string(comment.id);
    const bool review = is_review(comment);
    Json json{{"id", comment.id},
              {"url", root_of(request) + "/repos/" + repository + (review ? "/pulls" : "/issues") +
                          "/comments/" + id},
              {"html_url", root_of(request) + "/" + repository +
                               (review ? "/pull/" + number + "#discussion_r" + id
                                       : "/issues/" + number + "#issuecomment-" + id)},
              {"body", comment.body},
              {"user", {{"id", id_of(comment.author)}, {"login", comment.author}}},
              {"created_at", time_of(comment.created_at)},
              {"updated_at", time_of(comment.updated_at)}};
    json[review ? "pull_request_url" : "issue_url"] =
        root_of(request) + "/repos/" + repository + (review ? "/pulls/" : "/issues/") + number;
    if (!comment.thread.empty()) json["in_reply_to_id"] = number_of(comment.thread).value_or(0);
    return json;
}

/// The refusal that the issue's state asks for; nullopt when it can be read.
std::optional<Reply> unreadable(PlaceState state) {
    if (state == PlaceState::missing) return refusal(404, "Not Found");
    if (state == PlaceState::gone) return refusal(410, "This issue was deleted");
    return std::nullopt;
}

Reply create(const Request& request, const std::string& place, CommentStore& store,
             const std::string& thread = "") {
    const PlaceState state = store.state(platform, replaced(place, "!", "#"));
    if (auto refused = unreadable(state)) return *refused;
    if (state == PlaceState::locked) {
        return refusal(403, "Unable to create comment because issue is locked.");
    }
    const Json sent = Json::parse(request.body, nullptr, false);
    if (sent.is_discarded()) return refusal(400, "Problems parsing JSON");
    if (!sent.is_object() || !sent.contains("body") || !sent["body"].is_string()) {
        return refusal(422, "Invalid request.\n\n\"body\" wasn't supplied.");
    }
    const auto body = sent["body"].get<std::string>();
    if (trimmed(body).empty()) return refusal(422, "Validation Failed: body can't be blank");
    if (code_points(body) > max_characters) {
        return refusal(422, "Validation Failed: body is too long (maximum is 65536 characters)");
    }
    Comment comment;
    comment.platform = platform;
    comment.place = place;
    comment.author = own_login(store);
    comment.body = body;
    comment.thread = thread;
    const Json made = comment_json(store.add(std::move(comment)), request);
    Reply reply = answer(201, made);
    reply.headers.emplace_back("location", made["url"].get<std::string>());
    return reply;
}

/// The Link header field: first, prev, next and last as far as they make sense; "" for a single page.
std::string links(const Request& request, std::int64_t page, std::int64_t pages) {
    std::string base = root_of(request) + request.path.substr(platform.size() + 1) + "?";
    for (const std::string& part : split(request.query, '&')) {
        if (!part.starts_with("page=")) base += part + "&";
    }
    std::string text;
    const auto link = [&](std::int64_t to, const char* relation) {
        text += (text.empty() ? "<" : ", <") + base + "page=" + std::to_string(to) + ">; rel=\"" + relation +
                "\"";
    };
    if (page > 1) link(std::min(page - 1, pages), "prev");
    if (page < pages) {
        link(page + 1, "next");
        link(pages, "last");
    }
    if (page > 1) link(1, "first");
    return text;
}

Reply list(const Request& request, const std::string& place, const CommentStore& store) {
    if (auto refused = unreadable(store.state(platform, replaced(place, "!", "#")))) return *refused;
    const auto parameters = parameters_of(request.query);
    std::vector<const Comment*> found = store.listed(platform, place);
    if (const auto since = parameters.find("since"); since != parameters.end()) {
        const auto from = parse_instant(since->second);
        if (!from) return refusal(422, "Validation Failed: since is no time");
        std::erase_if(found, [&](const Comment* comment) {
            return whole_second(comment->updated_at) < whole_second(*from);
        });
    }
    if (const auto order = parameters.find("direction"); order != parameters.end() && order->second == "desc")
        std::reverse(found.begin(), found.end());
    const std::int64_t size = std::min(positive_of(parameters, "per_page", 30), std::int64_t{100});
    const std::int64_t page = positive_of(parameters, "page", 1);
    const auto total = static_cast<std::int64_t>(found.size());
    const std::int64_t pages = std::max((total + size - 1) / size, std::int64_t{1});
    Json shown = Json::array();
    if (page <= pages) {
        const std::int64_t end = std::min(page * size, total);
        for (std::int64_t at = (page - 1) * size; at < end; ++at) {
            shown.push_back(comment_json(*found[static_cast<std::size_t>(at)], request));
        }
    }
    Reply reply = answer(200, shown);
    if (const std::string text = links(request, page, pages); !text.empty()) {
        reply.headers.emplace_back("link", text);
    }
    return reply;
}

Reply change(const Request& request, const Comment& comment, CommentStore& store) {
    if (auto refused = unreadable(store.state(platform, replaced(comment.place, "!", "#")))) return *refused;
    if (comment.author != own_login(store)) return refusal(403, "Must have admin rights to Repository.");
    const Json sent = Json::parse(request.body, nullptr, false);
    if (!sent.is_object() || !sent.contains("body") || !sent["body"].is_string())
        return refusal(422, "Invalid request.");
    const auto body = sent["body"].get<std::string>();
    if (code_points(body) > max_characters) return refusal(422, "Validation Failed: body is too long");
    store.edit(comment.id, body);
    return answer(200, comment_json(*store.find(comment.id), request));
}

/// `path`: the repository with the mark of the kind of comment, "owner/repo#" or "owner/repo!".
Reply one_comment(const Request& request, const std::string& path, std::int64_t id, CommentStore& store) {
    const Comment* comment = store.find(id);
    if (comment == nullptr || comment->platform != platform || !comment->place.starts_with(path)) {
        return refusal(404, "Not Found");
    }
    if (request.method == "GET") return answer(200, comment_json(*comment, request));
    if (request.method == "PATCH") return change(request, *comment, store);
    if (request.method != "DELETE") return refusal(404, "Not Found");
    if (comment->author != own_login(store)) return refusal(403, "Must have admin rights to Repository.");
    store.remove(id);
    return {204, {}, "", Ending::answer};
}

Reply comments_of_issue(const Request& request, const std::string& place, CommentStore& store) {
    if (request.method == "POST") return create(request, place, store);
    if (request.method == "GET") return list(request, place, store);
    return refusal(404, "Not Found");
}

Reply reply(const Request& request, const std::string& place, const std::string& id, CommentStore& store) {
    const auto number = number_of(id);
    const Comment* const root = number ? store.find(*number) : nullptr;
    if (request.method != "POST" || root == nullptr || root->place != place) return refusal(404, "Not Found");
    if (!root->thread.empty()) return refusal(422, "Replies to replies are not supported");
    return create(request, place, store, id);
}

Reply routed(const Request& request, CommentStore& store) {
    const Segments at = split(request.path, '/');
    if (at.size() == 2 && at[1] == "user" && request.method == "GET") {
        Reply me = answer(200, {{"id", bot_id}, {"login", bot_login}});
        if (const auto& scopes = store.scopes(platform); !scopes.empty())  // none: a fine-grained token
            me.headers.emplace_back("x-oauth-scopes", scopes);
        return me;
    }
    const bool review = at.size() >= 7 && at[4] == "pulls";
    if (at.size() < 7 || at[1] != "repos" || (at[4] != "issues" && !review)) return refusal(404, "Not Found");
    const std::string path = at[2] + "/" + at[3] + (review ? "!" : "#");
    if (at.size() == 7 && at[5] == "comments") {
        const auto id = number_of(at[6]);
        return id ? one_comment(request, path, *id, store) : refusal(404, "Not Found");
    }
    if (at[6] != "comments" || !number_of(at[5])) return refusal(404, "Not Found");
    if (review && at.size() == 9 && at[8] == "replies") return reply(request, path + at[5], at[7], store);
    const bool can_list = at.size() == 7 && (!review || request.method == "GET");
    return can_list ? comments_of_issue(request, path + at[5], store) : refusal(404, "Not Found");
}

Reply authorised(const Request& request, CommentStore& store) {
    if (header_of(request, "user-agent").empty()) {
        return refusal(403,
                       "Request forbidden by administrative rules. Please make sure your request has a "
                       "User-Agent header.");
    }
    const std::string credential = header_of(request, "authorization");
    if (credential.empty()) return refusal(401, "Requires authentication");
    if (store.app().id != 0) {
        if (auto of_app = serve_github_app(request, store.app(), store.now())) return *of_app;
        const Segments at = split(request.path, '/');
        const std::string repository = at.size() > 3 && at[1] == "repos" ? at[2] + "/" + at[3] : "-/-";
        const auto refused = refused_by_app(request, repository, store.app(), store.now());
        return refused ? *refused : routed(request, store);
    }
    if (!store.accepts_bearer(credential)) return refusal(401, "Bad credentials");
    return routed(request, store);
}

}  // namespace

Reply serve_github(const Request& request, CommentStore& store) {
    const std::size_t count = store.count_request();
    // Never "remaining: 0" beside a success: limits come from rules, not from how long a test runs.
    const std::size_t used = (count - 1) % requests_per_hour;
    const auto reset = std::chrono::ceil<std::chrono::hours>(store.now());
    Reply reply = authorised(request, store);
    reply.headers.insert(
        reply.headers.end(),
        {{"x-github-media-type", "github.v3; format=json"},
         {"x-github-request-id", "E9:" + std::to_string(count)},
         {"x-ratelimit-limit", std::to_string(requests_per_hour)},
         {"x-ratelimit-remaining", std::to_string(requests_per_hour - used)},
         {"x-ratelimit-used", std::to_string(used)},
         {"x-ratelimit-resource", "core"},
         {"x-ratelimit-reset",
          std::to_string(
              std::chrono::duration_cast<std::chrono::seconds>(reset.time_since_epoch()).count())}});
    return reply;
}

}  // namespace epilogue::fake_platform
