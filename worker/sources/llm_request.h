// One chat completion of an OpenAI-compatible API: its request, and what its answer is worth.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "base/io/http.h"
#include "worker/sources/final_message_source.h"
#include "worker/sources/llm_prompt.h"
#include "worker/sources/llm_section.h"

namespace epilogue {

/// The request, without streaming, tools or more than one choice.
HttpRequest completion_request(const LlmModel& model, const LlmPrompt& prompt,
                               std::chrono::milliseconds within, std::stop_token stop);

/// Words longer than this were not asked for.
constexpr std::size_t max_llm_words = std::size_t{8} << 10U;

struct Completion {
    FinalMessageReply reply;  ///< `confirmed` when it holds words
    /// What it took, as the API counts it; nullopt: it does not say. A request that was refused took nothing.
    std::optional<LlmSpending> used;
};
/// What an answer is worth. Errors of the network, of the API, answers that are empty, too long, cut off or
/// refused make a reply without words.
Completion completion_of(const HttpAnswer& answer, const LlmModel& model);

/// What so many tokens cost, in millionths of the currency of the prices.
std::int64_t cost_of(const LlmModel& model, std::int64_t tokens_in, std::int64_t tokens_out);

}  // namespace epilogue
