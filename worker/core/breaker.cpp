#include "worker/core/breaker.h"

#include <algorithm>
#include <climits>

#include "base/mutant.h"

namespace epilogue {
namespace {

constexpr std::size_t longest_place = 200;

/// Half of the longest probe, and a random part of the other half: pools that share a platform do not ask in
/// step.
Micros pause(double random01) {
    const auto half = std::chrono::duration_cast<Micros>(Breaker::longest_probe) / 2;
    return half + Micros(static_cast<Micros::rep>(std::clamp(random01, 0.0, 1.0) *
                                                  static_cast<double>(half.count())));
}

}  // namespace

Passage Breaker::passage(Instant now, bool is_held) const {
    if (!probe_at) return Passage::pass;
    const Instant due = is_held ? *probe_at : *probe_at + held_first;
    return due <= now ? Passage::probe : Passage::wait;
}

void Breaker::begin_probe(Instant now) {
    constexpr std::chrono::hours never{24};
    probe_at = now + (mutant(Mutant::lost_probe_not_repeated) ? Micros(never) : Micros(longest_probe));
}

void Breaker::record_failure(std::string_view where, Instant begun, Instant now, double random01) {
    where = where.substr(0, longest_place);
    if (failures == 0 && since && begun < *since) return;
    if (failures == 0) {
        place = where;
        since = begun;
    } else if (place != where) {
        place = several_places;
    }
    failures = std::min(failures, INT_MAX - 1) + 1;
    const Instant next = now + pause(random01);
    if (probe_at) {
        probe_at = std::min(*probe_at, next);
    } else if (failures >= most_failures && (place == several_places || now - *since >= alone_for) &&
               !mutant(Mutant::breaker_never_opens)) {
        probe_at = next;
    }
}

void Breaker::record_answer(Instant begun, Instant now) {
    if (failures == 0 || begun < *since) return;
    const bool was_open = is_open();
    *this = {};
    if (was_open) since = now;
}

}  // namespace epilogue
