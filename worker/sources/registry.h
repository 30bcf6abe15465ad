// Every summary source there is, and what [summary] makes of them.
#pragma once

#include <memory>
#include <vector>

#include "base/config_extensions.h"
#include "base/config_keys.h"
#include "worker/core/summarise.h"
#include "worker/sources/descriptor.h"
#include "worker/sources/final_message_source.h"

namespace epilogue {

/// All of them, in the order in which messages list them. A new source is a line in the table of
/// registry.cpp.
const std::vector<const SummarySourceDescriptor*>& summary_source_descriptors();

/// [summary] and the sections of the sources, to be handed to ConfigSchema.
std::vector<ConfigSection> summary_sections();

/// The sources that [summary] names, in its order; `digest` comes last when it does not name it.
SummaryRules summary_rules(const ConfigExtensions& sections);

/// Those among them that ask, as one: see AskingSources.
std::unique_ptr<FinalMessageSource> make_asking_sources(const AskerSettings& settings);

}  // namespace epilogue
