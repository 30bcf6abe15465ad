#include "worker/sources/llm_section.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/text.h"

namespace epilogue {
namespace {

constexpr std::string_view sample = R"(# [llm.fast]
# base_url = "https://api.example.com/v1"  # chat completions as OpenAI defines them are below it
# model = "some-model"
# api_key = "env:LLM_API_KEY"
# max_tokens = 600            # of an answer; a longer one is not taken
# context_tokens = 12000      # of the question, at most
# limit_name = "max_tokens"   # what the API calls it: or "max_completion_tokens"
# price_in = 0.0              # for a million tokens of questions, in any currency
# price_out = 0.0             # for a million tokens of answers
# tokens_per_day = 2000000    # of all workers together, by UTC; 0: no limit
# cost_per_day = 0.0          # likewise, in the currency of the prices
)";

LlmModel& model_of(Config& config, const std::string& name) {
    return config.extensions.edit<LlmSection>().models[name];
}

/// A number that is not negative, written with a point or without.
ConfigKind amount(ConfigPlace<double> place) {
    ConfigKind kind;
    kind.expected = "a number from 0 to 1000000";
    kind.read = [=, expected = kind.expected](Config& config, const ConfigValue& value) -> Problem {
        constexpr double most = 1e6;
        double number = -1;
        if (const auto* fraction = std::get_if<double>(&value.data)) number = *fraction;
        if (const auto* integer = std::get_if<std::int64_t>(&value.data))
            number = static_cast<double>(*integer);
        const bool fits = number >= 0 && number <= most;  // which NaN does not
        if (!fits) return fmt::format("expected {}, got {}", expected, described(value));
        place(config) = number;
        return {};
    };
    return kind;
}

/// The keys of one model, which read and resolve as those of a section do.
std::vector<ConfigKey> keys_of(const std::string& name) {
    const auto at = [name]<class T>(T LlmModel::*member) -> ConfigPlace<T> {
        return [name, member](Config& config) -> T& { return model_of(config, name).*member; };
    };
    constexpr std::int64_t longest_answer = 16'384;
    constexpr std::int64_t longest_question = 2'000'000;
    constexpr std::int64_t most_a_day = 1'000'000'000'000;
    static const std::vector<std::string_view> limit_names{"max_tokens", "max_completion_tokens"};
    return {
        {"base_url", required_url(at(&LlmModel::base_url)), ""},
        {"model", required_text(at(&LlmModel::model)), ""},
        {"api_key", secret(at(&LlmModel::api_key)), ""},
        {"max_tokens", number(at(&LlmModel::max_tokens), 50, longest_answer), ""},
        {"context_tokens", number(at(&LlmModel::context_tokens), 1000, longest_question), ""},
        {"limit_name",
         one_of(limit_names, 0,
                [name](Config& config, std::size_t position) {
                    model_of(config, name).limit_name = limit_names.at(position);
                }),
         ""},
        {"price_in", amount(at(&LlmModel::price_in)), ""},
        {"price_out", amount(at(&LlmModel::price_out)), ""},
        {"tokens_per_day", number(at(&LlmModel::tokens_per_day), 0, most_a_day), ""},
        {"cost_per_day", amount(at(&LlmModel::cost_per_day)), ""},
    };
}

std::vector<std::string_view> names_of(const std::vector<ConfigKey>& keys) {
    std::vector<std::string_view> names;
    for (const ConfigKey& key : keys) names.push_back(key.name);
    return names;
}

Problem read_model(Config& config, const ConfigEntry& model) {
    const auto* entries = std::get_if<ConfigValue::Table>(&model.value.data);
    if (entries == nullptr)
        return Complaint(fmt::format("{}: expected a model as a table [llm.{}], got {}", model.name,
                                     model.name, described(model.value)),
                         model.line);
    const auto keys = keys_of(model.name);
    for (const ConfigEntry& entry : *entries) {
        const auto key = std::ranges::find(keys, entry.name, &ConfigKey::name);
        if (key == keys.end())
            return Complaint(fmt::format("{}.{}: unknown key{}", model.name, entry.name,
                                         did_you_mean(entry.name, names_of(keys))),
                             entry.line);
        if (auto problem = key->kind.read(config, entry.value))
            return Complaint(fmt::format("{}.{}: {}", model.name, entry.name, problem->text), entry.line);
    }
    const LlmModel& read = model_of(config, model.name);
    if (read.base_url.empty() || read.model.empty())
        return Complaint(
            fmt::format("{}: {} is missing", model.name, read.base_url.empty() ? "base_url" : "model"),
            model.line);
    if (read.cost_per_day > 0 && read.price_in + read.price_out <= 0)
        return Complaint(fmt::format("{}: cost_per_day needs price_in and price_out", model.name),
                         model.line);
    return {};
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

/// EPILOGUE_LLM_<NAME>_API_KEY, of a model that the file has: the one key that is better not in a file.
bool read_key_of_model(Config& config, std::string_view rest, const std::string& value) {
    constexpr std::string_view end = "_API_KEY";
    if (!rest.ends_with(end)) return false;
    const std::string name = lower(rest.substr(0, rest.size() - end.size()));
    for (auto& [known, model] : config.extensions.edit<LlmSection>().models) {
        if (lower(known) != name) continue;
        model.api_key = Secret(value);
        return true;
    }
    return false;
}

ConfigKind models() {
    ConfigKind kind;
    kind.written = ConfigKind::Written::table;
    kind.expected = "tables [llm.<name>]";
    kind.sample = sample;
    kind.read = [](Config& config, const ConfigValue& value) -> Problem {
        const auto* entries = std::get_if<ConfigValue::Table>(&value.data);
        if (entries == nullptr) return Complaint("expected tables [llm.<name>]");
        config.extensions.edit<LlmSection>().models.clear();
        for (const ConfigEntry& model : *entries)
            if (auto problem = read_model(config, model)) return problem;
        return {};
    };
    kind.resolve = [](Config& config, const Environment& environment) -> Problem {
        for (const auto& [name, model] : config.extensions.get<LlmSection>().models)
            for (const ConfigKey& key : keys_of(name))
                if (key.kind.resolve)
                    if (const auto problem = key.kind.resolve(config, environment))
                        return Complaint(fmt::format("{}.{}: {}", name, key.name, problem->text));
        return {};
    };
    kind.read_part = read_key_of_model;
    return kind;
}

}  // namespace

ConfigSection llm_section() {
    return {
        "llm",
        "Named models, for the source llm of [summary]: any OpenAI-compatible endpoint.",
        {{"", models(), "One table each, [llm.<name>]; its key may come from EPILOGUE_LLM_<NAME>_API_KEY."}}};
}

}  // namespace epilogue
