// The named model that [summary] llm asks. Its list of models is read, which costs nothing.
#pragma once

#include <string>

#include "base/config.h"
#include "ops/doctor/finding.h"

namespace epilogue::doctor {

/// What the API of a named model said to who asks for its models.
struct ModelVisit {
    std::string name;   ///< of the section [llm.NAME]
    std::string model;  ///< as the API calls it
    std::string cause;  ///< why it could not be asked; "": it answered
    int status = 0;
    bool is_listed = false;  ///< it has that model
};

/// Asks it within some seconds; nothing when `llm` is not among the sources.
Findings visit_model(const Config& config);
/// Pure. Never worse than a warning: posts go out without it.
Finding judge_model(const ModelVisit& visit);

}  // namespace epilogue::doctor
