#include "ops/fake_platform/github_app.h"

#include <algorithm>

#include <nlohmann/json.hpp>
#include <sodium.h>

#include "base/text.h"

namespace epilogue::fake_platform {
namespace {

using Json = nlohmann::json;

Reply answer(int status, const Json& body) {
    return json_reply(status, body.dump());
}

Reply refusal(int status, const std::string& message) {
    return answer(status, {{"message", message}, {"documentation_url", "https://docs.github.com/rest"}});
}

std::string bearer_of(const Request& request) {
    constexpr std::string_view scheme = "Bearer ";
    const std::string credential = header_of(request, "authorization");
    return credential.starts_with(scheme) ? credential.substr(scheme.size()) : "";
}

std::string from_base64url(std::string_view text) {
    std::string bytes(text.size(), '\0');
    std::size_t size = 0;
    const int fault =
        sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(),
                          text.size(), nullptr, &size, nullptr, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    bytes.resize(fault == 0 ? size : 0);
    return bytes;
}

/// What GitHub says of a JWT whose claims it does not take; nullopt when it takes them.
std::optional<Reply> refused_jwt(const std::string& jwt, const GithubApp& app, Instant now) {
    constexpr std::int64_t longest = 600;
    const auto parts = split(jwt, '.');
    const Json claims = parts.size() == 3 ? Json::parse(from_base64url(parts[1]), nullptr, false) : Json();
    if (!claims.is_object()) return refusal(401, "A JSON web token could not be decoded");
    const auto seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
    if (claims.value("iss", "") != std::to_string(app.id))
        return refusal(401, "Issuer ('iss') claim is not the id of an App");
    if (claims.value("iat", seconds + 1) > seconds)
        return refusal(401,
                       "'Issued at' claim ('iat') must be an Integer representing the time that the "
                       "assertion was issued");
    const std::int64_t ends = claims.value("exp", std::int64_t{0});
    if (ends <= seconds) return refusal(401, "'Expiration time' claim ('exp') must be in the future");
    if (ends > seconds + longest)
        return refusal(401, "'Expiration time' claim ('exp') is too far in the future");
    return std::nullopt;
}

bool may_use(const GithubApp::Installation& installation, const std::string& repository) {
    const auto parts = split(repository, '/');
    const auto& chosen = installation.repositories;
    return lowered(parts.at(0)) == lowered(installation.account) &&
           (chosen.empty() || std::find(chosen.begin(), chosen.end(), parts.at(1)) != chosen.end());
}

Reply first_installation(const GithubApp& app,
                         const std::function<bool(const GithubApp::Installation&)>& is_wanted) {
    for (const auto& [id, installation] : app.installations)
        if (is_wanted(installation))
            return answer(200,
                          {{"id", id}, {"app_id", app.id}, {"account", {{"login", installation.account}}}});
    return refusal(404, "Not Found");
}

Reply new_token(std::int64_t id, GithubApp& app, Instant now) {
    const auto found = app.installations.find(id);
    if (found == app.installations.end()) return refusal(404, "Integration not found");
    if (found->second.suspended) return refusal(403, "This installation has been suspended");
    const std::string token = "ghs_" + std::to_string(id) + "_" + std::to_string(app.tokens.size() + 1);
    const Instant ends = std::chrono::floor<std::chrono::seconds>(now + app.lifetime);
    app.tokens[token] = {id, now, ends};
    return answer(201, {{"token", token},
                        {"expires_at", to_iso(ends).substr(0, 19) + "Z"},
                        {"permissions", {{"issues", "write"}, {"pull_requests", "write"}}}});
}

}  // namespace

std::optional<Reply> serve_github_app(const Request& request, GithubApp& app, Instant now) {
    const auto at = split(request.path, '/');
    const bool asks = request.method == "GET";
    const bool is_app = at.size() == 2 && at[1] == "app" && asks;
    const bool is_token =
        at.size() == 5 && at[1] == "app" && at[4] == "access_tokens" && request.method == "POST";
    const bool is_place = asks && at.back() == "installation";
    if (!is_app && !is_token && !is_place) return std::nullopt;
    const std::string jwt = bearer_of(request);
    if (auto refused = refused_jwt(jwt, app, now)) return refused;
    app.jwts.push_back({now, jwt});
    if (is_app)
        return answer(200, {{"id", app.id},
                            {"slug", app.slug},
                            {"permissions", {{"issues", "write"}, {"pull_requests", "write"}}}});
    if (is_token) return new_token(std::stoll(at[3]), app, now);
    if (at.size() == 5 && at[1] == "repos")
        return first_installation(
            app, [&](const auto& installation) { return may_use(installation, at[2] + "/" + at[3]); });
    return first_installation(app, [&](const auto& installation) {
        return at.size() == 4 && lowered(at[2]) == lowered(installation.account);
    });
}

std::optional<Reply> refused_by_app(const Request& request, const std::string& repository,
                                    const GithubApp& app, Instant now) {
    const auto token = app.tokens.find(bearer_of(request));
    if (token == app.tokens.end() || token->second.revoked || token->second.ends <= now)
        return refusal(401, "Bad credentials");
    const auto installation = app.installations.find(token->second.installation);
    if (installation == app.installations.end()) return refusal(401, "Bad credentials");
    if (installation->second.suspended) return refusal(403, "This installation has been suspended");
    if (!may_use(installation->second, repository)) return refusal(404, "Not Found");
    return std::nullopt;
}

}  // namespace epilogue::fake_platform
