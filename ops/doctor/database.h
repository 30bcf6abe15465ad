// MySQL or MariaDB: tables, rights, settings, clock; and what our rows tell the other checks. Writes nothing.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "base/config.h"
#include "ops/doctor/broker.h"
#include "ops/doctor/finding.h"
#include "sinks/processor.h"

namespace epilogue::doctor {

/// Callbacks that wait, of one sink.
struct Watching {
    std::int64_t callbacks = 0;
    std::optional<Processor> newest;  ///< where one of them posts to
};

struct DatabaseVisit {
    Findings findings;
    bool has_tables = false;
    StoredPositions positions;
    std::map<std::string, Watching> watching;  ///< by sink
};

/// Asks the database; gives up on one that does not answer within some seconds.
DatabaseVisit visit_database(const Config& config);

/// The server's variables, by name.
using Variables = std::map<std::string, std::string>;
/// What the server's settings mean for what is promised. Pure.
Findings judge_variables(const Variables& variables);
/// Whether the server is new enough: `version` as it says it. Pure.
Finding judge_version(const std::string& version);
/// Whether the two clocks go together: the database's time minus ours, and how long asking took. Pure.
Finding judge_clock(std::chrono::microseconds ahead, std::chrono::microseconds asking);

}  // namespace epilogue::doctor
