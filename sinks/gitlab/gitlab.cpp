#include "sinks/gitlab/gitlab.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
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
constexpr const char* no_token = "no token: set [gitlab] token";
constexpr const char* no_place = "the target is no project and number";

GitlabSettings tidied(GitlabSettings settings) {
    settings.token = std::string(trimmed(settings.token));
    return settings;
}

std::vector<std::string> headers_of(const GitlabSettings& settings) {
    return {"Accept: application/json", "Authorization: Bearer " + settings.token,
            "User-Agent: epilogue/" + settings.version};
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
    : settings_(tidied(std::move(settings))), api_(settings_.api_url, headers_of(settings_)) {}

std::string GitlabSink::render(const Summary& summary, const DeliveryId& delivery_id) const {
    return markdown_post(summary, marker_line(settings_.mac_key, delivery_id), max_body_characters);
}

Dialogue<LookupResult> GitlabSink::find(Post post) {
    const auto* place = place_of(post);
    if (place == nullptr) co_return lookup_failed(no_place);
    if (settings_.token.empty()) co_return forbidden(no_token);
    auto reading = read_marked(post, *place);
    auto marked = co_await reading;
    if (!marked.what) co_return marked.failure;
    if (marked.what->empty()) co_return own_posts({}, {});
    for (auto& note : *marked.what) note.url = note_url(*place, fmt::format("{}", note.id));
    auto asking = ask_who_we_are();
    const auto me = co_await asking;
    if (!me.what) co_return me.failure;
    co_return own_posts(std::move(*marked.what), *me.what);
}

Dialogue<Attempt> GitlabSink::create(Post post) {
    const auto* place = place_of(post);
    if (place == nullptr) co_return not_sent(Answer::refused, no_place);
    if (settings_.token.empty()) co_return not_sent(Answer::unauthorised, no_token);
    const auto discussion = place->discussion_id.empty() ? "" : "/discussions/" + place->discussion_id;
    const auto url = place_url(*place) + discussion + "/notes";
    const nlohmann::json message{{"body", post.body}};
    auto request = api_.request("POST", url, body_of(message));
    const auto answer = co_await request;
    auto attempt = classify_gitlab_note(answer);
    if (attempt.answer == Answer::sent) {
        attempt.receipt.remote_url = note_url(*place, attempt.receipt.remote_id);
        if (const auto note = read_gitlab_note(answer.body)) me_.remember(note->author);
    }
    co_return attempt;
}

Dialogue<bool> GitlabSink::remove(Post post, Receipt duplicate) {
    const auto* place = place_of(post);
    if (place == nullptr || !is_number(duplicate.remote_id) || settings_.token.empty()) co_return false;
    auto request = api_.request("DELETE", note_url(*place, duplicate.remote_id));
    const auto answer = co_await request;
    co_return is_deleted(answer);
}

std::vector<Dialogue<TokenStatus>> GitlabSink::check_tokens() {
    std::vector<Dialogue<TokenStatus>> checks;
    checks.push_back(check_token());
    return checks;
}

Dialogue<TokenStatus> GitlabSink::check_token() const {
    const std::string setting = "[gitlab] token";
    if (settings_.token.empty()) co_return TokenStatus{.setting = setting};
    auto request = api_.request("GET", api_.url() + "/user");
    const auto user = co_await request;
    TokenStatus report = token_status(setting, user);
    if (const auto me = read_gitlab_account(user.body)) report.identity = me->name;
    report.needed = "api";
    if (report.state == TokenState::accepted) {
        auto about_itself = api_.request("GET", api_.url() + "/personal_access_tokens/self");
        const auto self = co_await about_itself;
        // OAuth tokens are no personal ones: of them nothing is told.
        if (self.outcome == HttpOutcome::answered && self.status == 200)
            report.scopes = texts_at(parsed(self.body), "scopes");
    }
    report.post = permission_by(report, {"api"});
    report.look_up = permission_by(report, {"api", "read_api"});
    co_return report;
}

Quota GitlabSink::quota(const Target&) const {
    return quota_by_credential({.platform = "gitlab",
                                .token = settings_.token,
                                .budget = settings_.budget,
                                .api_url = settings_.api_url,
                                .origin = own_origin,
                                .published = published_limits});
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
            auto request = api_.request("GET", url);
            const auto answer = co_await request;
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

Dialogue<ReadOf<Account>> GitlabSink::ask_who_we_are() {
    if (const auto known = me_.known()) co_return *known;
    auto request = api_.request("GET", api_.url() + "/user");
    const auto answer = co_await request;
    const int status = answer.outcome == HttpOutcome::answered ? answer.status : 0;
    const bool may_not_ask = status == 403 || status == 404;
    const auto me = may_not_ask     ? std::optional<Account>(Account{})
                    : status == 200 ? read_gitlab_account(answer.body)
                                    : std::nullopt;
    if (!me) co_return gitlab_lookup_failed(answer);
    me_.remember(*me);
    co_return *me;
}

}  // namespace epilogue
