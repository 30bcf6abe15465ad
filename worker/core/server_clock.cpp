#include "worker/core/server_clock.h"

#include <cstdlib>

#include "base/mutant.h"

namespace epilogue {
namespace {

using std::chrono::minutes;

constexpr std::chrono::seconds disorder{30};  // of events on their way
constexpr minutes zone_step{15};

minutes rounded_up(Micros difference) {
    const Micros step = zone_step;
    return zone_step * ((difference + step - Micros{1}) / step);
}

void shift(std::optional<Instant>& time, Micros by) {
    if (time) *time += by;
}

void shift(Turn& turn, Micros by) {
    shift(turn.opened_at, by);
    shift(turn.first_at, by);
    if (turn.final_message) shift(turn.final_message->at, by);
    shift(turn.digest, by.count());
}

struct ShiftTurn {
    Micros by;
    void operator()(NoTurn&) const {}
    void operator()(Open& open) const { shift(open.turn, by); }
    void operator()(Candidate& candidate) const {
        shift(candidate.turn, by);
        shift(candidate.at, by);
    }
    void operator()(AwaitingDetail& awaiting) const { shift(awaiting.turn, by); }
    void operator()(Ended& ended) const {
        if (ended.unopened) shift(ended.unopened->final_message.at, by);
    }
};

}  // namespace

minutes nearest_zone(Micros difference) {
    const Micros half = Micros{zone_step} / 2;
    const Micros step = zone_step;
    const Micros moved = difference + half;
    auto steps = moved / step;
    if (moved % step < Micros{0}) --steps;
    return zone_step * steps;
}

bool is_possible_zone(minutes zone) {
    constexpr std::chrono::hours farthest{15};
    return zone >= -farthest && zone <= farthest;
}

ClockReading read_clock(Instant own, Instant at, const Conversation& conversation) {
    const minutes known = conversation.zone.value_or(minutes{0});
    const Instant time = own - known;
    if (time > at + clocks_differ) {
        const minutes zone = known + rounded_up(time - (at + clocks_differ));
        const bool is_zone = is_possible_zone(zone) && !mutant(Mutant::zone_not_learned);
        return is_zone ? ClockReading{ClockReading::Kind::ahead, zone} : ClockReading{};
    }
    const bool is_old = conversation.newest && time + disorder < *conversation.newest;
    if (!is_old || mutant(Mutant::clock_set_back_late)) return {};
    const minutes zone = nearest_zone(own - at);
    const Micros off = own - zone - at;
    if (zone == known || !is_possible_zone(zone) || off > clocks_differ || off < -clocks_differ) return {};
    return {ClockReading::Kind::jumped, zone};
}

void shift_times(Conversation& conversation, Micros by) {
    shift(conversation.newest, by);
    shift(conversation.newest_status, by);
    if (conversation.goal) shift(conversation.goal->at, by);
    if (conversation.last) shift(conversation.last->first_at, by);
    if (conversation.early_end) conversation.early_end->at += by;
    if (conversation.early_words) shift(conversation.early_words->at, by);
    std::visit(ShiftTurn{by}, conversation.turn_state);
}

void learn_zone(Conversation& conversation, minutes zone) {
    const bool is_new = !conversation.zone.has_value();
    conversation.zone = zone;
    conversation.clock_jump.reset();
    if (!is_new || !conversation.newest || !conversation.last_event_at) return;
    if (*conversation.newest - zone <= *conversation.last_event_at + clocks_differ)
        shift_times(conversation, -Micros{zone});
}

}  // namespace epilogue
