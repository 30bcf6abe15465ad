#include "worker/sources/llm_request.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/bounded_json.h"
#include "base/json_text.h"
#include "base/redacted.h"
#include "base/text.h"

namespace epilogue {
namespace {

using Json = nlohmann::json;
using Kind = FinalMessageReply::Kind;

constexpr std::size_t max_answer_bytes = std::size_t{1} << 20U;
constexpr std::size_t longest_cause = 300;

FinalMessageReply without_words(Kind kind, std::string cause) {
    FinalMessageReply reply{kind, "", std::move(cause)};
    reply.is_spent = true;
    return reply;
}

const Json& member(const Json& json, const char* name) {
    static const Json none;
    const auto found = json.is_object() ? json.find(name) : json.end();
    return json.is_object() && found != json.end() ? *found : none;
}

std::string text_of(const Json& json) {
    return json.is_string() ? json.get<std::string>() : "";
}

/// A message's content: text, or the text parts of a list.
std::string content_of(const Json& message) {
    const Json& content = member(message, "content");
    if (!content.is_array()) return text_of(content);
    std::string text;
    for (const Json& part : content) text += text_of(member(part, "text"));
    return text;
}

std::int64_t count_in(const Json& usage, const char* name) {
    constexpr std::int64_t most = 1'000'000'000;
    const Json& count = member(usage, name);
    if (!count.is_number_unsigned()) return 0;
    return static_cast<std::int64_t>(std::min<std::uint64_t>(count.get<std::uint64_t>(), most));
}

std::optional<LlmSpending> usage_in(const Json& json, const LlmModel& model) {
    const Json& usage = member(json, "usage");
    if (!usage.is_object()) return std::nullopt;
    LlmSpending used{1, count_in(usage, "prompt_tokens"), count_in(usage, "completion_tokens"), 0};
    if (used.tokens_in + used.tokens_out == 0) return std::nullopt;
    used.cost = cost_of(model, used.tokens_in, used.tokens_out);
    return used;
}

/// The reply to an answer of the API that is a completion.
FinalMessageReply reply_to(const Json& json) {
    const Json& choices = member(json, "choices");
    if (!choices.is_array() || choices.empty())
        return without_words(Kind::refused, "the answer has no choice");
    const Json& choice = choices.front();
    const Json& message = member(choice, "message");
    const std::string end = text_of(member(choice, "finish_reason"));
    if (!text_of(member(message, "refusal")).empty() || end == "content_filter")
        return without_words(Kind::refused, "the model refuses");
    std::string words = content_of(message);
    if (trimmed(words).empty()) return without_words(Kind::refused, "the answer is empty");
    if (end == "length" || words.size() > max_llm_words)
        return without_words(Kind::refused, "the answer is too long");
    return {Kind::confirmed, std::move(words), ""};
}

}  // namespace

HttpRequest completion_request(const LlmModel& model, const LlmPrompt& prompt,
                               std::chrono::milliseconds within, std::stop_token stop) {
    Json body{
        {"model", model.model},
        {"messages",
         {{{"role", "system"}, {"content", prompt.system}}, {{"role", "user"}, {"content", prompt.user}}}},
        {"stream", false}};
    body[model.limit_name] = model.max_tokens;
    HttpRequest request;
    request.method = "POST";
    request.url = model.base_url + "/chat/completions";
    request.headers = {"Content-Type: application/json", "Accept: application/json"};
    if (!model.api_key.empty()) request.headers.push_back("Authorization: Bearer " + model.api_key.reveal());
    request.body = json_line(body);
    request.timeout = within;
    request.max_answer_bytes = max_answer_bytes;
    request.stop = std::move(stop);
    return request;
}

Completion completion_of(const HttpAnswer& answer, const LlmModel& model) {
    if (answer.outcome == HttpOutcome::not_sent)
        return {without_words(Kind::unreachable, answer.cause), LlmSpending{}};
    if (answer.outcome == HttpOutcome::uncertain)
        return {without_words(answer.timed_out ? Kind::late : Kind::unreachable, answer.cause), std::nullopt};
    constexpr int ok = 200;
    const Json json = parse_json(answer.body);
    if (answer.status != ok) {
        // The text of an error may repeat a part of what was sent.
        const std::string said =
            redacted_prefix(text_of(member(member(json, "error"), "code")), longest_cause);
        return {without_words(Kind::refused,
                              fmt::format("HTTP {}{}{}", answer.status, said.empty() ? "" : ": ", said)),
                LlmSpending{}};
    }
    if (!json.is_object()) return {without_words(Kind::refused, "the answer is no JSON"), std::nullopt};
    return {reply_to(json), usage_in(json, model)};
}

std::int64_t cost_of(const LlmModel& model, std::int64_t tokens_in, std::int64_t tokens_out) {
    // A price for a million tokens is millionths for one.
    return std::llround(model.price_in * static_cast<double>(tokens_in) +
                        model.price_out * static_cast<double>(tokens_out));
}

}  // namespace epilogue
