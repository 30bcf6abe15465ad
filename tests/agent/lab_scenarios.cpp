#include "tests/agent/lab_scenarios.h"

#include "tests/support/eventually.h"

namespace epilogue::testing {
namespace {

using ScenarioRun = decltype(LabScenario::play);

const std::string all_done = "All done: created notes.txt with 2 lines.";
const OwedPost an_error{"**Ended with an error"};
const OwedPost got_stuck{"**Got stuck"};

OwedPost finished(std::string words) {
    return {"**Finished", std::move(words)};
}
OwedPost waiting(std::string words) {
    return {"**Waiting for you", std::move(words)};
}
Owed owed(OwedPosts posts) {
    return {{std::move(posts)}};
}

agent::Features features_of(const RealServer& server) {
    return expect(server.client()->features());
}

void must_be(const agent::RunEnd& end, std::string_view status) {
    if (end.status != status)
        throw std::runtime_error("it ended as " + end.status + " and not as " + std::string(status));
}

std::string nothing_more(const RealServer&) {
    return "{}";
}

// --- one run

ScenarioRun ends_finished(const std::string& words) {
    return [words](const RealServer&, ScriptedConversation& scripted) {
        must_be(scripted.send().run(), "finished");
        return owed({finished(words)});
    };
}
Owed ends_with_an_error(const RealServer&, ScriptedConversation& scripted) {
    must_be(scripted.send().run(), "error");
    return owed({an_error});
}
Owed ends_stuck(const RealServer&, ScriptedConversation& scripted) {
    must_be(scripted.send().run(), "stuck");
    return owed({got_stuck});
}
Owed silent_llm(const RealServer&, ScriptedConversation& scripted) {
    // Servers without a session socket notice it now and then only.
    if (scripted.send().run().status == "stuck") return owed({got_stuck});
    return owed({finished("Script exhausted at step 12.")});
}
Owed started_by_its_request(const RealServer&, ScriptedConversation& scripted) {
    must_be(expect(scripted->wait_for_end(run_patience)), "finished");
    return owed({finished(all_done)});
}

// --- several

Owed question_and_answer(const RealServer&, ScriptedConversation& scripted) {
    must_be(scripted.send().run(), "finished");
    must_be(scripted.send("Change a.txt please").run(), "finished");
    return owed({waiting("Which file would you like me to change?"), finished("Changed it.")});
}
Owed two_errors(const RealServer&, ScriptedConversation& scripted) {
    must_be(scripted.send().run(), "error");
    must_be(scripted.run(), "error");
    return owed({an_error, an_error});
}
Owed stuck_again(const RealServer& server, ScriptedConversation& scripted) {
    must_be(scripted.send().run(), "stuck");
    must_be(scripted.run(), "stuck");
    must_be(scripted.send("Please summarise what you did").run(), "stuck");
    expect(scripted->calls().ask_agent("Summarise"));
    // Older ones keep the message, and nothing follows.
    if (!features_of(server).final_response) return {{{got_stuck}}, true};
    return owed({got_stuck, got_stuck, got_stuck});
}
/// `run`: by the message itself.
void asks_for_a_summary(ScriptedConversation& scripted, const std::string& text, bool run,
                        const std::string& words) {
    expect(scripted->calls().send_message(text, run));
    if (!run) expect(scripted->start());
    eventually("the answer", run_patience, [&] {
        return expect(scripted->state()).execution_status() == "finished" &&
               expect(scripted->final_response()).starts_with(words);
    });
}
const OwedPost its_summary = waiting("Summary: I ran three commands and created notes.txt (2 lines).");
Owed follow_up(const RealServer&, ScriptedConversation& scripted) {
    must_be(scripted.send().run(), "finished");
    asks_for_a_summary(scripted, "Please summarise what you did.", true, "Summary: ");
    return owed({finished(all_done), its_summary});
}
Owed two_follow_ups(const RealServer&, ScriptedConversation& scripted) {
    must_be(scripted.send().run(), "finished");
    asks_for_a_summary(scripted, "Please summarise what you did.", false, "Summary: ");
    asks_for_a_summary(scripted, "And once more, with the finish tool.", false, "Summary by finish tool");
    return owed({finished(all_done), its_summary, finished("Summary by finish tool: notes.txt created.")});
}

// --- people who meddle

Owed confirmed(const RealServer&, ScriptedConversation& scripted) {
    must_be(scripted.send().run(), "waiting_for_confirmation");
    scripted.accept_until_finished();
    return owed({finished(all_done)});
}
Owed rejected_then_confirmed(const RealServer&, ScriptedConversation& scripted) {
    must_be(scripted.send().run(), "waiting_for_confirmation");
    expect(scripted->calls().respond(false, "lab says no"));
    must_be(scripted.run(), "waiting_for_confirmation");
    scripted.send("A message while waiting for confirmation");
    scripted.accept_until_finished();
    return owed({finished(all_done)});
}
Owed paused_twice(const RealServer&, ScriptedConversation& scripted) {
    scripted.send().start();
    expect(scripted->calls().pause());
    must_be(expect(scripted->wait_for_end(run_patience)), "paused");
    expect(scripted->calls().pause());
    must_be(scripted.run(), "finished");
    return owed({finished("Slow run done.")});
}
Owed asked_meanwhile(const RealServer&, ScriptedConversation& scripted) {
    scripted.send().start();
    expect(scripted->calls().ask_agent("What are you doing?"));
    must_be(expect(scripted->wait_for_end(run_patience)), "finished");
    expect(scripted->calls().ask_agent("What did you do?"));
    return owed({finished("Slow run done.")});
}
Owed told_more_meanwhile(const RealServer&, ScriptedConversation& scripted) {
    scripted.send().start();
    expect(scripted->start());  // it works already
    expect(scripted->calls().send_message("A message in the middle of the run"));
    static_cast<void>(scripted->calls().send_message("Another one that wants a run", true));
    must_be(expect(scripted->wait_for_end(run_patience)), "finished");
    must_be(scripted.run(), "finished");  // there is nothing to do
    return owed({finished("Slow run done.")});
}
Owed told_more_at_the_end(const RealServer& server, ScriptedConversation& scripted) {
    const std::size_t before = server.llm_calls("slowfollow");
    scripted.send().start();
    eventually("the last call", run_patience, [&] { return server.llm_calls("slowfollow") == before + 4; });
    scripted.send("One more thing, before you stop").run();
    const OwedPost first = finished("First part done.");
    const OwedPost second = finished("Second part done.");
    // The message joins the turn, or comes behind its end: then it opens the next one, which some servers
    // leave unanswered.
    return {{{second}, {first, second}, {first}}, true};
}
Owed deleted(const RealServer&, ScriptedConversation& scripted) {
    scripted.send().start();
    expect(scripted->calls().remove());
    // Old servers let the agent work on; that may be told by webhooks.
    return {{{}, {finished("Slow run done.")}}, true};
}

std::string always_confirm(const RealServer&) {
    return R"({"confirmation_policy":{"kind":"AlwaysConfirm"}})";
}
std::string three_steps(const RealServer&) {
    return R"({"max_iterations":3})";
}
std::string condenser(const RealServer& server) {
    return with_condenser(server, "summary");
}
std::string first_message(const RealServer& server) {
    return R"({"initial_message":{"role":"user","content":[{"type":"text","text":")" + server.task() +
           R"("}],"run":true}})";
}

}  // namespace

const std::vector<LabScenario>& lab_scenarios() {
    static const std::vector<LabScenario> scenarios{
        {"s01 finish", "finish", nothing_more, ends_finished(all_done)},
        {"s02 message", "message", nothing_more, question_and_answer},
        {"s03 llm500", "llm500", nothing_more, ends_with_an_error},
        {"s04 llm400", "llm400", nothing_more, two_errors},
        {"s04b llm401", "llm401", nothing_more, ends_with_an_error},
        {"s04c llmctx", "llmctx", nothing_more, ends_with_an_error},
        {"s04d llmgarbage", "llmgarbage", nothing_more, ends_with_an_error},
        {"s04e llm429", "llm429", nothing_more, ends_with_an_error},
        {"s05 stuck", "stuck", nothing_more, stuck_again},
        {"s05b stuck alternating", "stuckalt", nothing_more, ends_stuck},
        {"s05c empty llm", "empty", nothing_more, silent_llm},
        {"s06 confirm accept", "finish", always_confirm, confirmed},
        {"s07 confirm reject", "finish", always_confirm, rejected_then_confirmed},
        {"s08 pause", "slow", nothing_more, paused_twice},
        {"s09 followup run true", "followup", nothing_more, follow_up},
        {"s09b followup run false", "followup", nothing_more, two_follow_ups},
        {"s10 ask agent", "slow", nothing_more, asked_meanwhile},
        {"s11 max iterations", "maxiter", three_steps, two_errors},
        {"s12 badtool", "badtool", nothing_more, ends_finished("Recovered after two tool errors.")},
        {"s13 parallel", "parallel", nothing_more, ends_finished("Both done.")},
        {"s13b finish in parallel", "finishplus", nothing_more,
         ends_finished("Finished in a parallel call.")},
        {"s14 initial message", "finish", first_message, started_by_its_request},
        {"s15 unicode", "unicode", nothing_more, ends_finished("Fertig \U0001f680")},
        {"s15b surrogate", "surrogate", nothing_more, ends_with_an_error},
        {"s15c surrogate message", "surrogatemsg", nothing_more, ends_with_an_error},
        {"s16 burst", "burst", nothing_more, ends_finished("60 commands run.")},
        {"s16b big", "big", nothing_more, ends_finished("Big output done.")},
        {"s17 messages during a run", "slow", nothing_more, told_more_meanwhile},
        {"s19 delete running", "slow", nothing_more, deleted},
        {"s20 message during finish", "slowfollow", nothing_more, told_more_at_the_end},
        {"s22 think", "think", nothing_more, ends_finished("Thought about it.")},
        {"s23 finish first", "finishfirst", nothing_more, ends_finished("Nothing to do.")},
        {"s24 condense", "burst", condenser, ends_with_an_error}};
    return scenarios;
}

}  // namespace epilogue::testing
