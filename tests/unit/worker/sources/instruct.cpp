#define BOOST_TEST_MODULE instruct_source
#include <algorithm>
#include <atomic>
#include <utility>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "schemas/instruction.h"
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
const std::string ask_id = "0f9b2f4e-3c52-4b8e-9a51-5f0f2c1d7e60";

/// The tables, in memory.
class Notes final : public SummaryNotes {
  public:
    Result<std::optional<TurnEnd>> turn(const TurnId&) override { return std::optional<TurnEnd>(); }
    Result<std::optional<std::string>> reserve(const std::string& source, const LlmSpending& most,
                                               const LlmLimits& limits) override {
        BOOST_TEST(source == "[summary] instruct");
        if (counted + most.requests > limits.requests) return std::optional<std::string>();
        counted += most.requests;
        return std::optional<std::string>("2026-11-23");
    }
    Result<void> settle(const std::string&, const std::string&, const LlmSpending&,
                        const LlmSpending&) override {
        return {};
    }
    Result<std::optional<std::string>> instruction(const TurnId&) override { return wanted; }

    std::optional<std::string> wanted = ask_id;
    std::int64_t counted = 0;
};

std::string marked(const std::string& text) {
    return text + "\n\n" + instruction_mark(ask_id);
}

/// A turn that s2 ended, and an agent that answers what it is sent.
struct Scenario {
    FakeAgentServer there;
    Notes notes;
    std::string status;
    int per_day = 0;

    explicit Scenario(const std::string& version = "1.58.0", const std::string& ended_with = "finished")
        : there(version), status(ended_with) {
        there.add(id,
                  {message_event("u1", 1, "user", "go on"), status_event("s1", 2, "running"),
                   finish_event("f1", 3, "All done."), status_event("s2", 4, ended_with)},
                  ended_with);
        there.on("POST /events", [this](const auto& request) {
            keep(request.body);
            if (nlohmann::json::parse(request.body).at("run") == true) work();
            return fake_platform::json_reply(200, R"({"success":true})");
        });
    }

    /// What the server does with a message.
    void keep(const std::string& body) {
        const auto text = nlohmann::json::parse(body).at("content").at(0).at("text").get<std::string>();
        there.append(id, status_event("i1", 9, "idle"));
        there.append(id, message_event("u2", 10, "user", text));
    }
    /// What the agent does then.
    void work(const std::string& end = "finished") {
        there.append(id, status_event("s3", 11, "running"));
        there.append(id, finish_event("f2", 12, "A summary."));
        there.append(id, status_event("s4", 13, end));
    }

    FinalMessageReply ask(std::chrono::milliseconds within = 30s, const std::stop_token& stop = {}) {
        ConfigExtensions sections;
        sections.edit<SummarySection>().sources = {"instruct", "digest"};
        sections.edit<SummarySection>().instructions_per_day = per_day;
        const auto source =
            make_asking_sources({.sections = sections,
                                 .find_server = [server = there.client()](const ConversationId&)
                                     -> Result<std::shared_ptr<const agent::AgentServer>> { return server; },
                                 .notes = &notes});
        return source->ask({{id, TurnKey("u1")}, "s2", false, "digest"}, within, stop);
    }

    std::size_t sent() const { return there.bodies("POST /events").size(); }
};

}  // namespace

BOOST_AUTO_TEST_CASE(it_may_ask_about_a_turn_that_has_an_end_in_a_servers_log) {
    ConfigExtensions sections;
    sections.edit<SummarySection>().sources = {"instruct"};
    const auto may_ask = [&](Verdict verdict, const std::string& status_event) {
        TurnEnd turn;
        turn.turn_key = TurnKey("u1");
        turn.verdict = verdict;
        turn.status_event = status_event;
        return summarise(turn, id, summary_rules(sections)).may_ask;
    };
    for (const Verdict verdict :
         {Verdict::finished, Verdict::awaiting_user_input, Verdict::error, Verdict::stuck}) {
        BOOST_TEST(may_ask(verdict, "s2"));
        BOOST_TEST(!may_ask(verdict, "17"));
    }
    for (const Verdict verdict : {Verdict::timeout, Verdict::stopped, Verdict::rejected})
        BOOST_TEST(!may_ask(verdict, "s2"));
}

BOOST_AUTO_TEST_CASE(the_agent_is_told_once_and_its_answer_is_the_words) {
    for (const char* status : {"finished", "error", "stuck"}) {
        Scenario scenario("1.58.0", status);
        const FinalMessageReply reply = scenario.ask();
        BOOST_TEST((reply.kind == Kind::confirmed), reply.cause);
        BOOST_TEST(reply.words == "A summary.");
        BOOST_REQUIRE(scenario.sent() == 1U);
        const auto body = nlohmann::json::parse(scenario.there.bodies("POST /events")[0]);
        BOOST_TEST(body.at("run") == true);
        BOOST_TEST(instruction_in(body.at("content").at(0).at("text").get<std::string>()) == ask_id);
        BOOST_TEST((scenario.ask().kind == Kind::confirmed));  // found by its mark
        BOOST_TEST(scenario.sent() == 1U);
    }
}

BOOST_AUTO_TEST_CASE(a_message_whose_answer_was_lost_is_looked_for_and_not_sent_again) {
    Scenario scenario;
    scenario.there.on("POST /events", [&scenario](const auto& request) {
        scenario.keep(request.body);
        scenario.work();
        return fake_platform::no_reply(fake_platform::Ending::close);
    });
    BOOST_TEST(scenario.ask().words == "A summary.");
    BOOST_TEST(scenario.sent() == 1U);
}

BOOST_AUTO_TEST_CASE(a_message_that_may_have_been_lost_on_its_way_is_not_sent_again_at_once) {
    Scenario scenario;
    scenario.there.on("POST /events",
                      [](const auto&) { return fake_platform::no_reply(fake_platform::Ending::close); });
    BOOST_TEST((scenario.ask(2s).kind == Kind::late));
    BOOST_TEST(scenario.sent() == 1U);
}

BOOST_AUTO_TEST_CASE(a_message_that_is_kept_without_a_run_gets_one) {
    Scenario scenario;
    scenario.there.append(id, status_event("i1", 9, "idle"));
    scenario.there.append(id, message_event("u2", 10, "user", marked("Summarise.")));
    scenario.there.on_run([&scenario](const std::string&) { scenario.work(); });
    BOOST_TEST(scenario.ask().words == "A summary.");
    BOOST_TEST(scenario.sent() == 0U);
    BOOST_TEST(scenario.there.bodies("POST /run").size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_conversation_that_goes_on_is_told_nothing) {
    const std::vector<std::string> signs{message_event("u9", 5, "user", "and now?"),
                                         status_event("s9", 5, "running"), finish_event("f9", 5, "More.")};
    for (const std::string& sign : signs) {
        Scenario scenario;
        scenario.there.append(id, sign);
        BOOST_TEST((scenario.ask().kind == Kind::not_confirmed));
        BOOST_TEST(scenario.sent() == 0U);
    }
    for (const char* status : {"running", "idle", "paused", "waiting_for_confirmation"}) {
        Scenario scenario;
        scenario.there.set_status(id, status);
        BOOST_TEST((scenario.ask().kind == Kind::not_confirmed));
        BOOST_TEST(scenario.sent() == 0U);
    }
    Scenario other;
    other.there.add(id, {status_event("s7", 4, "finished")}, "finished");
    BOOST_TEST((other.ask().kind == Kind::not_confirmed));
}

BOOST_AUTO_TEST_CASE(a_person_who_writes_meanwhile_gets_the_answer_and_we_do_not) {
    Scenario scenario;
    scenario.there.on("POST /events", [&scenario](const auto& request) {
        scenario.keep(request.body);
        scenario.there.append(id, message_event("u3", 10.5, "user", "and now?"));
        scenario.work();
        return fake_platform::json_reply(200, R"({"success":true})");
    });
    BOOST_TEST((scenario.ask().kind == Kind::not_confirmed));
    BOOST_TEST(scenario.sent() == 1U);
}

BOOST_AUTO_TEST_CASE(where_it_could_do_harm_or_is_not_wanted_nothing_is_sent) {
    Scenario stuck("1.7.3", "stuck");
    BOOST_TEST((stuck.ask().kind == Kind::not_confirmed));
    BOOST_TEST(stuck.sent() == 0U);
    Scenario hooked;
    hooked.there.describe(id, R"({"hook_config":{"stop":[{"matcher":"*"}]}})");
    BOOST_TEST((hooked.ask().kind == Kind::not_confirmed));
    BOOST_TEST(hooked.sent() == 0U);
    Scenario unwanted;
    unwanted.notes.wanted.reset();
    BOOST_TEST((unwanted.ask().kind == Kind::refused));
    BOOST_TEST(unwanted.sent() == 0U);
}

BOOST_AUTO_TEST_CASE(an_answer_that_fails_has_no_words_and_a_refused_message_none_either) {
    Scenario fails;
    fails.there.on("POST /events", [&fails](const auto& request) {
        fails.keep(request.body);
        fails.work("error");
        return fake_platform::json_reply(200, R"({"success":true})");
    });
    BOOST_TEST((fails.ask().kind == Kind::refused));
    Scenario refuses;
    refuses.there.on("POST /events",
                     [](const auto&) { return fake_platform::json_reply(422, R"({"detail":[]})"); });
    BOOST_TEST((refuses.ask().kind == Kind::refused));
    BOOST_TEST(refuses.sent() == 1U);
}

BOOST_AUTO_TEST_CASE(who_is_to_stop_leaves_the_answer_to_another) {
    Scenario scenario;
    std::stop_source stop;
    bool was_kept = false;
    scenario.there.on("POST /events", [&](const auto& request) {
        scenario.keep(request.body);
        return fake_platform::json_reply(200, R"({"success":true})");
    });
    scenario.there.wrap([&](const auto&, const auto& answer) {
        auto reply = answer();
        // The look that finds it: the first request that comes after it was kept.
        if (scenario.sent() == 1 && std::exchange(was_kept, true)) stop.request_stop();
        return reply;
    });
    BOOST_TEST((scenario.ask(10min, stop.get_token()).kind == Kind::stopped));
    scenario.there.wrap({});
    scenario.work();
    BOOST_TEST(scenario.ask().words == "A summary.");
    BOOST_TEST(scenario.sent() == 1U);
}

BOOST_AUTO_TEST_CASE(
    a_worker_that_is_ended_at_any_request_leaves_one_instruction_and_its_answer_to_the_next) {
    for (const bool was_carried_out : {false, true}) {
        int reached = 0;
        for (int last = 1; reached == last - 1; ++last) {
            Scenario scenario;
            std::stop_source death;
            std::atomic<int> requests = 0;
            std::atomic<bool> is_dead = false;
            scenario.there.wrap([&](const auto&, const auto& answer) {
                if (is_dead) return fake_platform::no_reply(fake_platform::Ending::close);
                if (++requests < last) return answer();
                if (was_carried_out) answer();
                is_dead = true;
                death.request_stop();
                return fake_platform::no_reply(fake_platform::Ending::close);
            });
            const auto first = scenario.ask(30s, death.get_token());
            BOOST_TEST((is_dead == (first.kind != Kind::confirmed)), first.cause);
            if (is_dead) reached = last;
            scenario.there.wrap({});
            BOOST_TEST(scenario.ask().words == "A summary.", last);
            const auto log = scenario.there.log(id);
            BOOST_TEST(std::count_if(log.begin(), log.end(),
                                     [](const std::string& event) {
                                         return event.find("epilogue:ask") != std::string::npos;
                                     }) == 1,
                       last);
        }
        BOOST_TEST(reached >= 4);  // the log, the status, the message, the log again
    }
}

BOOST_AUTO_TEST_CASE(who_is_to_stop_with_a_message_on_its_way_lets_no_other_worker_ask_at_once) {
    Scenario scenario;
    std::stop_source stop;
    const HeldRequests requests;
    scenario.there.on("POST /events", [&](const auto& request) {
        stop.request_stop();
        return requests.handler()(request);
    });
    BOOST_TEST((scenario.ask(10min, stop.get_token()).kind == Kind::late));
    BOOST_TEST(scenario.sent() == 1U);
}

BOOST_AUTO_TEST_CASE(only_rows_that_say_so_want_no_instruction) {
    for (const char* json : {"{}", "", R"({"send_summary_instruction":true})",
                             R"({"should_request_summary":true})", R"({"send_summary_instruction":null})"})
        BOOST_TEST(wants_instruction(json));
    for (const char* json : {R"({"send_summary_instruction":false})", R"({"should_request_summary":false})"})
        BOOST_TEST(!wants_instruction(json));
}

BOOST_AUTO_TEST_CASE(no_more_instructions_are_sent_in_a_day_than_its_budget_has) {
    Scenario scenario;
    scenario.per_day = 1;
    BOOST_TEST((scenario.ask().kind == Kind::confirmed));
    BOOST_TEST(scenario.notes.counted == 1);
    // It is found in the log: nothing is sent for the answer, and nothing counted.
    BOOST_TEST((scenario.ask().kind == Kind::confirmed));
    BOOST_TEST(scenario.notes.counted == 1);
    BOOST_TEST(scenario.sent() == 1U);
    Scenario next;
    next.per_day = 1;
    next.notes.counted = 1;
    const FinalMessageReply reply = next.ask();
    BOOST_TEST((reply.kind == Kind::not_confirmed));
    BOOST_TEST(reply.cause == "the questions of today are used up");
    BOOST_TEST(next.sent() == 0U);
}
