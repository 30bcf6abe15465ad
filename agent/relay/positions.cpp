#include "agent/relay/positions.h"

#include "agent/address.h"

namespace epilogue::relay {

std::string text_of(const LogPosition& position) {
    std::string text = std::to_string(position.next);
    if (!position.last_id.empty()) text += " behind " + position.last_id;
    return text + (position.renumbered ? " of another log" : "");
}

bool is_same_server(const std::string& one, const std::string& other) {
    const auto first = agent::parse_address(one);
    const auto second = agent::parse_address(other);
    return first && second && first->url() == second->url();
}

}  // namespace epilogue::relay
