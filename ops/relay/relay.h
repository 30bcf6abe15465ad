// `epilogue relay`: the doors by which events of agent servers come into the topic, as one process.
#pragma once

#include <stop_token>

#include "base/config.h"
#include "base/result.h"

namespace epilogue {

/// Runs until `stop`, then answers what is under way. No dependency that goes away ends it. Errors: fatal,
/// what is wrong with the configuration: an address, or a property of Kafka.
Result<void> run_relay(const Config& config, const std::stop_token& stop);

}  // namespace epilogue
