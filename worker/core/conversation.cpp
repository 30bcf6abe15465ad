#include "worker/core/conversation.h"

namespace epilogue {

std::optional<Instant> due_at(const Conversation& conversation) {
    if (const auto* candidate = std::get_if<Candidate>(&conversation.turn_state)) return candidate->due;
    if (const auto* awaiting = std::get_if<AwaitingDetail>(&conversation.turn_state)) return awaiting->due;
    if (const auto* open = std::get_if<Open>(&conversation.turn_state)) return open->due;
    if (const auto* none = std::get_if<NoTurn>(&conversation.turn_state)) return none->due;
    return std::nullopt;
}

const Turn* current_turn(const Conversation& conversation) {
    if (const auto* open = std::get_if<Open>(&conversation.turn_state)) return &open->turn;
    if (const auto* candidate = std::get_if<Candidate>(&conversation.turn_state)) return &candidate->turn;
    if (const auto* awaiting = std::get_if<AwaitingDetail>(&conversation.turn_state)) return &awaiting->turn;
    return nullptr;
}

}  // namespace epilogue
