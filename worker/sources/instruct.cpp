// What the agent writes when it is told, in its conversation, to summarise the turn: upstream's two phases.
// Our instruction is a user message that ends with a mark (schemas/instruction.h), by which the fold leaves
// it and its answer out of all turns, and by which it is found before it is sent again.
#include <functional>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "base/bounded_json.h"
#include "base/stoppable_wait.h"
#include "base/text.h"
#include "worker/sources/descriptor.h"
#include "worker/sources/instructing.h"
#include "worker/sources/summary_section.h"

namespace epilogue {
namespace {

constexpr std::string_view our_instruction =
    "Please write a summary of the task you have just worked on, for a person who was not here, as your "
    "final message: in Markdown, in under 200 words, without a heading or a greeting. Say what the outcome "
    "is, what was changed, what failed or is still open, and what that person should do next. Do nothing "
    "else: change no file, run no command, push nothing.";

FinalMessageReply refused(std::string cause) {
    return {FinalMessageReply::Kind::refused, "", std::move(cause)};
}

/// Why the agent cannot be told anything now; "": it can.
agent::AgentResult<std::string> hindrance_of(const agent::ConversationCalls& calls) {
    const auto info = calls.info();
    if (!info) return agent::AgentFailure(info.error());
    const std::string status = agent::status_in(*info);
    if (!ends_answer(status)) return "its status is " + status;
    // A stop hook may take an end back: what the agent does then would be a turn of its own.
    const auto json = parse_json(*info);
    const auto hooks = json.is_object() ? json.find("hook_config") : json.end();
    if (hooks != json.end() && hooks->is_object())
        if (const auto stop = hooks->find("stop"); stop != hooks->end() && !stop->empty())
            return std::string("the conversation has a stop hook");
    if (status != "stuck") return std::string();
    const auto features = calls.server().features();
    if (!features) return agent::AgentFailure(features.error());
    // Such a server keeps the message, and its agent stays stuck.
    return features->final_response ? std::string() : std::string("its agent is stuck for good");
}

/// The conversation on its agent server.
class InstructedOnServer final : public InstructedAgent {
  public:
    /// `count` is asked right before the agent is told: why it may not be; "": it may.
    InstructedOnServer(const agent::ConversationCalls& calls, const std::stop_token& stop,
                       std::function<std::string()> count)
        : calls_(calls), stop_(stop), count_(std::move(count)) {}

    agent::AgentResult<void> read_back(
        const std::function<bool(const agent::RemoteEvent&)>& wants_more) override {
        return calls_.read_back(agent::ConversationCalls::Clock::time_point::max(), wants_more);
    }
    agent::AgentResult<std::string> hindrance() override {
        auto hindrance = hindrance_of(calls_);
        if (hindrance && hindrance->empty()) return count_();
        return hindrance;
    }
    agent::AgentResult<void> send(const std::string& text) override {
        return calls_.send_message(text, true);
    }
    agent::AgentResult<void> run() override { return calls_.run(); }
    bool is_stopped_within(std::chrono::milliseconds pause) override { return !wait_or_stop(stop_, pause); }

  private:
    const agent::ConversationCalls& calls_;
    const std::stop_token& stop_;
    const std::function<std::string()> count_;
};

/// What the agent is told, and how often on a day.
struct Telling {
    std::string text;
    int per_day = 0;
    SummaryNotes* notes = nullptr;
};

FinalMessageReply answer_of(const agent::ConversationCalls& calls, const FinalMessageQuery& query,
                            const Telling& telling, const std::stop_token& stop) {
    if (query.status_event.empty()) return refused("no end stands in its log");
    auto instruction = telling.notes->instruction(query.turn);
    if (!instruction) return refused(instruction.error().text);
    if (!*instruction) return refused("no callback of the turn wants it");
    InstructedOnServer told(calls, stop,
                            [&] { return count_question(telling.notes, "instruct", telling.per_day); });
    return instruct(told, query, **instruction, telling.text);
}

bool may_ask(const TurnEnd& turn) {
    const bool has_ended = turn.verdict == Verdict::finished ||
                           turn.verdict == Verdict::awaiting_user_input || turn.verdict == Verdict::error ||
                           turn.verdict == Verdict::stuck;
    return has_ended && may_have_server(turn);
}

SummarySource make_instruct(const ConfigExtensions&) {
    return {.name = {},
            .words_of = [](const TurnEnd&) -> std::optional<std::string> { return std::nullopt; },
            .may_ask = may_ask};
}

std::string text_of(const SummarySection& section) {
    if (!section.instruction_file.path.empty()) return std::string(trimmed(section.instruction_file.text));
    std::string text(our_instruction);
    if (section.language == Language::german) text += " Write it in German.";
    return text;
}

std::unique_ptr<FinalMessageSource> make_asker(const AskerSettings& settings) {
    if (settings.notes == nullptr) return nullptr;
    const auto& section = settings.sections.get<SummarySection>();
    return std::make_unique<AgentServerSource>(
        settings.find_server,
        [telling = Telling{text_of(section), section.instructions_per_day, settings.notes}](
            const agent::ConversationCalls& calls, const FinalMessageQuery& query,
            const std::stop_token& stop) { return answer_of(calls, query, telling, stop); },
        "an agent was told to summarise its turn, and its server did not let it");
}

}  // namespace

const SummarySourceDescriptor& instruct_summary_source() {
    static const SummarySourceDescriptor descriptor{
        .name = "instruct",
        .doc = "what the agent writes when it is told to summarise the turn",
        .make = make_instruct,
        .make_asker = make_asker};
    return descriptor;
}

}  // namespace epilogue
