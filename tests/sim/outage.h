// A three-hour outage of the relay, of Kafka or of all workers while 500 turns are open: no post may say
// of an inactivity that was only ours, nor of a `finished` that the log takes back, and every real end is
// told.
#pragma once

#include <cstdint>
#include <string_view>

#include "tests/sim/world.h"

namespace epilogue::sim {

enum class Outage {
    relay,    ///< events reach the log, with new timestamps, when it is over
    kafka,    ///< no broker answers; the relay keeps the records, with their timestamps
    workers,  ///< all of them are dead; the log fills
};
/// Any other word is `workers`.
constexpr Outage outage_called(std::string_view name) {
    return name == "relay" ? Outage::relay : name == "kafka" ? Outage::kafka : Outage::workers;
}

/// Runs that outage; `seed` decides who does what when.
Outcome run_outage(Outage outage, std::uint64_t seed, Trace::Level trace);

}  // namespace epilogue::sim
