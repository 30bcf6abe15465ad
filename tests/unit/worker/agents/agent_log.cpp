#define BOOST_TEST_MODULE agent_log
#include "worker/agents/agent_log.h"

#include <boost/test/unit_test.hpp>

#include "tests/agent/fake_agent_server.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;

const std::string conversation = "11111111-2222-4333-8444-555555555555";

/// What hinders when its server, or what stands before that, answers with this status.
LogReadError hindrance_of(int status) {
    FakeAgentServer server;
    server.on("GET /" + conversation, [=](const auto&) { return fake_platform::json_reply(status, "{}"); });
    return look_once(agent::ConversationCalls(server.client(), conversation), 10s).value();
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_a_gateway_answers_for_a_server_that_is_away_is_no_log_that_cannot_be_read) {
    for (const int status : {502, 503, 504}) {
        const LogReadError error = hindrance_of(status);
        BOOST_TEST((error.why == Hindrance::unreachable), status);
        BOOST_TEST(error.text.find(" does not answer its gateway (") != std::string::npos, error.text);
    }
    const LogReadError error = hindrance_of(500);
    BOOST_TEST((error.why == Hindrance::failed));
    BOOST_TEST(error.text.find(" cannot read the conversation's log (") != std::string::npos, error.text);
}

BOOST_AUTO_TEST_CASE(each_answer_hinders_in_its_own_way) {
    for (const auto& [status, why] :
         {std::pair(401, Hindrance::unauthorised), std::pair(404, Hindrance::unknown),
          std::pair(422, Hindrance::unknown), std::pair(409, Hindrance::failed)})
        BOOST_TEST((hindrance_of(status).why == why), status);
    FakeAgentServer server;
    server.add(conversation);
    BOOST_TEST(!look_once(agent::ConversationCalls(server.client(), conversation), 10s));
}
