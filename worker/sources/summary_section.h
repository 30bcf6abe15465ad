// [summary] of the configuration.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "worker/core/phrases.h"
#include "worker/sources/text_file.h"

namespace epilogue {

/// What the keys mean stands in registry.cpp, where the sources' names are known.
struct SummarySection {
    std::vector<std::string> sources{"final", "digest"};
    std::chrono::seconds deadline{120};
    TextFile question_file;     ///< of ask_agent
    int questions_per_day = 0;  ///< likewise; 0: no limit
    std::string llm;            ///< the name of a model in [llm.NAME]
    TextFile llm_template_file;
    TextFile instruction_file;
    int instructions_per_day = 0;  ///< 0: no limit
    std::string web_url;
    Language language = Language::english;
    bool figures = false;
    bool operator==(const SummarySection&) const = default;
};

}  // namespace epilogue
