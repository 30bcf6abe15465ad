#include "sinks/github/github.h"

#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/text.h"
#include "sinks/format/folded.h"
#include "sinks/format/format.h"
#include "sinks/format/marker.h"
#include "sinks/github/github_answers.h"
#include "sinks/port/http_answer.h"
#include "sinks/port/json_answer.h"
#include "sinks/port/sink_mutant.h"

namespace epilogue {
namespace {

constexpr std::size_t max_body_characters = 64000;  ///< GitHub takes 65,536
constexpr std::size_t max_pages = 100;
constexpr const char* published_limits = "1/s 80/min 500/h";
constexpr const char* own_origin = "https://api.github.com";
constexpr const char* no_token = "no token: set [github] token, or app_id and private_key";

GithubSettings tidied(GithubSettings settings) {
    settings.token = std::string(trimmed(settings.token));
    return settings;
}

std::vector<std::string> headers_of(const GithubSettings& settings) {
    return {"Accept: application/vnd.github+json", "X-GitHub-Api-Version: 2022-11-28",
            "User-Agent: epilogue/" + settings.version};
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

/// The settings' App, when its key can be read: `check` has said why not.
std::optional<GithubApp> app_of(const GithubSettings& settings) {
    if (settings.app_id == 0) return std::nullopt;
    const auto key = JwtKey::from_pem(Secret(settings.private_key));
    return key ? std::optional(GithubApp{settings.app_id, *key}) : std::nullopt;
}

}  // namespace

GithubSink::GithubSink(GithubSettings settings)
    : settings_(tidied(std::move(settings))),
      api_(settings_.api_url, headers_of(settings_)),
      access_(api_, settings_.token, app_of(settings_), settings_.now) {}

std::string GithubSink::render(const Summary& summary, const DeliveryId& delivery_id) const {
    return markdown_post(summary, marker_line(settings_.mac_key, delivery_id), max_body_characters);
}

Dialogue<LookupResult> GithubSink::find(Post post) {
    const auto* place = place_of(post);
    if (place == nullptr) co_return lookup_failed(no_place);
    if (access_.is_missing()) co_return forbidden(no_token);
    auto reading = read_marked(post, *place, conversation_url(*place) + "?");
    auto marked = co_await reading;
    if (!marked.what) co_return marked.failure;
    if (place->review_comment_id) {
        const auto list =
            fmt::format("{}/pulls/{}/comments?sort=created&direction=desc&", repo_url(*place), place->number);
        auto reading_threads = read_marked(post, *place, list);
        auto in_threads = co_await reading_threads;
        if (!in_threads.what) co_return in_threads.failure;
        std::move(in_threads.what->begin(), in_threads.what->end(), std::back_inserter(*marked.what));
    }
    if (place->comment_id) {
        auto reading_edited = shown(*place);
        const auto edited = co_await reading_edited;
        if (!edited) co_return not_looked(edited.error());
        // The look-up is for the short post that announces the edit, not for the edited comment.
        std::erase_if(*marked.what,
                      [&](const RemotePost& one) { return *edited && one.url == (*edited)->url; });
        const auto marker = marker_in(post.body, settings_.mac_key, post.delivery_id);
        if (*edited && !place->notify && holds_marker((*edited)->body, marker))
            marked.what->push_back(**edited);
    }
    if (marked.what->empty()) co_return own_posts({}, {});
    auto asking = ask_who_we_are();
    const auto me = co_await asking;
    if (!me.what) co_return me.failure;
    co_return own_posts(std::move(*marked.what), *me.what);
}

Dialogue<Attempt> GithubSink::create(Post post) {
    const auto* place = place_of(post);
    if (place == nullptr) co_return not_sent(Answer::refused, no_place);
    if (access_.is_missing()) co_return not_sent(Answer::unauthorised, no_token);
    if (place->comment_id) {
        auto editing = edit(post, *place);
        const auto edited = co_await editing;
        if (edited) co_return *edited;
    }
    auto posting = post_new(post, *place);
    co_return co_await posting;
}

Dialogue<Attempt> GithubSink::post_new(Post post, GithubTarget place) {
    auto posting =
        place.review_comment_id ? reply(post, place) : comment(place, conversation_url(place), post.body);
    co_return co_await posting;
}

Dialogue<tl::expected<std::optional<RemotePost>, Attempt>> GithubSink::shown(GithubTarget place) {
    auto reading = access_.ask(api_.request("GET", edited_url(place)), place);
    const auto answer = co_await reading;
    if (!answer) co_return tl::unexpected(answer.error());
    if (is_gone(*answer)) co_return std::nullopt;
    const bool is_read = answer->outcome == HttpOutcome::answered && answer->status == 200;
    auto comment = is_read ? read_github_comment(answer->body) : std::nullopt;
    if (!comment) {
        auto attempt = classify_github_comment(*answer);
        // Nothing has been written yet.
        if (attempt.answer == Answer::unknown) attempt.answer = Answer::retry;
        co_return tl::unexpected(attempt);
    }
    auto asking = ask_who_we_are();
    const auto me = co_await asking;
    if (!me.what) co_return tl::unexpected(not_written(me.failure));
    const bool is_ours =
        comment->author.same_as(*me.what) && is_github_comment_of(answer->body, place.number);
    co_return is_ours ? comment : std::nullopt;
}

Dialogue<std::optional<Attempt>> GithubSink::edit(Post post, GithubTarget place) {
    auto reading = shown(place);
    const auto found = co_await reading;
    if (!found) co_return found.error();
    if (!*found) co_return std::nullopt;
    const RemotePost& before = **found;
    Attempt attempt = not_sent(Answer::sent, "");
    attempt.platform = PlatformState::answered;
    attempt.receipt = {.remote_id = fmt::format("{}", before.id), .remote_url = before.url};
    if (!holds_marker(before.body, marker_in(post.body, settings_.mac_key, post.delivery_id))) {
        const nlohmann::json message{
            {"body", folded(post.body, before.body, post.newer, max_body_characters)}};
        auto writing = access_.ask(api_.request("PATCH", edited_url(place), json_line(message)), place);
        const auto answer = co_await writing;
        if (!answer) co_return answer.error();
        if (is_gone(*answer)) co_return std::nullopt;
        attempt = classify_github_comment(*answer, 200);
    }
    if (attempt.answer != Answer::sent || !place.notify) co_return attempt;
    post.body = notice_of(post.body, before.url);
    auto telling = post_new(post, place);
    co_return co_await telling;
}

Dialogue<bool> GithubSink::remove(Post post, Receipt duplicate) {
    const auto* place = place_of(post);
    if (place == nullptr || !is_number(duplicate.remote_id) || access_.is_missing()) co_return false;
    // Both kinds of comments count their ids for themselves: only the address tells which one is meant.
    const bool in_thread = duplicate.remote_url.ends_with("#discussion_r" + duplicate.remote_id);
    const auto url = fmt::format("{}/{}/comments/{}", repo_url(*place), in_thread ? "pulls" : "issues",
                                 duplicate.remote_id);
    auto deleting = access_.ask(api_.request("DELETE", url), *place);
    const auto answer = co_await deleting;
    co_return answer&& is_deleted(*answer);
}

std::vector<Dialogue<TokenStatus>> GithubSink::check_tokens() {
    std::vector<Dialogue<TokenStatus>> checks;
    checks.push_back(access_.is_app() ? check_app() : check_token());
    return checks;
}

Dialogue<TokenStatus> GithubSink::check_app() {
    auto asking = access_.ask_of_us("/app");
    const auto answer = co_await asking;
    TokenStatus report = token_status("[github] app_id", answer);
    if (const auto bot = read_github_bot(answer.body)) report.identity = bot->name;
    if (report.state == TokenState::accepted) report.scopes = read_github_permissions(answer.body);
    report.needed = "an App with the permissions Issues and Pull requests: read and write";
    report.post = permission_by(report, {"issues:write"});
    report.look_up = permission_by(report, {"issues:write", "issues:read"});
    co_return report;
}

Dialogue<TokenStatus> GithubSink::check_token() {
    const std::string setting = "[github] token";
    if (access_.is_missing()) co_return TokenStatus{.setting = setting};
    auto asking = access_.ask_of_us("/user");
    const auto answer = co_await asking;
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
    co_return report;
}

bool GithubSink::writes_into_one(const Target& target) const {
    const auto* place = target_in<GithubTarget>(target);
    return place != nullptr && place->comment_id.has_value();
}

Quota GithubSink::quota(const Target& target) const {
    const auto* place = target_in<GithubTarget>(target);
    const auto at = place == nullptr ? GithubTarget{} : *place;
    return quota_by_credential({.platform = "github",
                                .token = access_.credential_at(at),
                                .budget = settings_.budget,
                                .api_url = settings_.api_url,
                                .origin = own_origin,
                                .published = published_limits,
                                .setting = access_.setting_at(at)});
}

std::string GithubSink::repo_url(const GithubTarget& place) const {
    return fmt::format("{}/repos/{}", api_.url(), place.repo);
}

std::string GithubSink::conversation_url(const GithubTarget& place) const {
    return fmt::format("{}/issues/{}/comments", repo_url(place), place.number);
}

std::string GithubSink::edited_url(const GithubTarget& place) const {
    return fmt::format("{}/{}/comments/{}", repo_url(place), place.review_comment_id ? "pulls" : "issues",
                       place.comment_id.value_or(0));
}

std::string GithubSink::thread_link(const GithubTarget& place) const {
    return fmt::format("{}/{}/pull/{}#discussion_r{}", web_url(api_.url()), place.repo, place.number,
                       *place.review_comment_id);
}

Dialogue<ReadOf<std::vector<RemotePost>>> GithubSink::read_marked(Post post, GithubTarget place,
                                                                  std::string list) {
    const auto marker = marker_in(post.body, settings_.mac_key, post.delivery_id);
    const auto since = std::chrono::floor<std::chrono::seconds>(look_up_from(post));
    constexpr std::size_t date_and_time = 19;  // GitHub wants whole seconds
    const auto first = fmt::format("{}since={}Z&per_page=100", list, to_iso(since).substr(0, date_and_time));
    std::vector<RemotePost> marked;
    for (int reading = 1;; ++reading) {
        auto url = first;
        std::size_t pages = 0;
        for (; !url.empty() && pages < max_pages; ++pages) {
            auto reading_page = access_.ask(api_.request("GET", url), place);
            const auto asked = co_await reading_page;
            if (!asked) co_return not_looked(asked.error());
            const HttpAnswer& answer = *asked;
            if (answer.outcome != HttpOutcome::answered || answer.status != 200) {
                auto failure = github_lookup_failed(answer);
                co_return url == first&& reading == 1 ? failure : later_page_failed(failure);
            }
            auto comments = read_github_comments(answer.body);
            if (!comments) co_return unusable_answer("200 without a readable list of comments");
            // `since` goes by the last change: another author's old comment, edited, is in the list too.
            for (auto& comment : *comments)
                if (comment.created_at.value_or(since) >= since && holds_marker(comment.body, marker))
                    marked.push_back(std::move(comment));
            url = mutant(SinkMutant::second_page_not_read) ? "" : next_page(answer);
            // Our token goes nowhere but to the API it is for.
            if (!url.empty() && origin_of(url) != origin_of(api_.url()))
                co_return unusable_answer("the next page of comments is on another host");
        }
        if (!url.empty()) co_return unusable_answer(fmt::format("more than {} pages of comments", max_pages));
        if (pages == 1 || reading == readings_of_pages) co_return marked;
    }
}

Dialogue<Attempt> GithubSink::comment(GithubTarget place, std::string url, std::string body) {
    const nlohmann::json message{{"body", body}};
    auto posting = access_.ask(api_.request("POST", url, json_line(message)), place);
    const auto answer = co_await posting;
    if (!answer) co_return answer.error();
    auto attempt = classify_github_comment(*answer);
    if (attempt.answer == Answer::sent)
        if (const auto made = read_github_comment(answer->body)) me_.remember(made->author);
    co_return attempt;
}

Dialogue<Attempt> GithubSink::reply(Post post, GithubTarget place) {
    auto asking = access_.ask(
        api_.request("GET", fmt::format("{}/pulls/comments/{}", repo_url(place), *place.review_comment_id)),
        place);
    const auto asked = co_await asking;
    if (!asked) co_return asked.error();
    if (!is_gone(*asked)) {
        const bool read = asked->outcome == HttpOutcome::answered && asked->status == 200;
        const auto root = read ? read_github_root(asked->body) : std::nullopt;
        if (!root) {
            auto attempt = classify_github_comment(*asked);
            // Nothing has been written yet.
            if (attempt.answer == Answer::unknown) attempt.answer = Answer::retry;
            co_return attempt;
        }
        const auto url = fmt::format("{}/pulls/{}/comments/{}/replies", repo_url(place), place.number, *root);
        auto replying = comment(place, url, post.body);
        const auto attempt = co_await replying;
        if (attempt.answer != Answer::refused || !attempt.cause.starts_with("404")) co_return attempt;
    }
    const auto body =
        fmt::format("In reply to [a review comment that is gone]({})\n\n{}", thread_link(place), post.body);
    auto commenting = comment(place, conversation_url(place), body);
    const auto attempt = co_await commenting;
    co_return attempt;
}

Dialogue<ReadOf<Account>> GithubSink::ask_who_we_are() {
    if (const auto known = me_.known()) co_return *known;
    auto asking = access_.ask_of_us(access_.is_app() ? "/app" : "/user");
    const auto answer = co_await asking;
    const int status = answer.outcome == HttpOutcome::answered ? answer.status : 0;
    const bool may_not_ask =
        !access_.is_app() && (status == 403 || status == 404) && !github_rate_limit(answer);
    const auto me = may_not_ask        ? std::optional<Account>(Account{})
                    : status != 200    ? std::nullopt
                    : access_.is_app() ? read_github_bot(answer.body)
                                       : read_github_account(answer.body);
    if (!me) co_return github_lookup_failed(answer);
    me_.remember(*me);
    co_return *me;
}

}  // namespace epilogue
