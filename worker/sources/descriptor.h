// What the program knows of a summary source before it is made: its name, its settings, how to make it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/config_extensions.h"
#include "base/config_keys.h"
#include "worker/core/summary_source.h"
#include "worker/sources/agent_server_source.h"
#include "worker/sources/final_message_source.h"
#include "worker/sources/summary_notes.h"

namespace epilogue {

/// What a source that asks over the network is made with.
struct AskerSettings {
    ConfigExtensions sections;                  ///< of the configuration
    AgentServerSource::FindServer find_server;  ///< the agent server that has a conversation
    SummaryNotes* notes = nullptr;              ///< outlives what is made; null where none is needed
    /// A source was asked; what came of it, as asking_sources.h spells it. May be called from any thread.
    std::function<void(std::string_view source, std::string_view result)> asked = [](auto, auto) {};
    /// A named model was used. `cost`: in the currency of its prices. May be called from any thread.
    std::function<void(const std::string& model, std::int64_t tokens_in, std::int64_t tokens_out,
                       double cost)>
        llm_used = [](auto&&, auto, auto, auto) {};
};

/// A source's file defines one, as `const SummarySourceDescriptor& <name>_summary_source()`;
/// worker/sources/registry.cpp lists them.
struct SummarySourceDescriptor {
    std::string_view name;                     ///< in [summary] sources
    std::string_view doc;                      ///< what its words are, for the example configuration
    std::vector<ConfigSection> sections = {};  ///< of the configuration; none for a source without settings
    /// Its pure half; the registry sets the name.
    SummarySource (*make)(const ConfigExtensions& sections);
    /// Its half that asks, outside any transaction and with a deadline; null for a source that never does.
    std::unique_ptr<FinalMessageSource> (*make_asker)(const AskerSettings& settings) = nullptr;
};

}  // namespace epilogue
