// A GitHub App as the fake platform knows it: where it is installed, the tokens it was given, the JWTs it
// showed.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/instant.h"
#include "ops/fake_platform/http_messages.h"

namespace epilogue::fake_platform {

struct GithubApp {
    struct Installation {
        std::string account;  ///< its login
        bool suspended = false;
        std::vector<std::string> repositories = {};  ///< that it may use, by name; none: all of the account
    };
    struct Token {
        std::int64_t installation = 0;
        Instant given_at{};
        Instant ends{};
        bool revoked = false;
    };
    struct SeenJwt {
        Instant at{};
        std::string text;
    };

    std::int64_t id = 0;  ///< 0: there is no App, and any token will do
    std::string slug = "epilogue-bot";
    std::chrono::seconds lifetime = std::chrono::hours{1};  ///< of tokens
    std::map<std::int64_t, Installation> installations;
    std::map<std::string, Token> tokens;  ///< all that were given
    std::vector<SeenJwt> jwts;            ///< shown and accepted, by claims; their signatures are not checked

    /// What it posts as.
    std::string login() const { return slug + "[bot]"; }
};

/// The answer to a request that an App makes in its own name; nullopt when the path is none of those.
std::optional<Reply> serve_github_app(const Request& request, GithubApp& app, Instant now);

/// Why the request's token is none of an installation that may use the repository "owner/name"; nullopt: it
/// is.
std::optional<Reply> refused_by_app(const Request& request, const std::string& repository,
                                    const GithubApp& app, Instant now);

}  // namespace epilogue::fake_platform
