#include "agent/relay/positions.h"

namespace epilogue::relay {

std::string text_of(const LogPosition& position) {
    std::string text = std::to_string(position.next);
    if (!position.last_id.empty()) text += " behind " + position.last_id;
    return text + (position.renumbered ? " of another log" : "");
}

}  // namespace epilogue::relay
