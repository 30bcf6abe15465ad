#include "sinks/github.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "sinks/format.h"
#include "sinks/http_answer.h"
#include "sinks/marker.h"

namespace epilogue {
namespace {

constexpr std::size_t max_body_characters = 64000;  ///< GitHub takes 65,536
constexpr std::size_t max_pages = 100;
constexpr std::size_t max_page_bytes = std::size_t{64}
                                       << 20U;  ///< 100 comments of 65,536 characters, escaped
constexpr std::chrono::minutes clock_skew{5};
constexpr const char* no_token = "no token: set [github] token";

GithubSettings tidied(GithubSettings settings) {
    settings.token = std::string(trimmed(settings.token));
    while (settings.api_url.ends_with('/')) settings.api_url.pop_back();
    return settings;
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
    const auto* target = std::get_if<GithubTarget>(&post.target);
    return target != nullptr && is_repo(target->repo) && target->number > 0 ? target : nullptr;
}
constexpr const char* no_place = "the target is no owner/name and number";

/// The marker as it was frozen, else as it would be made today.
std::string marker_for(const Post& post, const std::string& mac_key) {
    const auto frozen = marker_of(post.body);
    if (frozen.find(fmt::format("id={} ", post.delivery_id)) != std::string_view::npos)
        return std::string(frozen);
    return marker_line(mac_key, post.delivery_id);
}

Sighting blind(std::string cause) {
    Sighting sighting;
    sighting.cause = std::move(cause);
    return sighting;
}

}  // namespace

/// The comments with the marker, or why they could not be read.
struct GithubSink::Reading {
    std::vector<GithubComment> marked;
    std::optional<Sighting> failure;
};

GithubSink::GithubSink(GithubSettings settings) : settings_(tidied(std::move(settings))) {}

std::string GithubSink::render(const Summary& summary, const std::string& delivery_id) const {
    return markdown_post(summary, marker_line(settings_.mac_key, delivery_id), max_body_characters);
}

Sighting GithubSink::find(const Post& post) {
    const auto* place = place_of(post);
    if (place == nullptr) return blind(no_place);
    if (settings_.token.empty()) {
        auto sighting = blind(no_token);
        sighting.forbidden = true;
        return sighting;
    }
    const auto until = deadline();
    auto reading = read_marked(post, *place, until);
    if (reading.failure) return *std::move(reading.failure);
    return own_of(std::move(reading.marked), until);
}

Attempt GithubSink::create(const Post& post) {
    Attempt attempt;
    const auto* place = place_of(post);
    if (place == nullptr || settings_.token.empty()) {
        attempt.answer = place == nullptr ? Answer::refused : Answer::unauthorised;
        attempt.cause = place == nullptr ? no_place : no_token;
        return attempt;
    }
    const nlohmann::json body{{"body", post.body}};
    const auto answer = send("POST", comments_url(*place),
                             body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), deadline());
    attempt = classify_github_comment(answer);
    if (attempt.answer == Answer::sent)
        if (const auto comment = read_github_comment(answer.body)) remember(comment->author);
    return attempt;
}

bool GithubSink::remove(const Post& post, const Receipt& twin) {
    const auto* place = place_of(post);
    const bool is_id =
        !twin.remote_id.empty() && twin.remote_id.find_first_not_of("0123456789") == std::string::npos;
    if (place == nullptr || !is_id || settings_.token.empty()) return false;
    const auto answer =
        send("DELETE",
             fmt::format("{}/repos/{}/issues/comments/{}", settings_.api_url, place->repo, twin.remote_id),
             {}, deadline());
    return answer.outcome == HttpOutcome::answered && (answer.status == 204 || answer.status == 404);
}

GithubSink::Deadline GithubSink::deadline() const {
    return std::chrono::steady_clock::now() + settings_.http_timeout;
}

std::string GithubSink::comments_url(const GithubTarget& place) const {
    return fmt::format("{}/repos/{}/issues/{}/comments", settings_.api_url, place.repo, place.number);
}

HttpAnswer GithubSink::send(const char* method, const std::string& url, std::string body,
                            Deadline until) const {
    HttpRequest request;
    request.method = method;
    request.url = url;
    request.headers = {"Accept: application/vnd.github+json", "Authorization: Bearer " + settings_.token,
                       "X-GitHub-Api-Version: 2022-11-28", "User-Agent: epilogue/" + settings_.version};
    if (!body.empty()) request.headers.emplace_back("Content-Type: application/json");
    request.body = std::move(body);
    request.timeout =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    request.max_answer_bytes = max_page_bytes;
    return http_.send(request);
}

GithubSink::Reading GithubSink::read_marked(const Post& post, const GithubTarget& place,
                                            Deadline until) const {
    const auto marker = marker_for(post, settings_.mac_key);
    const auto since = std::chrono::floor<std::chrono::seconds>(post.intent_at - clock_skew);
    constexpr std::size_t date_and_time = 19;  // GitHub wants whole seconds
    auto url =
        fmt::format("{}?since={}Z&per_page=100", comments_url(place), to_iso(since).substr(0, date_and_time));
    Reading reading;
    for (std::size_t page = 0; page < max_pages; ++page) {
        const auto answer = send("GET", url, {}, until);
        if (answer.outcome != HttpOutcome::answered || answer.status != 200) {
            reading.failure = github_sighting_failed(answer);
            return reading;
        }
        auto comments = read_github_comments(answer.body);
        if (!comments) {
            reading.failure = blind("200 without a readable list of comments");
            return reading;
        }
        // `since` goes by the last change: an old comment of somebody else's, edited, is in the list too.
        for (auto& comment : *comments)
            if (comment.created_at.value_or(since) >= since && holds_marker(comment.body, marker))
                reading.marked.push_back(std::move(comment));
        const auto next = next_page(answer);
        if (next.empty()) return reading;
        // Our token goes nowhere but to the API it is for.
        if (origin_of(next) != origin_of(settings_.api_url)) {
            reading.failure = blind("the next page of comments is on another host");
            return reading;
        }
        url = next;
    }
    reading.failure = blind(fmt::format("more than {} pages of comments", max_pages));
    return reading;
}

Sighting GithubSink::own_of(std::vector<GithubComment> marked, Deadline until) {
    Sighting sighting;
    sighting.looked = true;
    if (marked.empty()) return sighting;
    const auto by_id = [](const auto& a, const auto& b) { return a.id < b.id; };
    std::sort(marked.begin(), marked.end(), by_id);

    Sighting failure;
    auto me = who_am_i(until, failure);
    if (!me) return failure;
    if (me->unnamed()) me = marked.front().author;
    for (const auto& comment : marked) {
        const auto id = fmt::format("{}", comment.id);
        // Listed twice is not posted twice: the worker removes all but the first.
        if (!sighting.seen.empty() && sighting.seen.back().remote_id == id) continue;
        const bool ours = comment.author.same_as(*me) || (me->unnamed() && comment.author.unnamed());
        if (ours) sighting.seen.push_back({.remote_id = id, .remote_url = comment.url});
    }
    return sighting;
}

std::optional<GithubAuthor> GithubSink::who_am_i(Deadline until, Sighting& failure) {
    {
        const std::lock_guard lock(mutex_);
        if (me_) return me_;
    }
    const auto answer = send("GET", settings_.api_url + "/user", {}, until);
    const int status = answer.outcome == HttpOutcome::answered ? answer.status : 0;
    auto me = status == 200 ? read_github_author(answer.body) : std::nullopt;
    const bool not_told = (status == 403 || status == 404) && !github_rate_limit(answer);
    if (not_told) me = GithubAuthor{};
    if (me)
        remember(*me);
    else
        failure = github_sighting_failed(answer);
    return me;
}

void GithubSink::remember(const GithubAuthor& author) {
    const std::lock_guard lock(mutex_);
    if (!me_ || me_->unnamed()) me_ = author;
}

}  // namespace epilogue
