// Points in time, always UTC, in microseconds: what Kafka, MySQL and the events can all say.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace epilogue {

using Micros = std::chrono::microseconds;
using Instant = std::chrono::time_point<std::chrono::system_clock, Micros>;

/// The machine's own time.
Instant system_now();

/// "2026-11-21T08:13:42.407602Z".
std::string to_iso(Instant at);

/// "2026-11-21 08:13:42.407602", as DATETIME(6) takes it.
std::string to_sql(Instant at);

/// Reads "YYYY-MM-DD[T ]hh:mm:ss[.f…][Z|±hh:mm]"; a time without zone is taken as UTC; digits past the
/// microsecond are cut. nullopt when the text has another form or names no real time.
std::optional<Instant> parse_instant(std::string_view text);

}  // namespace epilogue
