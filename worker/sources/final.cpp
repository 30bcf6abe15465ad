// The agent's last words of the turn: those of the log, and those that its agent server has.
#include <memory>

#include "base/text.h"
#include "worker/sources/descriptor.h"

namespace epilogue {
namespace {

std::optional<std::string> words_in_log(const TurnEnd& turn) {
    const bool has_words = turn.final_message && !trimmed(*turn.final_message).empty();
    return has_words ? turn.final_message : std::nullopt;
}

/// Whether an agent server could know more of the turn's last words than its log.
bool may_ask(const TurnEnd& turn) {
    const bool has_words = turn.verdict == Verdict::finished || turn.verdict == Verdict::awaiting_user_input;
    return has_words && may_have_server(turn);
}

SummarySource make_final(const ConfigExtensions&) {
    return {.name = {}, .words_of = words_in_log, .may_ask = may_ask};
}

std::unique_ptr<FinalMessageSource> make_asker(const AskerSettings& settings) {
    return std::make_unique<AgentServerSource>(settings.find_server);
}

}  // namespace

const SummarySourceDescriptor& final_summary_source() {
    static const SummarySourceDescriptor descriptor{
        .name = "final", .doc = "the agent's last words", .make = make_final, .make_asker = make_asker};
    return descriptor;
}

}  // namespace epilogue
