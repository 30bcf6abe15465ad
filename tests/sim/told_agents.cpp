#include "tests/sim/told_agents.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "base/ids.h"
#include "schemas/instruction.h"
#include "tests/oracle/conversation_generator.h"
#include "tests/sim/store.h"
#include "tests/support/v1_events.h"
#include "worker/sources/instructing.h"
#include "worker/sources/summary_notes.h"

namespace epilogue::sim {

using agent::agent_failure;
using agent::AgentError;
using agent::AgentResult;
using std::chrono::milliseconds;
using std::chrono::seconds;
namespace v1 = testing::v1;

// --- the conversations

void ToldAgents::begin(std::size_t conversation, int messages, Micros at) {
    Agent& agent = agents_[ConversationId(conversations_[conversation].id)];
    agent.number = conversation;
    agent.to_come = messages;
    schedule_.at(at, [this, &agent] { write(agent); });
}

bool ToldAgents::is_busy() const {
    return std::ranges::any_of(
        agents_, [](const auto& each) { return each.second.to_come > 0 || each.second.status == "running"; });
}

ToldAgents::Agent& ToldAgents::agent_of(const ConversationId& conversation) {
    return agents_.at(conversation);
}

/// The nonce by which a post is known to be about that turn.
std::string ToldAgents::summary_of(const Agent& agent) const {
    return fmt::format("[{}t{}]", conversations_[agent.number].id, agent.turn);
}

/// Into the log and the topic; returns the event's id.
std::string ToldAgents::tell(
    Agent& agent, const std::function<std::string(std::string_view id, std::string_view stamp)>& make) {
    const ToldConversation& conversation = conversations_[agent.number];
    agent.newest = std::max(schedule_.now(), agent.newest + Micros{1});
    std::string id = fmt::format("{}-e{}", conversation.id, agent.log.size());
    std::string json = make(id, testing::stamp_of(agent.newest));
    agent.log.push_back(agent::parse_event(json).value());
    broker_.append(conversation.partition, conversation.id, std::move(json), Micros{0});
    return id;
}

void ToldAgents::change(Agent& agent, const std::string& status) {
    agent.status = status;
    tell(agent, [&](auto id, auto stamp) { return v1::status(id, stamp, status); });
}

/// The person writes, unless the agent works.
void ToldAgents::write(Agent& agent) {
    if (agent.status == "running") {
        schedule_.after(schedule_.random.between(milliseconds{200}, seconds{3}),
                        [this, &agent] { write(agent); });
        return;
    }
    --agent.to_come;
    ++agent.turn;
    agent.waits_for_run = false;
    const std::string opening = tell(agent, [](auto id, auto stamp) { return v1::user_message(id, stamp); });
    work(agent, summary_of(agent), true, opening);
}

/// A message of ours has arrived. `runs`: the server has room for the run that was asked for with it.
void ToldAgents::take(Agent& agent, const std::string& text, bool runs) {
    const std::string mark(instruction_in(text));
    schedule_.say("{} is told to summarise its turn {}", conversations_[agent.number].id, agent.turn);
    if (++agent.told[mark] > 1)
        oracle_.complain(
            fmt::format("{} was told twice to summarise a turn", conversations_[agent.number].id));
    tell(agent, [&](auto id, auto stamp) { return v1::user_message(id, stamp, text); });
    if (agent.status == "running") return;  // its answer to the person goes for both
    if (!runs) {
        change(agent, "idle");
        agent.waits_for_run = true;
        return;
    }
    work(agent, summary_of(agent) + " in our words", false, "");
}

void ToldAgents::work(Agent& agent, const std::string& words, bool is_persons, const std::string& opening) {
    change(agent, "running");
    schedule_.after(schedule_.random.between(milliseconds{50}, seconds{6}), [=, this, &agent] {
        tell(agent, [&](auto id, auto stamp) { return v1::finish_action(id, stamp, words); });
        change(agent, "finished");
        if (!is_persons) return;
        conversations_[agent.number].turns.push_back({opening, Verdict::finished, summary_of(agent)});
        if (agent.to_come > 0)
            schedule_.after(schedule_.random.between(milliseconds{100}, seconds{20}),
                            [this, &agent] { write(agent); });
    });
}

// --- the workers' way to them

/// The port's calls, until a question's deadline.
class ToldAgents::Told final : public InstructedAgent {
  public:
    Told(ToldAgents& agents, Agent& agent, Process& process, Micros until)
        : agents_(agents), agent_(agent), process_(process), until_(until) {}

    AgentResult<void> read_back(const std::function<bool(const agent::RemoteEvent&)>& wants_more) override {
        if (const auto called = call(); !called) return called;
        for (auto event = agent_.log.rbegin(); event != agent_.log.rend() && wants_more(*event);) ++event;
        return {};
    }
    AgentResult<std::string> hindrance() override {
        if (const auto called = call(); !called) return agent::AgentFailure(called.error());
        return ends_answer(agent_.status) ? "" : "its status is " + agent_.status;
    }
    /// What was sent arrives, whatever becomes of who sent it.
    AgentResult<void> send(const std::string& text) override {
        Schedule& schedule = process_.schedule();
        process_.pass(Point::agent_asked);
        if (is_over()) return late(false);
        if (schedule.faults.strikes(Fault::agent_refuses))
            return agent_failure(AgentError::Kind::server_error, "500");
        const Micros on_its_way =
            schedule.random.between(Micros{1}, std::min(Micros(seconds{3}), until_ - schedule.now()));
        const bool runs = !schedule.random.chance(0.1);
        schedule.after(on_its_way,
                       [&agents = agents_, &agent = agent_, text, runs] { agents.take(agent, text, runs); });
        if (schedule.faults.strikes(Fault::agent_hangs)) {
            process_.wait(until_ - schedule.now());
            return late(true);
        }
        process_.wait(on_its_way + Micros{1});
        process_.pass(Point::agent_answered);
        return {};
    }
    AgentResult<void> run() override {
        if (const auto called = call(); !called) return called;
        if (agent_.status == "running") return agent_failure(AgentError::Kind::busy, "it works");
        if (!agent_.waits_for_run) return {};
        agent_.waits_for_run = false;
        agents_.work(agent_, agents_.summary_of(agent_) + " in our words", false, "");
        return {};
    }
    bool is_stopped_within(milliseconds pause) override {
        process_.wait(pause);
        return false;
    }

  private:
    bool is_over() const { return process_.schedule().now() >= until_; }
    static agent::AgentFailure late(bool maybe_done) {
        return agent_failure(AgentError::Kind::timed_out, "no answer", maybe_done);
    }
    /// One that changes nothing.
    AgentResult<void> call() {
        Schedule& schedule = process_.schedule();
        process_.pass(Point::agent_asked);
        if (is_over()) return late(false);
        if (schedule.faults.strikes(Fault::agent_away))
            return agent_failure(AgentError::Kind::unreachable, "away");
        process_.wait(
            std::min(schedule.random.between(milliseconds{1}, milliseconds{200}), until_ - schedule.now()));
        if (is_over()) return late(false);
        return {};
    }

    ToldAgents& agents_;
    Agent& agent_;
    Process& process_;
    const Micros until_;
};

namespace {

/// In place of the noted id, which is random: the same seed has to give the same trace.
std::string name_of(const TurnId& turn) {
    return uuid_v5(installation_id, turn.conversation_id.text() + '\0' + turn.turn_key);
}

}  // namespace

class ToldAgents::Source final : public FinalMessageSource {
  public:
    Source(ToldAgents& agents, Process& process, Database& database)
        : agents_(agents), process_(process), store_(database, process) {}

    Result<std::string> server_of(const ConversationId&) override { return std::string("one"); }
    FinalMessageReply ask(const FinalMessageQuery& query, milliseconds within,
                          const std::stop_token&) override {
        Told told(agents_, agents_.agent_of(query.turn.conversation_id), process_,
                  process_.schedule().now() + within);
        const auto ask_id = notes_.instruction(query.turn);
        if (!ask_id || !*ask_id) return {FinalMessageReply::Kind::refused, "", "no callback wants it"};
        FinalMessageReply reply = instruct(told, query, name_of(query.turn), "Please summarise.");
        reply.source = "instruct";
        return reply;
    }

  private:
    ToldAgents& agents_;
    Process& process_;
    SimStore store_;
    StoredSummaryNotes notes_{store_};
};

std::unique_ptr<FinalMessageSource> ToldAgents::asked_by(Process& process, Database& database) {
    return std::make_unique<Source>(*this, process, database);
}

}  // namespace epilogue::sim
