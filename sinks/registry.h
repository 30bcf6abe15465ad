// Every sink there is, by its short name.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/config_keys.h"
#include "sinks/port/sink.h"
#include "sinks/port/sink_settings.h"

namespace epilogue {

struct SinkDescriptor;

/// All of them, in the order of the example configuration. A new sink is a line in the table of registry.cpp.
const std::vector<const SinkDescriptor*>& sink_descriptors();

/// Their sections of the configuration, to be handed to ConfigSchema.
std::vector<ConfigSection> sink_sections();

/// One of each sink, under its short name.
std::map<std::string, std::unique_ptr<Sink>> make_sinks(const SinkSettings& settings);

}  // namespace epilogue
