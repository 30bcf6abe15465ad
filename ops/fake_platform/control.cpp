#include "ops/fake_platform/control.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/text.h"

namespace epilogue::fake_platform {
namespace {

using Json = nlohmann::json;

constexpr std::chrono::milliseconds longest_wait{600000};

constexpr std::array<std::pair<const char*, std::size_t Counts::*>, 7> figures{{
    {"attempts", &Counts::attempts},
    {"applied", &Counts::applied},
    {"visible", &Counts::visible},
    {"held", &Counts::held},
    {"held_total", &Counts::held_total},
    {"held_applied_total", &Counts::held_applied_total},
    {"lookups", &Counts::lookups},
}};

Reply answer(const Json& body, int status = 200) {
    // Bodies in the log are whatever a client sent: invalid UTF-8 is shown replaced.
    return json_reply(status, json_line(body));
}

Reply unknown() {
    return answer({{"error", "no such control"}}, 404);
}

Json object_of(const Request& request) {
    return request.body.empty() ? Json::object() : Json::parse(request.body);
}

/// "place" as a Comment has it, or GitHub's "repo" and "number".
std::string place_of(const Json& json) {
    if (json.contains("place")) return json.at("place").get<std::string>();
    return json.at("repo").get<std::string>() + "#" + std::to_string(json.at("number").get<std::int64_t>());
}

PlaceState state_of(const std::string& name) {
    if (name == "open") return PlaceState::open;
    if (name == "locked") return PlaceState::locked;
    if (name == "gone") return PlaceState::gone;
    if (name == "missing") return PlaceState::missing;
    throw std::invalid_argument("unknown state: " + name);
}

Json counts_json(const Counts& counts) {
    Json json;
    for (const auto& [name, figure] : figures) json[name] = counts.*figure;
    return json;
}

Json log_json(const std::vector<LogEntry>& entries, std::size_t after) {
    Json json = Json::array();
    for (const LogEntry& entry : entries) {
        if (entry.n <= after) continue;
        json.push_back({{"n", entry.n},
                        {"time", to_iso(entry.at)},
                        {"method", entry.method},
                        {"path", entry.path},
                        {"query", entry.query},
                        {"body", entry.body},
                        {"action", entry.action},
                        {"applied", entry.applied},
                        {"made", entry.made},
                        {"held", entry.held},
                        {"status", entry.status ? Json(*entry.status) : Json(nullptr)}});
    }
    return json;
}

Json visible_json(const std::vector<Comment>& comments) {
    Json json = Json::array();
    for (const Comment& comment : comments) {
        json.push_back({{"id", comment.id},
                        {"platform", comment.platform},
                        {"path", comment.place},
                        {"author", comment.author},
                        {"body", comment.body},
                        {"thread", comment.thread},
                        {"metadata", comment.metadata},
                        {"created_at", to_iso(comment.created_at)}});
    }
    return json;
}

Reply wait(FakePlatform& platform, const Request& request) {
    std::vector<std::pair<std::size_t Counts::*, std::size_t>> wanted;
    std::chrono::milliseconds timeout{10000};
    for (const auto& [name, value] : parameters_of(request.query)) {
        const unsigned long number = std::stoul(value);
        if (name == "timeout_ms") {
            timeout = std::min(std::chrono::milliseconds(number), longest_wait);
            continue;
        }
        const auto found = std::find_if(figures.begin(), figures.end(),
                                        [&key = name](const auto& figure) { return figure.first == key; });
        if (found == figures.end()) throw std::invalid_argument("unknown count: " + name);
        wanted.emplace_back(found->second, number);
    }
    const bool reached = platform.wait_until(
        [&](const Counts& counts) {
            return std::all_of(wanted.begin(), wanted.end(),
                               [&](const auto& want) { return counts.*want.first >= want.second; });
        },
        timeout);
    return answer({{"reached", reached}});
}

Reply seed(FakePlatform& platform, const Json& json) {
    Comment comment;
    comment.platform = json.value("platform", "github");
    comment.thread = json.value("thread", "");
    comment.metadata = json.value("metadata", "");
    comment.place = place_of(json);
    comment.author = json.value("author", "somebody");
    comment.body = json.at("body").get<std::string>();
    if (json.contains("created_at")) {
        const auto at = parse_instant(json.at("created_at").get<std::string>());
        if (!at) throw std::invalid_argument("\"created_at\" is no time");
        comment.created_at = *at;
    }
    std::int64_t id = 0;
    for (int count = json.value("count", 1); count > 0; --count) id = platform.seed(comment);
    return answer({{"id", id}}, 201);
}

/// What is named is changed.
void change_app(GithubApp& app, const Json& json) {
    app.id = json.value("id", app.id);
    app.lifetime = std::chrono::seconds{json.value("lifetime_s", app.lifetime.count())};
    if (json.contains("installations")) app.installations.clear();
    const Json installations = json.value("installations", Json::object());
    for (const auto& [id, one] : installations.items())
        app.installations[std::stoll(id)] = {one.at("account").get<std::string>(),
                                             one.value("suspended", false),
                                             one.value("repositories", std::vector<std::string>{})};
    if (json.value("revoke", false))
        for (auto& [text, token] : app.tokens) token.revoked = true;
}

Json app_json(const GithubApp& app) {
    Json json{{"jwts", Json::array()}, {"tokens", Json::array()}};
    for (const auto& jwt : app.jwts) json["jwts"].push_back({{"time", to_iso(jwt.at)}, {"text", jwt.text}});
    for (const auto& [text, token] : app.tokens)
        json["tokens"].push_back({{"text", text},
                                  {"installation", token.installation},
                                  {"given_at", to_iso(token.given_at)},
                                  {"ends", to_iso(token.ends)}});
    return json;
}

Reply comment_control(FakePlatform& platform, const Request& request, const std::string& id_text) {
    const std::int64_t id = std::stoll(id_text);
    bool found = false;
    if (request.method == "DELETE") {
        found = platform.remove(id);
    } else if (request.method == "PATCH") {
        found = platform.edit(id, object_of(request).at("body").get<std::string>());
    } else {
        return unknown();
    }
    return found ? answer(Json::object()) : answer({{"error", "no such comment"}}, 404);
}

std::size_t after_of(const Request& request) {
    const auto parameters = parameters_of(request.query);
    const auto after = parameters.find("after");
    return after == parameters.end() ? 0 : std::stoul(after->second);
}

Reply read(FakePlatform& platform, const Request& request, const std::string& what) {
    if (what == "log") return answer(log_json(platform.log(), after_of(request)));
    if (what == "visible") return answer(visible_json(platform.visible()));
    if (what == "counts") return answer(counts_json(platform.counts()));
    if (what == "app") {
        Json json;
        platform.with_app([&](const GithubApp& app) { json = app_json(app); });
        return answer(json);
    }
    if (what == "wait") return wait(platform, request);
    return unknown();
}

Reply change(FakePlatform& platform, const Request& request, const std::string& what) {
    if (what == "rules") {
        platform.rules(request.body);
        return answer(Json::object());
    }
    const Json json = object_of(request);
    if (what == "comments") return seed(platform, json);
    if (what == "release") {
        platform.release(json.value("drop", false));
    } else if (what == "tokens") {
        platform.accept_tokens(json.at("tokens").get<std::set<std::string>>());
    } else if (what == "scopes") {
        platform.set_scopes(json.at("platform").get<std::string>(), json.at("scopes").get<std::string>());
    } else if (what == "issues") {
        platform.set_place(json.value("platform", "github"), place_of(json),
                           state_of(json.at("state").get<std::string>()));
    } else if (what == "app") {
        platform.with_app([&](GithubApp& app) { change_app(app, json); });
    } else if (what == "reset") {
        platform.reset();
    } else {
        return unknown();
    }
    return answer(Json::object());
}

}  // namespace

Reply serve_control(FakePlatform& platform, const Request& request) {
    const std::vector<std::string> at = split(request.path, '/');
    try {
        if (at.size() == 3 && at[1] == "comments") return comment_control(platform, request, at[2]);
        if (at.size() == 2 && request.method == "GET") return read(platform, request, at[1]);
        if (at.size() == 2 && request.method == "POST") return change(platform, request, at[1]);
        return unknown();
    } catch (const std::exception& error) {
        return answer({{"error", error.what()}}, 400);
    }
}

}  // namespace epilogue::fake_platform
