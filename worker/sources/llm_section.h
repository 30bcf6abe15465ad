// [llm.NAME] of the configuration: named models, at any OpenAI-compatible endpoint.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/config_keys.h"
#include "base/secret.h"

namespace epilogue {

struct LlmModel {
    std::string base_url;  ///< of the API, such as https://api.openai.com/v1, without a slash at its end
    std::string model;     ///< as the API calls it
    Secret api_key;
    int max_tokens = 600;         ///< of an answer; a longer one is not taken
    int context_tokens = 12'000;  ///< of the question, at most, as we estimate them
    /// Under which name the API takes max_tokens: newer models of OpenAI want "max_completion_tokens".
    std::string limit_name = "max_tokens";
    double price_in = 0;                      ///< for a million tokens of questions
    double price_out = 0;                     ///< for a million tokens of answers
    std::int64_t tokens_per_day = 2'000'000;  ///< of the whole pool; 0: no limit
    double cost_per_day = 0;                  ///< in the currency of the prices, likewise
    bool operator==(const LlmModel&) const = default;
};

struct LlmSection {
    std::map<std::string, LlmModel> models;
    bool operator==(const LlmSection&) const = default;
};

/// [llm], each of whose tables is a model.
ConfigSection llm_section();

}  // namespace epilogue
