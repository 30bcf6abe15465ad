// Errors of a call to an agent server, as values.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace epilogue::agent {

struct AgentError {
    enum class Kind {
        unreachable,   ///< no connection, or one that broke
        unauthorised,  ///< the session key is missing or wrong
        not_found,     ///< no such conversation or event
        busy,          ///< 409: the conversation runs already
        overloaded,    ///< 429: the server has no room for it now; `maybe_done` when a part of it was done
        invalid,       ///< the server refuses the request as it is; `text` holds its reasons
        unsupported,   ///< this version of the server has no such operation; nothing was sent
        server_error,  ///< the server failed, or its answer makes no sense
        timed_out,     ///< no answer before the deadline
        closed,        ///< this side was closed
    };

    Kind kind = Kind::server_error;
    std::string text;  ///< for people; never holds a secret
    /// True when the request may have been carried out although no answer says so.
    bool maybe_done = false;
    int status = 0;                            ///< of the answer; 0: there was none
    std::chrono::milliseconds retry_after{0};  ///< not to be asked again before that; 0: nothing was said
};

/// Whether asking again later may help: not when the request itself or this side is what is wrong.
bool may_pass(AgentError::Kind kind);

/// The kind as a word: "unreachable", "timed_out", …
std::string_view name_of(AgentError::Kind kind);

/// A T, or an AgentError that says why not.
template <class T>
class [[nodiscard]] AgentResult : public tl::expected<T, AgentError> {
  public:
    using tl::expected<T, AgentError>::expected;
};

using AgentFailure = tl::unexpected<AgentError>;

/// A failure of that kind.
inline AgentFailure agent_failure(AgentError::Kind kind, std::string text, bool maybe_done = false) {
    return AgentFailure(AgentError{kind, std::move(text), maybe_done, 0, std::chrono::milliseconds(0)});
}

}  // namespace epilogue::agent
