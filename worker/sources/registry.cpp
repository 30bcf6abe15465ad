#include "worker/sources/registry.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "worker/sources/asking_sources.h"
#include "worker/sources/llm_prompt.h"
#include "worker/sources/llm_section.h"
#include "worker/sources/summary_section.h"

// clang-format off: a line a source, and adding one changes no other line.
#define EPILOGUE_SUMMARY_SOURCES(SOURCE) \
    SOURCE(final)                        \
    SOURCE(ask_agent)                    \
    SOURCE(instruct)                     \
    SOURCE(llm)                          \
    SOURCE(digest)

// clang-format on

namespace epilogue {

// Defined in worker/sources/<name>.cpp.
#define EPILOGUE_DECLARE_SOURCE(name) const SummarySourceDescriptor& name##_summary_source();
EPILOGUE_SUMMARY_SOURCES(EPILOGUE_DECLARE_SOURCE)

namespace {

ConfigKind language_key() {
    std::vector<std::string_view> names;
    for (const Language language : all_languages()) names.push_back(name_of(language));
    return one_of(std::move(names), 0, [](Config& config, std::size_t position) {
        config.extensions.edit<SummarySection>().language = all_languages().at(position);
    });
}

/// The sources; `llm` among them needs a model.
ConfigKind sources_key(std::vector<std::string_view> names) {
    ConfigKind kind = some_of(place(&SummarySection::sources), std::move(names));
    kind.resolve = [](Config& config, const Environment&) -> Problem {
        const auto& summary = config.extensions.get<SummarySection>();
        if (std::ranges::find(summary.sources, "llm") == summary.sources.end() || !summary.llm.empty())
            return {};
        return Complaint("llm is among them: set [summary] llm to the name of a model, [llm.NAME]");
    };
    return kind;
}

ConfigKind llm_key() {
    ConfigKind kind = any_text(place(&SummarySection::llm));
    kind.resolve = [](Config& config, const Environment&) -> Problem {
        const auto& name = config.extensions.get<SummarySection>().llm;
        const auto& models = config.extensions.get<LlmSection>().models;
        if (name.empty() || models.contains(name)) return {};
        std::vector<std::string_view> names;
        for (const auto& [known, model] : models) names.push_back(known);
        return fmt::format("there is no section [llm.{}]{}", name, did_you_mean(name, names));
    };
    return kind;
}

constexpr int most_a_day = 1'000'000;

ConfigSection summary_section() {
    std::vector<std::string_view> names;
    std::vector<std::string_view> docs;
    for (const auto* source : summary_source_descriptors()) {
        names.push_back(source->name);
        docs.push_back(source->doc);
    }
    static const std::string template_doc =
        fmt::format("A file with what llm is asked, with any of {{{}}}; \"\": our own.",
                    fmt::join(llm_placeholders(), "} {"));
    static const std::string order = fmt::format("Tried in this order: {}.", fmt::join(docs, ", "));
    return {
        "summary",
        "What is said about a turn.",
        {
            {"sources", sources_key(std::move(names)), order},
            {"deadline_s", number(place(&SummarySection::deadline), 1, 3600),
             "How long a post waits at most for all sources together; those that ask share it."},
            {"question_file", text_file(place(&SummarySection::question_file)),
             "A file with what ask_agent asks; \"\": our own question for a summary in under 200 words."},
            {"questions_per_day", number(place(&SummarySection::questions_per_day), 0, most_a_day),
             "How many questions of ask_agent all workers together may ask in a day, by UTC; 0: no limit."},
            {"instruction_file", text_file(place(&SummarySection::instruction_file)),
             "A file with what instruct writes to the agent; \"\": our own instruction, which asks the "
             "same."},
            {"instructions_per_day", number(place(&SummarySection::instructions_per_day), 0, most_a_day),
             "How many instructions of instruct all workers together may send in a day, by UTC; 0: no "
             "limit."},
            {"llm", llm_key(), "The model of the source llm: NAME of a section [llm.NAME]."},
            {"llm_template_file", text_file(place(&SummarySection::llm_template_file), llm_placeholders()),
             template_doc},
            {"web_url", optional_url(place(&SummarySection::web_url)),
             "e.g. https://app.example.com/conversations/{conversation_id}: adds a link under the summary."},
            {"language", language_key(),
             "Of our own words in a post: English or German. The agent's words stay as they are."},
            {"figures", flag(place(&SummarySection::figures)),
             "Whether a post ends with what the turn took: time, steps, tokens and cost."},
        }};
}

/// Those that [summary] names, in its order, and the one that always succeeds.
std::vector<const SummarySourceDescriptor*> chosen(const ConfigExtensions& sections) {
    std::vector<const SummarySourceDescriptor*> sources;
    const auto add = [&](std::string_view name) {
        const auto& all = summary_source_descriptors();
        const auto found = std::ranges::find(all, name, &SummarySourceDescriptor::name);
        if (found != all.end()) sources.push_back(*found);
    };
    const auto& names = sections.get<SummarySection>().sources;
    const auto& last = digest_summary_source();
    std::ranges::for_each(names, add);
    if (std::ranges::find(names, last.name) == names.end()) sources.push_back(&last);
    return sources;
}

}  // namespace

const std::vector<const SummarySourceDescriptor*>& summary_source_descriptors() {
#define EPILOGUE_SOURCE_ROW(name) &name##_summary_source(),
    static const std::vector<const SummarySourceDescriptor*> all{
        EPILOGUE_SUMMARY_SOURCES(EPILOGUE_SOURCE_ROW)};
    return all;
}

std::vector<ConfigSection> summary_sections() {
    std::vector<ConfigSection> sections{summary_section()};
    for (const auto* source : summary_source_descriptors())
        sections.insert(sections.end(), source->sections.begin(), source->sections.end());
    return sections;
}

SummaryRules summary_rules(const ConfigExtensions& sections) {
    SummaryRules rules;
    for (const auto* descriptor : chosen(sections)) {
        rules.sources.push_back(descriptor->make(sections));
        rules.sources.back().name = descriptor->name;
    }
    const auto& section = sections.get<SummarySection>();
    rules.web_url = section.web_url;
    rules.language = section.language;
    rules.figures = section.figures;
    return rules;
}

std::unique_ptr<FinalMessageSource> make_asking_sources(const AskerSettings& settings) {
    std::vector<AskingSources::Entry> entries;
    for (const auto* descriptor : chosen(settings.sections)) {
        AskingSources::Entry entry{std::string(descriptor->name), nullptr};
        if (descriptor->make_asker != nullptr) entry.asker = descriptor->make_asker(settings);
        entries.push_back(std::move(entry));
    }
    return std::make_unique<AskingSources>(std::move(entries), settings.asked);
}

}  // namespace epilogue
