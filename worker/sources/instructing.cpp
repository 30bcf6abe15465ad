#include "worker/sources/instructing.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "agent/event_list.h"
#include "agent/last_words.h"
#include "base/mutant.h"
#include "base/text.h"
#include "schemas/instruction.h"
#include "worker/sources/agent_server_source.h"

namespace epilogue {
namespace {

using agent::AgentError;
using agent::EventRef;
using std::chrono::milliseconds;
using Kind = FinalMessageReply::Kind;

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
        if (is_status(*event) && ends_answer(event->status)) aftermath.end = event->status;
        aftermath.answer.push_back(event);
    }
}

/// Reads the log back to the turn's end.
agent::AgentResult<Aftermath> aftermath_of(InstructedAgent& agent, const FinalMessageQuery& query,
                                           const std::string& ask_id) {
    Aftermath aftermath;
    std::vector<EventRef> behind;
    const auto read = agent.read_back([&](const agent::RemoteEvent& event) {
        aftermath.knows_end = event.id == query.status_event;
        if (!aftermath.knows_end) behind.push_back(std::make_shared<agent::RemoteEvent>(event));
        return !aftermath.knows_end;
    });
    if (!read) return agent::AgentFailure(read.error());
    std::ranges::reverse(behind);
    for (const EventRef& event : behind) add(event, ask_id, aftermath);
    return aftermath;
}

/// One instruction and the wait for its answer.
class Instructing {
  public:
    Instructing(InstructedAgent& agent, const FinalMessageQuery& query, const std::string& ask_id,
                const std::string& text)
        : agent_(agent), query_(query), ask_id_(ask_id), text_(text) {}

    /// The answer; looks again and again until it is there, or the time of the calls is over.
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
        if (mutant(Mutant::instruction_not_looked_for)) static_cast<void>(send());
        for (milliseconds pause = first_pause;; pause = std::min(pause * 2, longest_pause)) {
            const auto aftermath = aftermath_of(agent_, query_, ask_id_);
            if (!aftermath) return reply_of(aftermath.error());
            if (aftermath->has_instruction) may_be_on_its_way_ = false;
            if (auto reply = reply_to(*aftermath)) return std::move(*reply);
            if (auto reply = act(*aftermath)) return std::move(*reply);
            if (agent_.is_stopped_within(pause)) return {Kind::stopped, "", "the worker stops"};
        }
    }

    /// nullopt: there is no answer yet.
    static std::optional<FinalMessageReply> reply_to(const Aftermath& aftermath) {
        if (!aftermath.knows_end) return went_on("its server knows no such end");
        const bool is_careful = !mutant(Mutant::instruction_behind_another_turn);
        if (aftermath.has_other_message && is_careful) return went_on("a person has written to it");
        if (aftermath.has_work && is_careful) return went_on("its log goes on");
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
        const auto hindered = agent_.hindrance();
        if (!hindered) return reply_of(hindered.error());
        if (!hindered->empty()) return went_on(*hindered);
        is_sent_ = true;
        const auto sent = agent_.send(text_ + "\n\n" + instruction_mark(ask_id_));
        if (sent) return std::nullopt;
        // What may have arrived is looked for, and not sent again by this worker.
        const auto kind = sent.error().kind;
        may_be_on_its_way_ = sent.error().maybe_done || kind == AgentError::Kind::closed ||
                             kind == AgentError::Kind::timed_out;
        return may_be_on_its_way_ && kind != AgentError::Kind::closed ? std::nullopt
                                                                      : std::optional(reply_of(sent.error()));
    }

    std::optional<FinalMessageReply> let_run() const {
        const auto run = agent_.run();
        if (run || run.error().kind == AgentError::Kind::busy || run.error().maybe_done) return std::nullopt;
        return reply_of(run.error());
    }

    static constexpr int patience = 3;  ///< looks at an instruction before its run is asked for

    InstructedAgent& agent_;
    const FinalMessageQuery& query_;
    const std::string& ask_id_;
    const std::string& text_;
    bool is_sent_ = false;
    bool may_be_on_its_way_ = false;  ///< sent, and neither answered nor seen in the log
    int looks_at_rest_ = 0;
};

}  // namespace

bool ends_answer(std::string_view status) {
    return status == "finished" || status == "error" || status == "stuck";
}

FinalMessageReply instruct(InstructedAgent& agent, const FinalMessageQuery& query, const std::string& ask_id,
                           const std::string& text) {
    return Instructing(agent, query, ask_id, text).run();
}

}  // namespace epilogue
