#include "sinks/github/github.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "sinks/format/format.h"
#include "sinks/format/marker.h"
#include "sinks/github/github_answers.h"
#include "sinks/port/http_answer.h"
#include "sinks/port/json_answer.h"

namespace epilogue {
namespace {

constexpr std::size_t max_body_characters = 64000;  ///< GitHub takes 65,536
constexpr std::size_t max_pages = 100;
constexpr const char* published_limits = "1/s 80/min 500/h";
constexpr const char* own_origin = "https://api.github.com";
constexpr const char* no_token = "no token: set [github] token";

GithubSettings tidied(GithubSettings settings) {
    settings.token = std::string(trimmed(settings.token));
    return settings;
}

std::vector<std::string> headers_of(const GithubSettings& settings) {
    return {"Accept: application/vnd.github+json", "Authorization: Bearer " + settings.token,
            "X-GitHub-Api-Version: 2022-11-28", "User-Agent: epilogue/" + settings.version};
}

/// "owner/name", each a name as GitHub takes it: what goes into a URL must not lead elsewhere.
bool is_repo(std::string_view repo) {
    constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    const auto slash = repo.find('/');
    if (slash == std::string_view::npos) return false;
    const auto is_name = [&](std::string_view name) {
        return !name.empty() && name != "." && name != ".." &&
               name.find_first_not_of(allowed) == std::string_view::npos;
    };
    return is_name(repo.substr(0, slash)) && is_name(repo.substr(slash + 1));
}

/// The post's place when it is one on GitHub that can be named in a URL.
const GithubTarget* place_of(const Post& post) {
    const auto* target = target_in<GithubTarget>(post.target);
    return target != nullptr && is_repo(target->repo) && target->number > 0 ? target : nullptr;
}
constexpr const char* no_place = "the target is no owner/name and number";

/// Where people see what the API at `api_url` serves.
std::string web_url(std::string_view api_url) {
    constexpr std::string_view enterprise = "/api/v3";
    if (api_url == "https://api.github.com") return "https://github.com";
    if (api_url.ends_with(enterprise)) api_url.remove_suffix(enterprise.size());
    return std::string(api_url);
}

bool is_gone(const HttpAnswer& answer) {
    return answer.outcome == HttpOutcome::answered && (answer.status == 404 || answer.status == 410);
}

}  // namespace

GithubSink::GithubSink(GithubSettings settings)
    : settings_(tidied(std::move(settings))),
      api_(settings_.api_url, headers_of(settings_), settings_.http_timeout, settings_.transport) {}

std::string GithubSink::render(const Summary& summary, const DeliveryId& delivery_id) const {
    return markdown_post(summary, marker_line(settings_.mac_key, delivery_id), max_body_characters);
}

LookupResult GithubSink::find(const Post& post) {
    const auto* place = place_of(post);
    if (place == nullptr) return lookup_failed(no_place);
    if (settings_.token.empty()) return forbidden(no_token);
    const auto until = api_.deadline();
    std::vector<RemotePost> marked;
    if (auto failure = read_marked(post, conversation_url(*place) + "?", until, marked)) return *failure;
    if (place->review_comment_id) {
        const auto list =
            fmt::format("{}/pulls/{}/comments?sort=created&direction=desc&", repo_url(*place), place->number);
        if (auto failure = read_marked(post, list, until, marked)) return *failure;
    }
    if (marked.empty()) return own_posts({}, {});
    LookupResult failure;
    const auto me = me_.get([&] { return ask_who_we_are(until, failure); });
    return me ? own_posts(std::move(marked), *me) : failure;
}

Attempt GithubSink::create(const Post& post) {
    const auto* place = place_of(post);
    if (place == nullptr) return not_sent(Answer::refused, no_place);
    if (settings_.token.empty()) return not_sent(Answer::unauthorised, no_token);
    const auto until = api_.deadline();
    return place->review_comment_id ? reply(post, *place, until)
                                    : comment(conversation_url(*place), post.body, until);
}

bool GithubSink::remove(const Post& post, const Receipt& duplicate) {
    const auto* place = place_of(post);
    if (place == nullptr || !is_number(duplicate.remote_id) || settings_.token.empty()) return false;
    // Both kinds of comments count their ids for themselves: only the address tells which one is meant.
    const bool in_thread = duplicate.remote_url.ends_with("#discussion_r" + duplicate.remote_id);
    const auto answer = api_.send("DELETE",
                                  fmt::format("{}/{}/comments/{}", repo_url(*place),
                                              in_thread ? "pulls" : "issues", duplicate.remote_id),
                                  api_.deadline());
    return is_deleted(answer);
}

std::vector<TokenStatus> GithubSink::check_tokens() {
    const std::string setting = "[github] token";
    if (settings_.token.empty()) return {TokenStatus{.setting = setting}};
    const auto answer = api_.send("GET", api_.url() + "/user", api_.deadline());
    TokenStatus report = token_status(setting, answer);
    const bool answered = answer.outcome == HttpOutcome::answered;
    // An App's token may not ask who it is; that it was let in so far is all that is known then.
    if (answered && answer.status == 403 && !github_rate_limit(answer)) report.state = TokenState::accepted;
    if (const auto me = read_github_account(answer.body)) report.identity = me->name;
    // Only classic tokens have scopes; what a fine-grained one may do shows when it does it.
    if (const auto scopes = list_in(answer, "x-oauth-scopes"); scopes && !scopes->empty())
        report.scopes = scopes;
    report.needed =
        "repo, or public_repo for public repositories alone; of a fine-grained token Issues and "
        "Pull requests: read and write";
    report.post = permission_by(report, {"repo", "public_repo"});
    report.look_up = report.post;
    return {report};
}

Quota GithubSink::quota(const Target&) const {
    return quota_by_credential({.platform = "github",
                                .token = settings_.token,
                                .budget = settings_.budget,
                                .api_url = settings_.api_url,
                                .origin = own_origin,
                                .published = published_limits});
}

std::string GithubSink::repo_url(const GithubTarget& place) const {
    return fmt::format("{}/repos/{}", api_.url(), place.repo);
}

std::string GithubSink::conversation_url(const GithubTarget& place) const {
    return fmt::format("{}/issues/{}/comments", repo_url(place), place.number);
}

std::string GithubSink::thread_link(const GithubTarget& place) const {
    return fmt::format("{}/{}/pull/{}#discussion_r{}", web_url(api_.url()), place.repo, place.number,
                       *place.review_comment_id);
}

std::optional<LookupResult> GithubSink::read_marked(const Post& post, const std::string& list, Deadline until,
                                                    std::vector<RemotePost>& marked) const {
    const auto marker = marker_in(post.body, settings_.mac_key, post.delivery_id);
    const auto since = std::chrono::floor<std::chrono::seconds>(look_up_from(post));
    constexpr std::size_t date_and_time = 19;  // GitHub wants whole seconds
    auto url = fmt::format("{}since={}Z&per_page=100", list, to_iso(since).substr(0, date_and_time));
    for (std::size_t page = 0; page < max_pages; ++page) {
        const auto answer = api_.send("GET", url, until);
        if (answer.outcome != HttpOutcome::answered || answer.status != 200)
            return page == 0 ? github_lookup_failed(answer) : later_page_failed(github_lookup_failed(answer));
        auto comments = read_github_comments(answer.body);
        if (!comments) return unusable_answer("200 without a readable list of comments");
        // `since` goes by the last change: another author's old comment, edited, is in the list too.
        for (auto& comment : *comments)
            if (comment.created_at.value_or(since) >= since && holds_marker(comment.body, marker))
                marked.push_back(std::move(comment));
        url = next_page(answer);
        if (url.empty()) return std::nullopt;
        // Our token goes nowhere but to the API it is for.
        if (origin_of(url) != origin_of(api_.url()))
            return unusable_answer("the next page of comments is on another host");
    }
    return unusable_answer(fmt::format("more than {} pages of comments", max_pages));
}

Attempt GithubSink::comment(const std::string& url, const std::string& body, Deadline until) {
    const auto answer = api_.send("POST", url, until, body_of({{"body", body}}));
    auto attempt = classify_github_comment(answer);
    if (attempt.answer == Answer::sent)
        if (const auto made = read_github_comment(answer.body)) me_.remember(made->author);
    return attempt;
}

Attempt GithubSink::reply(const Post& post, const GithubTarget& place, Deadline until) {
    const auto asked = api_.send(
        "GET", fmt::format("{}/pulls/comments/{}", repo_url(place), *place.review_comment_id), until);
    if (!is_gone(asked)) {
        const bool read = asked.outcome == HttpOutcome::answered && asked.status == 200;
        const auto root = read ? read_github_root(asked.body) : std::nullopt;
        if (!root) {
            auto attempt = classify_github_comment(asked);
            // Nothing has been written yet.
            if (attempt.answer == Answer::unknown) attempt.answer = Answer::retry;
            return attempt;
        }
        auto attempt =
            comment(fmt::format("{}/pulls/{}/comments/{}/replies", repo_url(place), place.number, *root),
                    post.body, until);
        if (attempt.answer != Answer::refused || !attempt.cause.starts_with("404")) return attempt;
    }
    const auto body =
        fmt::format("In reply to [a review comment that is gone]({})\n\n{}", thread_link(place), post.body);
    return comment(conversation_url(place), body, until);
}

std::optional<Account> GithubSink::ask_who_we_are(Deadline until, LookupResult& failure) const {
    const auto answer = api_.send("GET", api_.url() + "/user", until);
    const int status = answer.outcome == HttpOutcome::answered ? answer.status : 0;
    if ((status == 403 || status == 404) && !github_rate_limit(answer)) return Account{};
    auto me = status == 200 ? read_github_account(answer.body) : std::nullopt;
    if (!me) failure = github_lookup_failed(answer);
    return me;
}

}  // namespace epilogue
