// By what right we speak to GitHub: a token, or an App that is installed where we post. (docs/decisions/0027)
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/instant.h"
#include "base/jwt.h"
#include "base/result.h"
#include "sinks/github/github_target.h"
#include "sinks/port/expiring_tokens.h"
#include "sinks/port/http_api.h"
#include "sinks/port/sink.h"

namespace epilogue {

struct GithubApp {
    std::int64_t id = 0;
    JwtKey key;
};

/// Thread-safe; outlives its dialogues. An App's installations and their tokens are asked for by the posts
/// and look-ups that need them, and kept for all others.
class GithubAccess {
  public:
    /// What GitHub answered; or the end of an attempt for which there was no right, before it was made.
    using Answered = tl::expected<HttpAnswer, Attempt>;

    /// `api` outlives it. Neither a token nor an App: nothing is ever asked.
    GithubAccess(const HttpApi& api, std::string token, std::optional<GithubApp> app,
                 std::function<Instant()> now);

    /// Neither token nor App.
    bool is_missing() const { return token_.empty() && !app_; }
    bool is_app() const { return app_.has_value(); }

    /// What the ledger knows our right at the place by, before it is hashed. An App is installed once for an
    /// account: its installation is the owner's.
    std::string credential_at(const GithubTarget& place) const;
    /// Where that is configured, for people.
    std::string setting_at(const GithubTarget& place) const;

    /// The answer to `request`, which has no Authorization yet. An installation's token that is refused is
    /// renewed once.
    Dialogue<Answered> ask(HttpRequest request, GithubTarget place);

    /// The answer to GET of `path` in the name of the App itself; with a token, in its name.
    Dialogue<HttpAnswer> ask_of_us(std::string path);

  private:
    using Token = tl::expected<std::string, Attempt>;
    using Installation = tl::expected<std::int64_t, Attempt>;

    /// A request in the App's name, for a GitHub whose clock is `ahead` of ours.
    HttpRequest as_app(const char* method, const std::string& path, std::string body, Micros ahead) const;
    /// The answer to a request in the App's name. When GitHub refuses it and its clock is another than ours,
    /// it is made once more, by that clock.
    Dialogue<HttpAnswer> ask_as_app(const char* method, std::string path, std::string body = {});
    Micros ahead() const;
    void set_ahead(Micros ahead);
    /// A token for the place other than `refused`, which is "" or what GitHub has just refused.
    Dialogue<Token> token_at(GithubTarget place, std::string refused);
    /// The place's installation, as far as it is known without asking.
    std::optional<std::int64_t> known_at(const GithubTarget& place) const;
    Dialogue<Installation> installation_at(GithubTarget place);
    /// That GitHub knows no installation for the repository: the account may have one for others of its own.
    Dialogue<Attempt> why_not_installed(GithubTarget place);

    const HttpApi& api_;
    const std::string token_;
    const std::optional<GithubApp> app_;
    const std::function<Instant()> now_;
    ExpiringTokens tokens_;
    mutable std::mutex mutex_;
    std::map<std::string, std::int64_t> installations_;  // of an owner, in lower case, as GitHub said
    Micros ahead_{0};                                    // GitHub's clock, of ours
};

}  // namespace epilogue
