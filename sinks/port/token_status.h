// What a platform tells about one of our tokens when it is asked, by reads alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace epilogue {

enum class TokenState {
    missing,      ///< none is set
    unreachable,  ///< the platform could not be asked
    refused,      ///< the platform takes it for none of its own
    accepted,
};

/// Whether a token may do something; unknown: the platform does not tell of this kind of token.
enum class Permission { yes, no, unknown };

/// What becomes of a post that may have been made: a sink that cannot look says here what it does.
enum class InDoubt { looks, parks, sends_again };

struct TokenStatus {
    std::string setting;  ///< "[github] token", "[slack.teams.T1] token"
    TokenState state = TokenState::missing;
    std::string identity = {};                            ///< who it makes us; empty: not told
    std::optional<std::vector<std::string>> scopes = {};  ///< nullopt: not told
    Permission post = Permission::unknown;
    Permission look_up = Permission::unknown;
    InDoubt in_doubt = InDoubt::looks;
    bool is_asked = true;     ///< false: the settings alone tell its state
    std::string needed = {};  ///< for people: the scopes that would do
    std::string cause = {};   ///< why it is unreachable or refused
};

}  // namespace epilogue
