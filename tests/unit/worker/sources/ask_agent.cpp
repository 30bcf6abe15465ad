#define BOOST_TEST_MODULE ask_agent_source
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "tests/agent/fake_agent_server.h"
#include "tests/agent/held_requests.h"
#include "worker/core/summarise.h"
#include "worker/sources/registry.h"
#include "worker/sources/summary_section.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;
using Kind = FinalMessageReply::Kind;

const ConversationId id{"0123456789abcdef0123456789abcdef"};

ConfigExtensions sections(TextFile question = {}, Language language = Language::english) {
    ConfigExtensions sections;
    auto& summary = sections.edit<SummarySection>();
    summary.sources = {"ask_agent", "final", "digest"};
    summary.question_file = std::move(question);
    summary.language = language;
    return sections;
}

TurnEnd turn_with(Verdict verdict, std::string status_event = "s2") {
    TurnEnd turn;
    turn.turn_key = TurnKey("u1");
    turn.verdict = verdict;
    turn.status_event = std::move(status_event);
    turn.final_message = "All done.";
    return turn;
}

MadeSummary made_of(const TurnEnd& turn) {
    return summarise(turn, id, summary_rules(sections()));
}

/// A turn that s2 ended with that status, and the stats that asking leaves behind it.
std::vector<std::string> log_of_a_turn(const std::string& status) {
    return {message_event("u1", 1, "user", "go on"), status_event("s1", 2, "running"),
            finish_event("f1", 3, "All done."), status_event("s2", 4, status),
            state_event("st1", 5, "stats", "{}")};
}

std::unique_ptr<FinalMessageSource> make_asker(const AskerSettings& settings) {
    for (const auto* source : summary_source_descriptors())
        if (source->name == "ask_agent") return source->make_asker(settings);
    return nullptr;
}

FinalMessageReply ask(const FakeAgentServer& there, const ConfigExtensions& configured = sections(),
                      const std::string& status_event = "s2", std::chrono::milliseconds within = 30s) {
    const auto source =
        make_asker({.sections = configured,
                    .find_server = [server = there.client()](const ConversationId&)
                        -> Result<std::shared_ptr<const agent::AgentServer>> { return server; }});
    return source->ask({{id, TurnKey("u1")}, status_event, false, "final"}, within, std::stop_token{});
}

}  // namespace

BOOST_AUTO_TEST_CASE(it_has_no_words_before_it_was_asked_and_may_ask_about_every_end_a_server_can_have) {
    for (const Verdict verdict : {Verdict::finished, Verdict::awaiting_user_input, Verdict::error,
                                  Verdict::stuck, Verdict::timeout}) {
        BOOST_TEST(made_of(turn_with(verdict)).may_ask);
        BOOST_TEST(made_of(turn_with(verdict)).source == "final");
        BOOST_TEST(!made_of(turn_with(verdict, "17")).may_ask);
    }
    BOOST_TEST(made_of(turn_with(Verdict::timeout, "")).may_ask);
    for (const Verdict verdict : {Verdict::rejected, Verdict::stopped})
        BOOST_TEST(!summarise(turn_with(verdict, "17"), id, summary_rules(sections())).may_ask);
}

BOOST_AUTO_TEST_CASE(the_answer_is_the_words_in_every_state_and_its_own_stats_are_no_sign_that_it_goes_on) {
    for (const char* version : {"1.7.3", "1.58.0"}) {
        for (const char* status : {"finished", "error", "stuck"}) {
            FakeAgentServer there(version);
            there.add(id, log_of_a_turn(status), status);
            there.on("POST /ask_agent", [&there](const auto&) {
                there.append(id, state_event("st2", 6, "stats", "{}"));
                return fake_platform::json_reply(200, R"({"response":"It works now."})");
            });
            const FinalMessageReply reply = ask(there);
            BOOST_TEST((reply.kind == Kind::confirmed));
            BOOST_TEST(reply.words == "It works now.");
        }
    }
}

BOOST_AUTO_TEST_CASE(a_turn_that_went_silent_is_asked_about_as_long_as_no_end_stands_in_its_log) {
    FakeAgentServer there;
    there.add(id, {message_event("u1", 1, "user", "go on"), status_event("s1", 2, "running")}, "running");
    BOOST_TEST((ask(there, sections(), "").kind == Kind::confirmed));
    there.append(id, status_event("s2", 3, "finished"));
    BOOST_TEST((ask(there, sections(), "").kind == Kind::not_confirmed));
}

BOOST_AUTO_TEST_CASE(the_question_is_ours_or_that_of_the_file) {
    FakeAgentServer there;
    there.add(id, log_of_a_turn("finished"), "finished");
    ask(there);
    ask(there, sections({}, Language::german));
    ask(there, sections({"question.txt", "Well, how did it go?"}));
    const auto bodies = there.bodies("POST /ask_agent");
    BOOST_REQUIRE(bodies.size() == 3U);
    const auto question = [&](std::size_t i) {
        return nlohmann::json::parse(bodies[i]).at("question").get<std::string>();
    };
    BOOST_TEST(question(0).find("under 200 words") != std::string::npos);
    BOOST_TEST(question(1) == question(0) + " Answer in German.");
    BOOST_TEST(question(2) == "Well, how did it go?");
}

BOOST_AUTO_TEST_CASE(a_conversation_that_goes_on_before_or_while_it_is_asked_gives_no_words) {
    FakeAgentServer there;
    there.add(id, log_of_a_turn("finished"), "finished");
    there.on("POST /ask_agent", [&there](const auto&) {
        there.append(id, message_event("u2", 6, "user", "and now?"));
        there.append(id, status_event("s3", 7, "running"));
        return fake_platform::json_reply(200, R"({"response":"Something else."})");
    });
    BOOST_TEST((ask(there).kind == Kind::not_confirmed));
    BOOST_TEST(there.bodies("POST /ask_agent").size() == 1U);
    BOOST_TEST((ask(there).kind == Kind::not_confirmed));
    BOOST_TEST(there.bodies("POST /ask_agent").size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_server_without_an_answer_is_no_source) {
    FakeAgentServer there;
    BOOST_TEST((ask(there).kind == Kind::refused));  // it knows no such conversation
    there.add(id, log_of_a_turn("stuck"), "stuck");
    there.on("POST /ask_agent", [](const auto&) { return fake_platform::json_reply(500, "{}"); });
    BOOST_TEST((ask(there).kind == Kind::refused));
    const HeldRequests requests;
    there.on("POST /ask_agent", requests.handler());
    BOOST_TEST((ask(there, sections(), "s2", 300ms).kind == Kind::late));
}
