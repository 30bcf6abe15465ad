// What the agent answers when its server asks it about the turn: its own LLM says it, and the conversation
// does not change by it.
#include <memory>
#include <string>

#include "worker/sources/descriptor.h"
#include "worker/sources/summary_section.h"

namespace epilogue {
namespace {

constexpr std::string_view our_question =
    "A person who was not here wants to know how the last task in this conversation went. Answer in "
    "Markdown, "
    "in under 200 words, without a heading or a greeting: what the outcome is, what was changed, what failed "
    "or is still open, and what that person should do next. Say only what this conversation shows. Do not "
    "call any tool, and do not claim to do anything now.";

/// Of turns that an agent server may have, and that its agent can look back on.
bool may_ask(const TurnEnd& turn) {
    return turn.verdict != Verdict::rejected && turn.verdict != Verdict::stopped && may_have_server(turn);
}

SummarySource make_ask_agent(const ConfigExtensions&) {
    return {.name = {},
            .words_of = [](const TurnEnd&) -> std::optional<std::string> { return std::nullopt; },
            .may_ask = may_ask};
}

std::string question_of(const SummarySection& section) {
    if (!section.question_file.path.empty()) return section.question_file.text;
    std::string question(our_question);
    if (section.language == Language::german) question += " Answer in German.";
    return question;
}

/// What is asked, and how often on a day.
struct Asking {
    std::string question;
    int per_day = 0;
    SummaryNotes* notes = nullptr;
};

/// An answer is about all that the conversation holds then, so the turn has to be its newest before and
/// after.
FinalMessageReply answer_of(const agent::ConversationCalls& calls, const FinalMessageQuery& query,
                            const Asking& asking) {
    if (auto reply = has_gone_on(calls, query)) return std::move(*reply);
    if (auto cause = count_question(asking.notes, "ask_agent", asking.per_day); !cause.empty())
        return {FinalMessageReply::Kind::refused, "", std::move(cause)};
    auto answer = calls.ask_agent(asking.question);
    if (!answer) return reply_of(answer.error());
    if (auto reply = has_gone_on(calls, query)) return std::move(*reply);
    return {FinalMessageReply::Kind::confirmed, std::move(*answer), ""};
}

std::unique_ptr<FinalMessageSource> make_asker(const AskerSettings& settings) {
    const auto& section = settings.sections.get<SummarySection>();
    return std::make_unique<AgentServerSource>(
        settings.find_server,
        [asking = Asking{question_of(section), section.questions_per_day, settings.notes}](
            const agent::ConversationCalls& calls, const FinalMessageQuery& query, const std::stop_token&) {
            return answer_of(calls, query, asking);
        },
        "an agent was asked about its conversation, and its server did not answer");
}

}  // namespace

const SummarySourceDescriptor& ask_agent_summary_source() {
    static const SummarySourceDescriptor descriptor{.name = "ask_agent",
                                                    .doc = "what the agent answers about the turn",
                                                    .make = make_ask_agent,
                                                    .make_asker = make_asker};
    return descriptor;
}

}  // namespace epilogue
