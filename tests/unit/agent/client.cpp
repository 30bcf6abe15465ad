// Calls and sockets of the agent client, against a stand-in.
#define BOOST_TEST_MODULE agent_client
#include <atomic>
#include <future>
#include <thread>
#include <utility>  // before Asio: Boost 1.74 uses std::exchange without it

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "agent/calls.h"
#include "agent/socket.h"
#include "agent/socket_connection.h"
#include "base/process/ports.h"
#include "tests/agent/fake_agent_server.h"
#include "tests/support/eventually.h"

using namespace epilogue;
using namespace epilogue::agent;
using namespace epilogue::testing;
using namespace std::chrono_literals;
using Json = nlohmann::json;
using Kind = AgentError::Kind;

namespace {

const std::string id = "11111111-2222-4333-8444-555555555555";

ConversationCalls calls_of(const FakeAgentServer& server) {
    return {server.client(), id};
}

/// What a socket told.
class Told {
  public:
    explicit Told(const FakeAgentServer& server, SocketLimits limits = fast(), const std::string& key = "key",
                  const std::string& conversation = id)
        : Told(server.url(), features_of("1.58.0").socket_auth, limits, key, conversation) {}
    Told(const std::string& url, SocketAuth auth, SocketLimits limits = fast(),
         const std::string& key = "key", const std::string& conversation = id)
        : socket_({parse_address(url).value(), conversation, Secret(key), auth},
                  {[this] { ++opens; },
                   [this](const std::string& frame) {
                       const std::lock_guard lock(mutex_);
                       frames_.push_back(frame);
                   },
                   [this](const std::string&) { ++downs; },
                   [this](const AgentError& error) {
                       const std::lock_guard lock(mutex_);
                       end_ = error;
                   }},
                  limits) {}

    static SocketLimits fast() {
        SocketLimits limits;
        limits.backoff_base = 1ms;
        limits.backoff_cap = 50ms;
        return limits;
    }
    std::vector<std::string> frames() {
        const std::lock_guard lock(mutex_);
        return frames_;
    }
    std::optional<AgentError> end() {
        const std::lock_guard lock(mutex_);
        return end_;
    }
    void stop() { socket_.stop(); }

    std::atomic<int> opens = 0;
    std::atomic<int> downs = 0;

  private:
    std::mutex mutex_;
    std::vector<std::string> frames_;
    std::optional<AgentError> end_;
    EventSocket socket_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(the_version_is_asked_for_once) {
    const FakeAgentServer server("1.7.3");
    const auto client = server.client();
    BOOST_TEST(client->features()->version == "1.7.3");
    BOOST_TEST(client->features()->generate_title);
    BOOST_TEST(server.bodies("GET /server_info").size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_server_that_is_away_is_unreachable) {
    const AgentServer server(
        parse_address("http://127.0.0.1:" + std::to_string(process::free_port())).value(), Secret());
    const auto features = server.features();
    BOOST_TEST((features.error().kind == Kind::unreachable));
    BOOST_TEST(!features.error().maybe_done);
}

BOOST_AUTO_TEST_CASE(what_is_no_agent_server_is_said_to_be_none) {
    FakeAgentServer server;
    server.on("GET /server_info", [](const auto&) { return fake_platform::json_reply(200, "\"hello\""); });
    BOOST_TEST((server.client()->features().error().kind == Kind::server_error));
}

BOOST_AUTO_TEST_CASE(a_wrong_key_is_unauthorised_and_is_not_told) {
    FakeAgentServer server;
    server.add(id);
    const auto info = ConversationCalls(server.client("wrong-key"), id).info();
    BOOST_TEST((info.error().kind == Kind::unauthorised));
    BOOST_TEST(info.error().text.find("wrong-key") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_conversation_is_created_under_an_id_of_our_own_so_that_a_repeat_finds_it) {
    FakeAgentServer server;
    int tries = 0;
    server.on("POST /api/conversations", [&](const fake_platform::Request& request) {
        if (++tries == 1) return fake_platform::no_reply(fake_platform::Ending::reset);
        const std::string chosen = Json::parse(request.body).at("conversation_id");
        return fake_platform::json_reply(201, Json{{"id", chosen}}.dump());
    });
    const auto info = create_conversation(*server.client(), R"({"agent":{}})");
    const auto bodies = server.bodies("POST /api/conversations");
    BOOST_REQUIRE(bodies.size() == 2U);
    BOOST_TEST(bodies[0] == bodies[1]);
    BOOST_TEST(Json::parse(info.value()).at("id") == Json::parse(bodies[0]).at("conversation_id"));
}

BOOST_AUTO_TEST_CASE(a_message_whose_answer_is_lost_is_not_sent_again) {
    FakeAgentServer server;
    server.add(id);
    server.on("POST /events",
              [](const auto&) { return fake_platform::no_reply(fake_platform::Ending::reset); });
    const auto sent = calls_of(server).send_message("hello");
    BOOST_TEST((sent.error().kind == Kind::unreachable));
    BOOST_TEST(sent.error().maybe_done);
    BOOST_TEST(server.bodies("POST /events").size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_read_is_repeated_on_a_new_connection) {
    FakeAgentServer server;
    server.add(id);
    std::atomic<int> tries = 0;
    server.on("GET " + id, [&](const auto&) {
        return ++tries == 1 ? fake_platform::no_reply(fake_platform::Ending::reset)
                            : fake_platform::json_reply(200, "{}");
    });
    BOOST_TEST(calls_of(server).info().value() == "{}");
}

BOOST_AUTO_TEST_CASE(a_server_that_does_not_answer_is_given_up_at_the_deadline) {
    FakeAgentServer server;
    server.add(id);
    std::promise<void> over;
    const auto until = over.get_future().share();
    server.on("GET " + id, [until](const auto&) {
        until.wait();
        return fake_platform::json_reply(200, "{}");
    });
    const auto info = calls_of(server).info(100ms);
    over.set_value();
    BOOST_TEST((info.error().kind == Kind::timed_out));
}

BOOST_AUTO_TEST_CASE(old_servers_errors_for_an_unknown_conversation_are_not_found) {
    FakeAgentServer server("1.7.3");
    server.on("POST /pause",
              [](const auto&) { return fake_platform::json_reply(400, R"({"detail":"Bad Request"})"); });
    server.on("POST /ask_agent", [](const auto&) { return fake_platform::json_reply(500, "{}"); });
    BOOST_TEST((calls_of(server).pause().error().kind == Kind::not_found));
    BOOST_TEST((calls_of(server).ask_agent("?").error().kind == Kind::not_found));
    server.add(id);
    BOOST_TEST((calls_of(server).pause().error().kind == Kind::invalid));
    BOOST_TEST((calls_of(server).ask_agent("?").error().kind == Kind::server_error));
}

BOOST_AUTO_TEST_CASE(what_a_version_lacks_is_said_without_asking_for_it) {
    FakeAgentServer server("1.58.0");
    server.add(id);
    const auto title = calls_of(server).generate_title();
    BOOST_TEST((title.error().kind == Kind::unsupported));
    BOOST_TEST(title.error().text == "agent server 1.58.0 does not offer generate_title");
    BOOST_TEST(server.bodies("POST /generate_title").empty());
    FakeAgentServer old("1.7.3");
    old.add(id);
    BOOST_TEST((calls_of(old).final_response().error().kind == Kind::unsupported));
    BOOST_TEST((calls_of(old).interrupt().error().kind == Kind::unsupported));
    BOOST_TEST(calls_of(old).generate_title().value() == "made up");
}

BOOST_AUTO_TEST_CASE(each_operation_sends_the_payload_of_the_openapi_document) {
    FakeAgentServer server;
    server.add(id);
    const ConversationCalls calls = {server.client(), id};
    BOOST_TEST(calls.send_message("hi", true).has_value());
    BOOST_TEST(calls.respond(false, "no").has_value());
    BOOST_TEST(calls.respond(true, "").has_value());
    BOOST_TEST(calls.set_confirmation_policy(R"({"kind":"AlwaysConfirm"})").has_value());
    BOOST_TEST(calls.set_security_analyzer("null").has_value());
    BOOST_TEST(calls.update_secrets({{"A", Secret("s")}}).has_value());
    BOOST_TEST(calls.ask_agent("why?").value() == "an answer");
    BOOST_TEST(calls.final_response().value() == "the end");
    BOOST_TEST(calls.condense().has_value());
    BOOST_TEST(calls.interrupt().has_value());
    BOOST_TEST(calls.set_title("t").has_value());
    const auto body = [&](const std::string& what, std::size_t nth = 0) {
        return Json::parse(server.bodies(what).at(nth));
    };
    BOOST_TEST(body("POST /events") ==
               Json::parse(R"({"role":"user","content":[{"type":"text","text":"hi"}],"run":true})"));
    BOOST_TEST(body("POST /respond_to_confirmation") == Json::parse(R"({"accept":false,"reason":"no"})"));
    BOOST_TEST(body("POST /respond_to_confirmation", 1) == Json::parse(R"({"accept":true})"));
    BOOST_TEST(body("POST /confirmation_policy") == Json::parse(R"({"policy":{"kind":"AlwaysConfirm"}})"));
    BOOST_TEST(body("POST /security_analyzer") == Json::parse(R"({"security_analyzer":null})"));
    BOOST_TEST(body("POST /secrets") ==
               Json::parse(R"({"secrets":{"A":{"kind":"StaticSecret","value":"s"}}})"));
    BOOST_TEST(body("POST /ask_agent") == Json::parse(R"({"question":"why?"})"));
    BOOST_TEST(calls.remove().has_value());
    BOOST_TEST((calls.info().error().kind == Kind::not_found));
}

BOOST_AUTO_TEST_CASE(what_is_no_json_and_no_message_of_the_user_is_never_sent) {
    FakeAgentServer server;
    server.add(id);
    const ConversationCalls calls = {server.client(), id};
    BOOST_TEST((calls.set_confirmation_policy("{").error().kind == Kind::invalid));
    BOOST_TEST((calls.send_message_json(R"({"role":"assistant"})").error().kind == Kind::invalid));
    BOOST_TEST((create_conversation(*server.client(), "[]").error().kind == Kind::invalid));
    BOOST_TEST(server.seen().empty());
}

BOOST_AUTO_TEST_CASE(a_log_is_read_page_by_page) {
    FakeAgentServer server;
    std::vector<std::string> log;
    for (int i = 0; i < 250; ++i) log.push_back(message_event("e" + std::to_string(i), i, "agent", "x"));
    server.add(id, log);
    const auto events = calls_of(server).events();
    BOOST_TEST(events.value().size() == 250U);
    BOOST_TEST(events.value().back()->id == "e249");
    BOOST_TEST(server.bodies("GET /events/search?limit=100&page_id=e200").size() == 1U);
}

BOOST_AUTO_TEST_CASE(pages_that_go_in_a_circle_are_an_error) {
    FakeAgentServer server;
    server.add(id);
    server.on("GET /events/search", [](const auto&) {
        return fake_platform::json_reply(200, R"({"items":[],"next_page_id":"again"})");
    });
    BOOST_TEST((calls_of(server).events().error().kind == Kind::server_error));
}

BOOST_AUTO_TEST_CASE(closing_ends_the_call_under_way) {
    FakeAgentServer server;
    server.add(id);
    std::promise<void> asked;
    std::promise<void> over;
    const auto until = over.get_future().share();
    server.on("GET " + id, [&asked, until](const auto&) {
        asked.set_value();
        until.wait();
        return fake_platform::json_reply(200, "{}");
    });
    ConversationCalls calls(server.client(), id);
    auto answer = std::async(std::launch::async, [&] { return calls.info(); });
    asked.get_future().wait();
    calls.close();
    BOOST_TEST((answer.get().error().kind == Kind::closed));
    over.set_value();
    BOOST_TEST((calls.info().error().kind == Kind::closed));
}

BOOST_AUTO_TEST_CASE(frames_come_in_order_each_once) {
    FakeAgentServer server;
    server.add(id);
    Told told(server);
    eventually("the first frame", [&] { return told.frames().size() == 1; });
    for (int i = 0; i < 100; ++i) server.tell(id, "frame " + std::to_string(i));
    eventually("all frames", [&] { return told.frames().size() == 101; });
    BOOST_TEST(told.frames().at(1) == "frame 0");
    BOOST_TEST(told.frames().at(100) == "frame 99");
}

BOOST_AUTO_TEST_CASE(the_key_is_shown_as_the_version_wants_it) {
    for (const char* const version : {"1.7.3", "1.12.0", "1.58.0"}) {
        FakeAgentServer server(version, "k&y/%");
        server.add(id);
        Told told(server.url(), features_of(version).socket_auth, Told::fast(), "k&y/%");
        eventually("a first frame", [&] { return told.frames().size() == 1; });
        const bool in_query = server.seen().at(0).ends_with("?session_api_key=k%26y%2F%25");
        BOOST_TEST(in_query == (std::string(version) == "1.7.3"));
        BOOST_TEST(server.bodies("FRAME").size() == (std::string(version) == "1.58.0" ? 1U : 0U));
    }
}

BOOST_AUTO_TEST_CASE(a_server_without_keys_is_shown_none) {
    FakeAgentServer server("1.58.0", "");
    server.add(id);
    Told told(server.url(), SocketAuth::first_frame, Told::fast(), "");
    eventually("a first frame", [&] { return told.frames().size() == 1; });
    BOOST_TEST(server.bodies("FRAME").empty());
}

BOOST_AUTO_TEST_CASE(a_refused_key_ends_it_by_handshake_and_by_goodbye) {
    FakeAgentServer old("1.7.3");
    old.add(id);
    Told by_handshake(old.url(), SocketAuth::query, Told::fast(), "wrong");
    eventually("the end", [&] { return by_handshake.end().has_value(); });
    BOOST_TEST((by_handshake.end()->kind == Kind::unauthorised));
    FakeAgentServer server;
    server.add(id);
    Told by_goodbye(server, Told::fast(), "wrong");
    eventually("the end", [&] { return by_goodbye.end().has_value(); });
    BOOST_TEST((by_goodbye.end()->kind == Kind::unauthorised));
    BOOST_TEST(by_goodbye.downs == 0);
}

BOOST_AUTO_TEST_CASE(an_unknown_conversation_ends_it) {
    FakeAgentServer server;
    Told told(server);
    eventually("the end", [&] { return told.end().has_value(); });
    BOOST_TEST((told.end()->kind == Kind::not_found));
}

BOOST_AUTO_TEST_CASE(whatever_else_breaks_a_socket_is_tried_again) {
    FakeAgentServer server;
    server.add(id);
    server.refuse_sockets(503);
    Told told(server);
    eventually("refusals", [&] { return told.downs >= 2; });
    server.refuse_sockets(0);
    eventually("a first frame", [&] { return told.frames().size() == 1; });
    server.end_sockets([](fake_platform::SocketPeer& peer) { peer.drop(); });
    eventually("a second one", [&] { return told.frames().size() == 2; });
    server.end_sockets([](fake_platform::SocketPeer& peer) { peer.close(1013); });
    eventually("a third one", [&] { return told.frames().size() == 3; });
    server.end_sockets([](fake_platform::SocketPeer& peer) { peer.close(1000); });
    eventually("a fourth one", [&] { return told.frames().size() == 4; });
    BOOST_TEST(!told.end().has_value());
}

BOOST_AUTO_TEST_CASE(a_server_that_comes_back_later_is_found) {
    const auto port = process::free_port();
    Told told("http://127.0.0.1:" + std::to_string(port), SocketAuth::first_frame);
    eventually("refused connections", [&] { return told.downs >= 2; });
    FakeAgentServer server("1.58.0", "key", port);
    server.add(id);
    eventually("a first frame", [&] { return told.frames().size() == 1; });
}

BOOST_AUTO_TEST_CASE(a_server_that_answers_no_handshake_is_given_up) {
    const auto port = process::free_port();
    std::promise<void> over;
    const auto until = over.get_future().share();
    fake_platform::SocketHandlers play;
    play.opened = [](const auto&, const auto&) {};
    play.refusal = [until](const auto&) {
        until.wait();
        return 503;
    };
    const fake_platform::HttpServer silent(
        port, [](const auto&) { return fake_platform::json_reply(200, "{}"); }, play);
    auto limits = Told::fast();
    limits.quiet = 50ms;
    Told told("http://127.0.0.1:" + std::to_string(port), SocketAuth::query, limits);
    eventually("two tries given up", [&] { return told.downs >= 2; });
    over.set_value();
}

BOOST_AUTO_TEST_CASE(a_frame_of_a_megabyte_comes_whole) {
    FakeAgentServer server;
    server.add(id);
    Told told(server);
    eventually("the first frame", [&] { return told.frames().size() == 1; });
    const std::string large(std::size_t{3} << 20U, 'x');
    server.tell(id, large);
    eventually("the large one", [&] { return told.frames().size() == 2; });
    BOOST_TEST((told.frames().back() == large));
}

BOOST_AUTO_TEST_CASE(stopping_is_possible_at_any_time_and_twice) {
    FakeAgentServer server;
    server.add(id);
    { const Told at_once(server); }
    Told told(server);
    eventually("the first frame", [&] { return told.frames().size() == 1; });
    told.stop();
    told.stop();
    eventually("the server saw the goodbye", [&] { return server.sockets(id) == 0; });
    server.refuse_sockets(503);
    Told failing(server);
    eventually("a refusal", [&] { return failing.downs >= 1; });
    failing.stop();
}

BOOST_AUTO_TEST_CASE(a_connection_that_is_cut_when_its_name_was_just_found_ends) {
    boost::asio::io_context server;
    boost::asio::ip::tcp::acceptor silent(server, {boost::asio::ip::address_v4::loopback(), 0});
    const std::string url = "http://127.0.0.1:" + std::to_string(silent.local_endpoint().port());
    const SocketTarget target{parse_address(url).value(), "c", Secret("key"), SocketAuth::query};
    const SocketLimits limits;
    for (int i = 0; i < 20; ++i) {
        boost::asio::io_context context{1};
        int ends = 0;
        const auto connection = open_connection(
            context, target, limits, {[] {}, [](const std::string&) {}, [&](const auto&) { ++ends; }});
        // The look-up has a thread of its own; what it found is told when the context runs.
        const auto found = std::chrono::steady_clock::now() + std::chrono::milliseconds(2 * (i % 10));
        while (std::chrono::steady_clock::now() < found) std::this_thread::yield();
        connection->cut();
        context.run_for(std::chrono::seconds(1));
        BOOST_TEST(ends == 1);
    }
}
