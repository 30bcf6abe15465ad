#include "agent/error.h"

namespace epilogue::agent {

bool may_pass(AgentError::Kind kind) {
    return kind == AgentError::Kind::unreachable || kind == AgentError::Kind::timed_out ||
           kind == AgentError::Kind::server_error || kind == AgentError::Kind::busy ||
           kind == AgentError::Kind::overloaded;
}

std::string_view name_of(AgentError::Kind kind) {
    switch (kind) {
        case AgentError::Kind::unreachable:
            return "unreachable";
        case AgentError::Kind::unauthorised:
            return "unauthorised";
        case AgentError::Kind::not_found:
            return "not_found";
        case AgentError::Kind::busy:
            return "busy";
        case AgentError::Kind::overloaded:
            return "overloaded";
        case AgentError::Kind::invalid:
            return "invalid";
        case AgentError::Kind::unsupported:
            return "unsupported";
        case AgentError::Kind::server_error:
            return "server_error";
        case AgentError::Kind::timed_out:
            return "timed_out";
        case AgentError::Kind::closed:
            return "closed";
    }
    return "unknown";
}

}  // namespace epilogue::agent
