// What a hostile agent server answers: JSON nested so deep that a copy of it would end the process.
#define BOOST_TEST_MODULE agent_hostile
#include <boost/test/unit_test.hpp>

#include "agent/calls.h"
#include "agent/hooks.h"
#include "agent/last_words.h"
#include "agent/state.h"
#include "tests/agent/fake_agent_server.h"
#include "tests/support/text.h"

using namespace epilogue;
using namespace epilogue::agent;
using namespace epilogue::testing;
using Kind = AgentError::Kind;

namespace {

const std::vector<std::string>& deep_values() {
    static const std::vector<std::string> values = [] {
        constexpr std::size_t depth = 100'000;
        std::string objects;
        for (std::size_t i = 0; i < depth; ++i) objects += "{\"a\":";
        return std::vector{std::string(depth, '[') + std::string(depth, ']'),
                           objects + "1" + std::string(depth, '}')};
    }();
    return values;
}

constexpr const char* id = "11111111111111111111111111111111";

/// The calls of a conversation whose server answers that request with this text.
struct Hostile {
    Hostile(const std::string& what, const std::string& text, int status = 200) {
        server.add(id);
        server.on(what, [=](const auto&) { return fake_platform::json_reply(status, text); });
    }
    FakeAgentServer server;
    ConversationCalls calls{server.client(), id};
};

}  // namespace

BOOST_AUTO_TEST_CASE(the_reason_of_a_refusal_is_read_without_being_followed_into_the_depth) {
    for (const std::string& deep : deep_values()) {
        const auto error = error_of(422, R"({"detail":[{"loc":[)" + deep + R"(],"msg":"no"}]})");
        BOOST_TEST((error.kind == Kind::invalid));
        BOOST_TEST(error.text.size() < 3000U);
        BOOST_TEST((error_of(500, deep).kind == Kind::server_error));
        BOOST_TEST((error_of(404, R"({"detail":)" + deep + "}").kind == Kind::not_found));
    }
}

BOOST_AUTO_TEST_CASE(a_frame_of_the_socket_that_is_too_deep_is_no_event) {
    for (const std::string& deep : deep_values()) {
        const std::string frame = state_event("e", 1, "full_state", deep);
        BOOST_TEST(!parse_event(frame));
        BOOST_TEST(!parse_event(deep));
        StateCache state;
        state.replace(R"({"title":"kept"})", 0);
        state.replace(R"({"title":)" + deep + "}", 0);
        RemoteEvent update;
        update.key = "title";
        update.json = frame;
        state.apply(update);
        BOOST_TEST(state.snapshot().title() == "kept");
    }
}

BOOST_AUTO_TEST_CASE(a_page_of_events_that_is_too_deep_makes_no_sense_and_the_error_says_why) {
    for (const std::string& deep : deep_values()) {
        const Hostile hostile("GET /events/search",
                              R"({"items":[)" + state_event("e", 1, "stats", deep) + "]}");
        for (const auto& log : {hostile.calls.events(), hostile.calls.newest_events()}) {
            BOOST_REQUIRE(!log);
            BOOST_TEST((log.error().kind == Kind::server_error));
            BOOST_TEST(contains(log.error().text, "nested more than 1024 deep"), log.error().text);
        }
    }
}

BOOST_AUTO_TEST_CASE(other_answers_that_are_too_deep_are_errors) {
    for (const std::string& deep : deep_values()) {
        const Hostile final("GET /agent_final_response", R"({"response":)" + deep + "}");
        BOOST_TEST(!final.calls.final_response());
        const Hostile answer("POST /ask_agent", R"({"response":)" + deep + "}");
        BOOST_TEST(!answer.calls.ask_agent("why?"));
        const Hostile info("GET /api/conversations/" + std::string(id),
                           R"({"execution_status":)" + deep + "}");
        BOOST_TEST(!info.calls.info());
        BOOST_TEST(status_in(R"({"execution_status":)" + deep + "}").empty());
        const Hostile refused("POST /run", R"({"detail":)" + deep + "}", 422);
        BOOST_TEST(!refused.calls.run());
        const Hostile features("GET /server_info", R"({"version":"1.58.0","more":)" + deep + "}");
        BOOST_TEST(!features.server.client()->features());
        const Hostile created("POST /conversations", R"({"id":"x","more":)" + deep + "}");
        BOOST_TEST(!create_conversation(*created.server.client(), "{}"));
        const Hostile listed("GET /search", R"({"items":[)" + deep + "]}");
        BOOST_TEST(!list_conversations(*listed.server.client(), 10, "", ""));
    }
}

BOOST_AUTO_TEST_CASE(words_are_not_looked_for_in_events_that_are_too_deep) {
    for (const std::string& deep : deep_values()) {
        RemoteEvent event;
        event.kind = "MessageEvent";
        event.source = "agent";
        event.json = R"({"llm_message":{"content":[)" + deep + "]}}";
        BOOST_TEST(message_text(event).empty());
        BOOST_TEST(!parse_hooks(deep));
    }
}

BOOST_AUTO_TEST_CASE(a_log_without_an_end_is_given_up_when_its_time_is_over) {
    const Hostile hostile("GET /nothing", "");
    const auto log = hostile.calls.events(ConversationCalls::Clock::now());
    BOOST_REQUIRE(!log);
    BOOST_TEST((log.error().kind == Kind::timed_out));
}
