// Every sink there is, by its short name.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "sinks/port/sink.h"
#include "sinks/port/sink_settings.h"

namespace epilogue {

/// One of each sink, under the short names of contract §4. A new sink is a line in the table of registry.cpp.
std::map<std::string, std::unique_ptr<Sink>> make_sinks(const SinkSettings& settings);

}  // namespace epilogue
