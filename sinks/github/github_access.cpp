#include "sinks/github/github_access.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "sinks/github/github_answers.h"
#include "sinks/port/http_answer.h"
#include "sinks/port/json_answer.h"
#include "sinks/port/remote_post.h"

namespace epilogue {
namespace {

using namespace std::chrono_literals;

constexpr int unauthorised = 401;
constexpr int not_found = 404;

bool is(const HttpAnswer& answer, int status) {
    return answer.outcome == HttpOutcome::answered && answer.status == status;
}

std::string bearer(const std::string& token) {
    return "Authorization: Bearer " + token;
}

std::string owner_of(const GithubTarget& place) {
    return lowered(place.repo.substr(0, place.repo.find('/')));
}

/// Seconds since 1970, as JWTs have them.
std::int64_t epoch(Instant at) {
    return std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
}

/// There is no right, because a request for it got this answer. Nothing has been written yet, and what is
/// said of an installation is not said of a place.
Attempt no_right(const HttpAnswer& answer, const std::string& what) {
    Attempt attempt = classify_github_comment(answer);
    if (attempt.answer == Answer::unknown) attempt.answer = Answer::retry;
    attempt.scope_is_target = false;
    attempt.cause = what + ": " + attempt.cause;
    return attempt;
}

}  // namespace

GithubAccess::GithubAccess(const HttpApi& api, std::string token, std::optional<GithubApp> app,
                           std::function<Instant()> now)
    : api_(api), token_(std::move(token)), app_(std::move(app)), now_(std::move(now)) {}

std::string GithubAccess::credential_at(const GithubTarget& place) const {
    return app_ ? fmt::format("app {} at {}", app_->id, owner_of(place)) : token_;
}

std::string GithubAccess::setting_at(const GithubTarget& place) const {
    return app_ ? fmt::format("[github] app_id {}, installed at {}", app_->id, owner_of(place))
                : "[github] token";
}

Dialogue<GithubAccess::Answered> GithubAccess::ask(HttpRequest request, GithubTarget place) {
    std::string refused;
    for (;;) {
        auto getting = token_at(place, refused);
        const auto token = co_await getting;
        if (!token) co_return tl::unexpected(token.error());
        HttpRequest with_token = request;
        with_token.headers.push_back(bearer(*token));
        const HttpAnswer answer = co_await with_token;
        if (!app_ || !refused.empty() || !is(answer, unauthorised)) co_return answer;
        refused = *token;
    }
}

Dialogue<HttpAnswer> GithubAccess::ask_of_us(std::string path) {
    if (app_) {
        auto asking = ask_as_app("GET", path);
        co_return co_await asking;
    }
    auto request = api_.request("GET", api_.url() + path, "", bearer(token_));
    co_return co_await request;
}

Dialogue<HttpAnswer> GithubAccess::ask_as_app(const char* method, std::string path, std::string body) {
    constexpr Micros same_clock = 30s;
    for (bool is_first = true;; is_first = false) {
        const Micros assumed = ahead();
        auto request = as_app(method, path, body, assumed);
        const HttpAnswer answer = co_await request;
        if (!is_first || !is(answer, unauthorised)) co_return answer;
        const Micros told = time_of(answer) - now_();
        set_ahead(told);
        if (std::chrono::abs(told - assumed) < same_clock) co_return answer;
    }
}

Micros GithubAccess::ahead() const {
    const std::lock_guard lock(mutex_);
    return ahead_;
}

void GithubAccess::set_ahead(Micros ahead) {
    const std::lock_guard lock(mutex_);
    ahead_ = ahead;
}

/// GitHub's clock may be a minute behind ours or ahead of it: begun a minute ago, over a minute before the
/// ten that GitHub allows.
HttpRequest GithubAccess::as_app(const char* method, const std::string& path, std::string body,
                                 Micros ahead) const {
    const Instant now = now_() + ahead;
    const auto claims =
        fmt::format(R"({{"iat":{},"exp":{},"iss":"{}"}})", epoch(now - 1min), epoch(now + 9min), app_->id);
    HttpRequest request =
        api_.request(method, api_.url() + path, std::move(body), bearer(app_->key.sign(claims)));
    request.changes_nothing = true;
    return request;
}

Dialogue<GithubAccess::Token> GithubAccess::token_at(GithubTarget place, std::string refused) {
    if (!app_) co_return token_;
    for (bool is_known_gone = false;; is_known_gone = true) {
        auto id = is_known_gone ? std::nullopt : known_at(place);
        if (!id) {
            auto asking = installation_at(place);
            const auto asked = co_await asking;
            if (!asked) co_return tl::unexpected(asked.error());
            id = *asked;
        }
        auto right = tokens_.ask(fmt::format("{}", *id), refused, now_());
        if (auto* token = std::get_if<std::string>(&right)) co_return std::move(*token);
        auto* renewal = std::get_if<ExpiringTokens::Renewal>(&right);
        if (renewal == nullptr)
            co_return tl::unexpected(not_sent(Answer::retry, "another post asks for the same token"));
        auto asking = ask_as_app("POST", fmt::format("/app/installations/{}/access_tokens", *id), "{}");
        const HttpAnswer answer = co_await asking;
        if (auto made = read_github_token(answer)) {
            renewal->done(made->text, now_(), made->lifetime);
            co_return std::move(made->text);
        }
        // It may have been removed and made again: the repository knows its present one.
        if (is(answer, not_found) && !is_known_gone) continue;
        Attempt attempt = no_right(answer, fmt::format("installation {}", *id));
        if (attempt.answer == Answer::refused) attempt.answer = Answer::unauthorised;
        const std::string old = attempt.answer == Answer::retry ? renewal->put_off(now_()) : "";
        if (old.empty()) co_return tl::unexpected(attempt);
        co_return old;
    }
}

std::optional<std::int64_t> GithubAccess::known_at(const GithubTarget& place) const {
    const std::lock_guard lock(mutex_);
    const auto known = installations_.find(owner_of(place));
    return known == installations_.end() ? place.installation_id : known->second;
}

Dialogue<GithubAccess::Installation> GithubAccess::installation_at(GithubTarget place) {
    auto asking_place = ask_as_app("GET", fmt::format("/repos/{}/installation", place.repo));
    const HttpAnswer answer = co_await asking_place;
    if (is(answer, not_found)) {
        auto asking = why_not_installed(place);
        const auto attempt = co_await asking;
        co_return tl::unexpected(attempt);
    }
    const auto id = is(answer, 200) ? integer_at(parsed(answer.body), "id") : 0;
    if (id <= 0) co_return tl::unexpected(no_right(answer, "the installation at " + place.repo));
    const std::lock_guard lock(mutex_);
    installations_[owner_of(place)] = id;
    co_return id;
}

Dialogue<Attempt> GithubAccess::why_not_installed(GithubTarget place) {
    const std::string owner = owner_of(place);
    for (const char* kind : {"orgs", "users"}) {
        auto asking = ask_as_app("GET", fmt::format("/{}/{}/installation", kind, owner));
        const HttpAnswer answer = co_await asking;
        if (is(answer, not_found)) continue;
        if (!is(answer, 200)) co_return no_right(answer, "the installation at " + owner);
        Attempt left_out = no_right(answer, "");
        left_out.answer = Answer::unauthorised;
        left_out.scope_is_target = true;
        left_out.cause = fmt::format("the App is installed at {}, but not for {}", owner, place.repo);
        co_return left_out;
    }
    Attempt nowhere = not_sent(Answer::unauthorised, "the App is not installed at " + owner);
    nowhere.platform = PlatformState::answered;
    co_return nowhere;
}

}  // namespace epilogue
