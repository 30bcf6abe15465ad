// The sinks: who their tokens make us, what they may do, and what can be promised of their posts. Reads only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ops/doctor/database.h"
#include "ops/doctor/finding.h"
#include "sinks/port/sink.h"
#include "sinks/port/transport.h"

namespace epilogue::doctor {

struct PlatformVisit {
    Findings findings;
    Guarantee guarantee;
};

/// Asks the platform about each token of `sink`; when callbacks post there, also whether one of their places
/// can be looked at. Each call gets four seconds.
PlatformVisit visit_platform(const std::string& name, Sink& sink, const Transport& transport,
                             const Watching& watching);

/// What a report means when so many callbacks wait for that sink. Pure.
Finding judge_token(const std::string& sink, const TokenStatus& report, std::int64_t callbacks);
/// What can be promised, by the tokens' reports and a trial look-up if there was one. Pure.
Guarantee guarantee_of(const std::string& sink, const std::vector<TokenStatus>& reports,
                       const std::optional<LookupResult>& trial);

}  // namespace epilogue::doctor
