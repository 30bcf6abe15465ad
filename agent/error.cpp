#include "agent/error.h"

#include "base/enum_names.h"

namespace epilogue::agent {
namespace {

constexpr EnumNames<AgentError::Kind, 10> kind_names{{"unreachable", "unauthorised", "not_found", "busy",
                                                      "overloaded", "invalid", "unsupported", "server_error",
                                                      "timed_out", "closed"}};
static_assert(kind_names.ends_with(AgentError::Kind::closed));

}  // namespace

bool may_pass(AgentError::Kind kind) {
    return kind == AgentError::Kind::unreachable || kind == AgentError::Kind::timed_out ||
           kind == AgentError::Kind::server_error || kind == AgentError::Kind::busy ||
           kind == AgentError::Kind::overloaded;
}

std::string_view name_of(AgentError::Kind kind) {
    return kind_names.of(kind);
}

}  // namespace epilogue::agent
