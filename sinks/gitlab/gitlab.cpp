#include "sinks/gitlab/gitlab.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/text.h"
#include "sinks/format/folded.h"
#include "sinks/format/format.h"
#include "sinks/format/marker.h"
#include "sinks/gitlab/gitlab_answers.h"
#include "sinks/port/json_answer.h"

namespace epilogue {
namespace {

constexpr std::size_t max_body_characters = 64000;  ///< GitLab takes 1,000,000; as short as on GitHub
constexpr std::size_t max_pages = 60;               ///< GitLab keeps about 5,000 notes a place
constexpr std::size_t per_page = 100;
constexpr const char* published_limits = "60/min";
constexpr const char* own_origin = "https://gitlab.com";
constexpr const char* no_token = "no token: set [gitlab] token, or token of [gitlab.namespaces.\"<path>\"]";
constexpr const char* no_place = "the target is no project and number";

GitlabSettings tidied(GitlabSettings settings) {
    settings.token = std::string(trimmed(settings.token));
    std::map<std::string, std::string> namespaces;
    for (const auto& [path, token] : settings.namespaces) namespaces[lowered(path)] = trimmed(token);
    settings.namespaces = std::move(namespaces);
    return settings;
}

std::vector<std::string> headers_of(const GitlabSettings& settings) {
    return {"Accept: application/json", "User-Agent: epilogue/" + settings.version};
}

/// A number, or a path whose parts are names as GitLab takes them: what goes into a URL must not lead
/// elsewhere.
bool is_project(const std::string& project) {
    constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    if (is_number(project)) return true;
    const auto parts = split(project, '/');
    const auto slashes = static_cast<std::size_t>(std::count(project.begin(), project.end(), '/'));
    return parts.size() >= 2 && parts.size() == slashes + 1 &&
           std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
               return part != "." && part != ".." && part.find_first_not_of(allowed) == std::string::npos;
           });
}

bool is_gone(const HttpAnswer& answer) {
    return answer.outcome == HttpOutcome::answered && (answer.status == 404 || answer.status == 410);
}

std::string bearer(const std::string& token) {
    return "Authorization: Bearer " + token;
}

/// Where the token of a namespace is configured, or the one of all others.
std::string setting_of(const std::string& path) {
    return path.empty() ? "[gitlab] token" : "[gitlab.namespaces.\"" + path + "\"] token";
}

bool is_discussion(std::string_view id) {
    constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    return id.find_first_not_of(allowed) == std::string_view::npos;
}

/// The post's place when it is one on GitLab that can be named in a URL.
const GitlabTarget* place_of(const Post& post) {
    const auto* target = target_in<GitlabTarget>(post.target);
    return target != nullptr && is_project(target->project) && target->iid > 0 &&
                   is_discussion(target->discussion_id)
               ? target
               : nullptr;
}

}  // namespace

GitlabSink::GitlabSink(GitlabSettings settings)
    : settings_(tidied(std::move(settings))), api_(settings_.api_url, headers_of(settings_)) {
    accounts_.try_emplace(settings_.token);
    for (const auto& [path, token] : settings_.namespaces) accounts_.try_emplace(token);
}

std::string GitlabSink::render(const Summary& summary, const DeliveryId& delivery_id) const {
    return markdown_post(summary, marker_line(settings_.mac_key, delivery_id), max_body_characters);
}

Dialogue<LookupResult> GitlabSink::find(Post post) {
    const auto* place = place_of(post);
    if (place == nullptr) co_return lookup_failed(no_place);
    if (token_at(*place).empty()) co_return forbidden(no_token);
    auto reading = read_marked(post, *place);
    auto marked = co_await reading;
    if (!marked.what) co_return marked.failure;
    if (place->note_id) {
        auto reading_edited = shown(*place);
        const auto edited = co_await reading_edited;
        if (!edited) co_return not_looked(edited.error());
        // The look-up is for the short post that announces the edit, not for the edited note.
        std::erase_if(*marked.what, [&](const RemotePost& note) { return note.id == *place->note_id; });
        const auto marker = marker_in(post.body, settings_.mac_key, post.delivery_id);
        if (*edited && !place->notify && holds_marker((*edited)->body, marker))
            marked.what->push_back(**edited);
    }
    if (marked.what->empty()) co_return own_posts({}, {});
    for (auto& note : *marked.what) note.url = note_url(*place, fmt::format("{}", note.id));
    auto asking = ask_who_we_are(*place);
    const auto me = co_await asking;
    if (!me.what) co_return me.failure;
    co_return own_posts(std::move(*marked.what), *me.what);
}

Dialogue<Attempt> GitlabSink::create(Post post) {
    const auto* place = place_of(post);
    if (place == nullptr) co_return not_sent(Answer::refused, no_place);
    if (token_at(*place).empty()) co_return not_sent(Answer::unauthorised, no_token);
    if (place->note_id) {
        auto editing = edit(post, *place);
        const auto edited = co_await editing;
        if (edited) co_return *edited;
    }
    auto posting = post_new(post, *place);
    co_return co_await posting;
}

Dialogue<Attempt> GitlabSink::post_new(Post post, GitlabTarget place) {
    const auto discussion = place.discussion_id.empty() ? "" : "/discussions/" + place.discussion_id;
    const auto url = place_url(place) + discussion + "/notes";
    const nlohmann::json message{{"body", post.body}};
    auto posting = request(place, "POST", url, json_line(message));
    const auto answer = co_await posting;
    auto attempt = classify_gitlab_note(answer);
    if (attempt.answer == Answer::sent) {
        attempt.receipt.remote_url = note_url(place, attempt.receipt.remote_id);
        if (const auto note = read_gitlab_note(answer.body))
            accounts_.at(token_at(place)).remember(note->author);
    }
    co_return attempt;
}

Dialogue<tl::expected<std::optional<RemotePost>, Attempt>> GitlabSink::shown(GitlabTarget place) {
    auto reading = request(place, "GET", note_url(place, fmt::format("{}", *place.note_id)));
    const auto answer = co_await reading;
    if (is_gone(answer)) co_return std::nullopt;
    const bool is_read = answer.outcome == HttpOutcome::answered && answer.status == 200;
    const auto note = is_read ? read_gitlab_note(answer.body) : std::nullopt;
    if (!note) {
        auto attempt = classify_gitlab_note(answer);
        // Nothing has been written yet.
        if (attempt.answer == Answer::unknown) attempt.answer = Answer::retry;
        co_return tl::unexpected(attempt);
    }
    auto asking = ask_who_we_are(place);
    const auto me = co_await asking;
    if (!me.what) co_return tl::unexpected(not_written(me.failure));
    co_return note->author.same_as(*me.what) ? note : std::nullopt;
}

Dialogue<std::optional<Attempt>> GitlabSink::edit(Post post, GitlabTarget place) {
    auto reading = shown(place);
    const auto found = co_await reading;
    if (!found) co_return found.error();
    if (!*found) co_return std::nullopt;
    const RemotePost& before = **found;
    const auto id = fmt::format("{}", before.id);
    Attempt attempt = not_sent(Answer::sent, "");
    attempt.platform = PlatformState::answered;
    attempt.receipt = {.remote_id = id, .remote_url = note_url(place, id)};
    if (!holds_marker(before.body, marker_in(post.body, settings_.mac_key, post.delivery_id))) {
        const nlohmann::json message{
            {"body", folded(post.body, before.body, post.newer, max_body_characters)}};
        auto writing = request(place, "PUT", note_url(place, id), json_line(message));
        const auto answer = co_await writing;
        if (is_gone(answer)) co_return std::nullopt;
        attempt = classify_gitlab_note(answer, 200);
        attempt.receipt.remote_url = note_url(place, id);
    }
    if (attempt.answer != Answer::sent || !place.notify) co_return attempt;
    post.body = notice_of(post.body, "");  // a note has no page that the API would name
    auto telling = post_new(post, place);
    co_return co_await telling;
}

Dialogue<bool> GitlabSink::remove(Post post, Receipt duplicate) {
    const auto* place = place_of(post);
    if (place == nullptr || !is_number(duplicate.remote_id) || token_at(*place).empty()) co_return false;
    auto deleting = request(*place, "DELETE", note_url(*place, duplicate.remote_id));
    const auto answer = co_await deleting;
    co_return is_deleted(answer);
}

std::vector<Dialogue<TokenStatus>> GitlabSink::check_tokens() {
    std::vector<Dialogue<TokenStatus>> checks;
    if (!settings_.token.empty() || settings_.namespaces.empty())
        checks.push_back(check_token(setting_of(""), settings_.token));
    for (const auto& [path, token] : settings_.namespaces)
        checks.push_back(check_token(setting_of(path), token));
    return checks;
}

Dialogue<TokenStatus> GitlabSink::check_token(std::string setting, std::string token) const {
    if (token.empty()) co_return TokenStatus{.setting = setting};
    auto request = api_.request("GET", api_.url() + "/user", "", bearer(token));
    const auto user = co_await request;
    TokenStatus report = token_status(setting, user);
    if (const auto me = read_gitlab_account(user.body)) report.identity = me->name;
    report.needed = "api";
    if (report.state == TokenState::accepted) {
        auto about_itself =
            api_.request("GET", api_.url() + "/personal_access_tokens/self", "", bearer(token));
        const auto self = co_await about_itself;
        // OAuth tokens are no personal ones: of them nothing is told.
        if (self.outcome == HttpOutcome::answered && self.status == 200)
            report.scopes = texts_at(parsed(self.body), "scopes");
    }
    report.post = permission_by(report, {"api"});
    report.look_up = permission_by(report, {"api", "read_api"});
    co_return report;
}

bool GitlabSink::writes_into_one(const Target& target) const {
    const auto* place = target_in<GitlabTarget>(target);
    return place != nullptr && place->note_id.has_value();
}

Quota GitlabSink::quota(const Target& target) const {
    const auto* place = target_in<GitlabTarget>(target);
    const auto at = place == nullptr ? GitlabTarget{} : *place;
    return quota_by_credential({.platform = "gitlab",
                                .token = token_at(at),
                                .budget = settings_.budget,
                                .api_url = settings_.api_url,
                                .origin = own_origin,
                                .published = published_limits,
                                .setting = setting_of(namespace_of(at))});
}

HttpRequest GitlabSink::request(const GitlabTarget& place, const char* method, std::string url,
                                std::string body) const {
    return api_.request(method, std::move(url), std::move(body), bearer(token_at(place)));
}

std::string GitlabSink::namespace_of(const GitlabTarget& place) const {
    std::string path = lowered(place.path.empty() ? place.project : place.path);
    while (!path.empty() && !settings_.namespaces.contains(path)) {
        const auto slash = path.rfind('/');
        path.resize(slash == std::string::npos ? 0 : slash);
    }
    return path;
}

const std::string& GitlabSink::token_at(const GitlabTarget& place) const {
    const auto found = settings_.namespaces.find(namespace_of(place));
    return found == settings_.namespaces.end() ? settings_.token : found->second;
}

std::string GitlabSink::place_url(const GitlabTarget& place) const {
    return fmt::format("{}/projects/{}/{}/{}", api_.url(), replaced(place.project, "/", "%2F"),
                       place.merge_request ? "merge_requests" : "issues", place.iid);
}

/// A note has no page of its own that the API would name; this address is enough to find and to delete it.
std::string GitlabSink::note_url(const GitlabTarget& place, const std::string& id) const {
    return place_url(place) + "/notes/" + id;
}

Dialogue<ReadOf<std::vector<RemotePost>>> GitlabSink::read_marked(Post post, GitlabTarget place) const {
    const auto marker = marker_in(post.body, settings_.mac_key, post.delivery_id);
    const auto since = look_up_from(post);
    const bool in_discussion = !place.discussion_id.empty();
    std::vector<RemotePost> marked;
    for (int reading = 1;; ++reading) {
        std::size_t page = 0;
        for (bool is_last = false; !is_last;) {
            if (++page > max_pages)
                co_return unusable_answer(fmt::format("more than {} pages of notes", max_pages));
            const auto url = in_discussion
                                 ? fmt::format("{}/discussions/{}", place_url(place), place.discussion_id)
                                 : fmt::format("{}/notes?sort=desc&order_by=created_at&per_page={}&page={}",
                                               place_url(place), per_page, page);
            auto reading_page = request(place, "GET", url);
            const auto answer = co_await reading_page;
            if (answer.outcome != HttpOutcome::answered || answer.status != 200) {
                auto failure = gitlab_lookup_failed(answer);
                co_return page == 1 && reading == 1 ? failure : later_page_failed(failure);
            }
            auto notes = read_gitlab_notes(answer.body);
            if (!notes) co_return unusable_answer("200 without a readable list of notes");
            // Headers that count pages are missing when there are many: a page that is not full is the last.
            is_last = in_discussion || notes->size() < per_page;
            for (auto& note : *notes) {
                const bool is_old = note.created_at.value_or(since) < since;
                is_last = is_last || is_old;
                if (!is_old && holds_marker(note.body, marker)) marked.push_back(std::move(note));
            }
        }
        if (page == 1 || reading == readings_of_pages) co_return marked;
    }
}

Dialogue<ReadOf<Account>> GitlabSink::ask_who_we_are(GitlabTarget place) {
    OwnAccount& me_there = accounts_.at(token_at(place));
    if (const auto known = me_there.known()) co_return *known;
    auto asking = request(place, "GET", api_.url() + "/user");
    const auto answer = co_await asking;
    const int status = answer.outcome == HttpOutcome::answered ? answer.status : 0;
    const bool may_not_ask = status == 403 || status == 404;
    const auto me = may_not_ask     ? std::optional<Account>(Account{})
                    : status == 200 ? read_gitlab_account(answer.body)
                                    : std::nullopt;
    if (!me) co_return gitlab_lookup_failed(answer);
    me_there.remember(*me);
    co_return *me;
}

}  // namespace epilogue
