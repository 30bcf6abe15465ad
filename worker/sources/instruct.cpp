// What the agent writes when it is told, in its conversation, to summarise the turn: upstream's two phases.
// Our instruction is a user message that ends with a mark (schemas/instruction.h), by which the fold leaves
// it and its answer out of all turns, and by which it is found before it is sent again.
#include <algorithm>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "agent/last_words.h"
#include "base/bounded_json.h"
#include "base/stoppable_wait.h"
#include "base/text.h"
#include "schemas/instruction.h"
#include "worker/sources/descriptor.h"
#include "worker/sources/summary_section.h"

namespace epilogue {
namespace {

using agent::AgentError;
using agent::EventRef;
using std::chrono::milliseconds;
using Kind = FinalMessageReply::Kind;

constexpr std::string_view our_instruction =
    "Please write a summary of the task you have just worked on, for a person who was not here, as your "
    "final message: in Markdown, in under 200 words, without a heading or a greeting. Say what the outcome "
    "is, what was changed, what failed or is still open, and what that person should do next. Do nothing "
    "else: change no file, run no command, push nothing.";

FinalMessageReply refused(std::string cause) {
    return {Kind::refused, "", std::move(cause)};
}
FinalMessageReply went_on(std::string cause) {
    return {Kind::not_confirmed, "", std::move(cause)};
}

/// What stands in a conversation's log behind the end of a turn.
struct Aftermath {
    bool knows_end = false;          ///< the turn's end was found
    bool has_instruction = false;    ///< ours
    bool has_other_message = false;  ///< a person has written
    bool has_work = false;           ///< the agent has begun to work, without our instruction
    bool is_running = false;         ///< it has begun to, behind our instruction
    std::string end = {};            ///< the first end behind our instruction: a status
    std::vector<EventRef> answer{};  ///< what stands between the two
};

bool is_status(const agent::RemoteEvent& event) {
    return event.kind == "ConversationStateUpdateEvent" && event.key == "execution_status";
}

bool is_end(std::string_view status) {
    return status == "finished" || status == "error" || status == "stuck";
}

void add(const EventRef& event, const std::string& ask_id, Aftermath& aftermath) {
    if (!aftermath.end.empty()) {
        // Behind its end another message is another turn's; our words stand.
        return;
    }
    const bool is_work = event->source == "agent" || (is_status(*event) && event->status == "running");
    if (event->kind == "MessageEvent" && event->source == "user") {
        const bool is_ours = instruction_in(agent::message_text(*event)) == ask_id;
        (is_ours ? aftermath.has_instruction : aftermath.has_other_message) = true;
    } else if (!aftermath.has_instruction) {
        aftermath.has_work = aftermath.has_work || is_work;
    } else {
        aftermath.is_running = aftermath.is_running || is_work;
        if (is_status(*event) && is_end(event->status)) aftermath.end = event->status;
        aftermath.answer.push_back(event);
    }
}

/// Reads the log back to the turn's end.
agent::AgentResult<Aftermath> aftermath_of(const agent::ConversationCalls& calls,
                                           const FinalMessageQuery& query, const std::string& ask_id) {
    Aftermath aftermath;
    std::vector<EventRef> behind;
    const auto read = calls.read_back(agent::ConversationCalls::Clock::time_point::max(),
                                      [&](const agent::RemoteEvent& event) {
                                          aftermath.knows_end = event.id == query.status_event;
                                          if (!aftermath.knows_end)
                                              behind.push_back(std::make_shared<agent::RemoteEvent>(event));
                                          return !aftermath.knows_end;
                                      });
    if (!read) return agent::AgentFailure(read.error());
    std::ranges::reverse(behind);
    for (const EventRef& event : behind) add(event, ask_id, aftermath);
    return aftermath;
}

/// Why the agent cannot be told anything now; "": it can.
agent::AgentResult<std::string> hindrance(const agent::ConversationCalls& calls) {
    const auto info = calls.info();
    if (!info) return agent::AgentFailure(info.error());
    const std::string status = agent::status_in(*info);
    if (!is_end(status)) return "its status is " + status;
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

/// One instruction and the wait for its answer.
class Instructing {
  public:
    Instructing(const agent::ConversationCalls& calls, const FinalMessageQuery& query, std::string ask_id,
                const std::string& text, const std::stop_token& stop)
        : calls_(calls), query_(query), ask_id_(std::move(ask_id)), text_(text), stop_(stop) {}

    /// The answer; looks again and again until it is there, or the time of `calls` is over.
    FinalMessageReply run() {
        FinalMessageReply reply = look_and_act();
        // What may still arrive keeps its lease: another worker would not find it yet, and send it again.
        if (reply.kind == Kind::stopped && may_be_on_its_way_) reply.kind = Kind::late;
        return reply;
    }

  private:
    FinalMessageReply look_and_act() {
        constexpr milliseconds first_pause{250};
        constexpr milliseconds longest_pause{3000};
        for (milliseconds pause = first_pause;; pause = std::min(pause * 2, longest_pause)) {
            const auto aftermath = aftermath_of(calls_, query_, ask_id_);
            if (!aftermath) return reply_of(aftermath.error());
            if (aftermath->has_instruction) may_be_on_its_way_ = false;
            if (auto reply = reply_to(*aftermath)) return std::move(*reply);
            if (auto reply = act(*aftermath)) return std::move(*reply);
            if (!wait_or_stop(stop_, pause)) return {Kind::stopped, "", "the worker stops"};
        }
    }

    /// nullopt: there is no answer yet.
    static std::optional<FinalMessageReply> reply_to(const Aftermath& aftermath) {
        if (!aftermath.knows_end) return went_on("its server knows no such end");
        if (aftermath.has_other_message) return went_on("a person has written to it");
        if (aftermath.has_work) return went_on("its log goes on");
        if (aftermath.end.empty()) return std::nullopt;
        agent::EventList list;
        list.reconcile(aftermath.answer);
        const std::string words = agent::last_words(list).value_or("");
        if (aftermath.end != "finished" || trimmed(words).empty())
            return refused("its agent ended the summary with " + aftermath.end);
        return FinalMessageReply{Kind::confirmed, words, ""};
    }

    /// The next step that is due; a reply when it failed.
    std::optional<FinalMessageReply> act(const Aftermath& aftermath) {
        if (!aftermath.has_instruction) return is_sent_ ? std::nullopt : send();
        // Kept without a run: who sent it was ended in between, or the server had no room for the run.
        if (!aftermath.is_running && ++looks_at_rest_ == patience) return let_run();
        return std::nullopt;
    }

    std::optional<FinalMessageReply> send() {
        const auto hindered = hindrance(calls_);
        if (!hindered) return reply_of(hindered.error());
        if (!hindered->empty()) return went_on(*hindered);
        is_sent_ = true;
        const auto sent = calls_.send_message(text_ + "\n\n" + instruction_mark(ask_id_), true);
        if (sent) return std::nullopt;
        // What may have arrived is looked for, and not sent again by this worker.
        const auto kind = sent.error().kind;
        may_be_on_its_way_ = sent.error().maybe_done || kind == AgentError::Kind::closed ||
                             kind == AgentError::Kind::timed_out;
        return may_be_on_its_way_ && kind != AgentError::Kind::closed ? std::nullopt
                                                                      : std::optional(reply_of(sent.error()));
    }

    std::optional<FinalMessageReply> let_run() const {
        const auto run = calls_.run();
        if (run || run.error().kind == AgentError::Kind::busy || run.error().maybe_done) return std::nullopt;
        return reply_of(run.error());
    }

    static constexpr int patience = 3;  ///< looks at an instruction before its run is asked for

    const agent::ConversationCalls& calls_;
    const FinalMessageQuery& query_;
    const std::string ask_id_;
    const std::string& text_;
    const std::stop_token& stop_;
    bool is_sent_ = false;
    bool may_be_on_its_way_ = false;  ///< sent, and neither answered nor seen in the log
    int looks_at_rest_ = 0;
};

FinalMessageReply answer_of(const agent::ConversationCalls& calls, const FinalMessageQuery& query,
                            const std::string& text, SummaryNotes& notes, const std::stop_token& stop) {
    if (query.status_event.empty()) return refused("no end stands in its log");
    auto instruction = notes.instruction(query.turn);
    if (!instruction) return refused(instruction.error().text);
    if (!*instruction) return refused("no callback of the turn wants it");
    return Instructing(calls, query, std::move(**instruction), text, stop).run();
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
    return std::make_unique<AgentServerSource>(
        settings.find_server,
        [text = text_of(settings.sections.get<SummarySection>()), notes = settings.notes](
            const agent::ConversationCalls& calls, const FinalMessageQuery& query,
            const std::stop_token& stop) { return answer_of(calls, query, text, *notes, stop); },
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
