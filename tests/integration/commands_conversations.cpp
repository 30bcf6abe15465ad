// `epilogue conversations …` from the outside, against a stand-in for an agent server.
#define BOOST_TEST_MODULE commands_conversations
#include <csignal>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "ops/process/ports.h"
#include "tests/agent/agent_stand_in.h"
#include "tests/integration/harness/epilogue.h"
#include "tests/integration/harness/eventually.h"

using namespace epilogue;
using namespace epilogue::testing;
using Json = nlohmann::json;

namespace {

const std::string id = "11111111-2222-4333-8444-555555555555";

/// A server with one conversation, and the program configured for it.
struct Place {
    explicit Place(const std::string& version = "1.58.0") : server(version) {
        server.add(id,
                   {message_event("1", 1, "user", "please"), message_event("2", 2, "agent", "done\x1b[31m")});
    }
    Finished run(std::vector<std::string> args, const std::string& input = "") const {
        args.insert(args.begin(), "conversations");
        return epilogue.run(args, input);
    }
    Json json(std::vector<std::string> args) const {
        args.emplace_back("--json");
        const Finished done = run(std::move(args));
        BOOST_TEST(done.status == 0, done.err);
        return Json::parse(done.out);
    }

    AgentStandIn server;
    Epilogue epilogue{{{"agent_server.url", Setting(server.url())},
                       {"agent_server.session_api_key", Setting(std::string("key"))}}};
};

}  // namespace

BOOST_AUTO_TEST_CASE(conversations_are_created_listed_and_shown) {
    const Place place;
    const Finished created =
        place.run({"create", "--request", "@-", "--id", "22222222-2222-4333-8444-555555555555", "--message",
                   "hello", "--workspace", "w", "--max-iterations", "7"},
                  R"({"agent":{"kind":"Agent"}})");
    BOOST_TEST(created.status == 0, created.err);
    BOOST_TEST(created.out == "22222222-2222-4333-8444-555555555555\n");
    const Json request = Json::parse(place.server.bodies("POST /api/conversations").at(0));
    BOOST_TEST(request.at("agent").at("kind") == "Agent");
    BOOST_TEST(request.at("workspace").at("working_dir") == "w");
    BOOST_TEST(request.at("max_iterations") == 7);
    BOOST_TEST(request.at("initial_message").at("content").at(0).at("text") == "hello");
    BOOST_TEST(place.json({"list"}).size() == 2U);
    BOOST_TEST(place.run({"list"}).out.find(id) != std::string::npos);
    BOOST_TEST(place.json({"show", id}).at("title") == "a title");
    BOOST_TEST(place.run({"show", id}).out.find("execution_status: idle\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(events_are_lines_for_a_person_and_an_array_for_a_program) {
    const Place place;
    BOOST_TEST(place.run({"events", id}).out == "user: please\nagent: done[31m\n");
    BOOST_TEST(place.json({"events", id}).size() == 2U);
}

BOOST_AUTO_TEST_CASE(events_are_followed_until_the_signal) {
    Place place;
    Process following = place.epilogue.start({"conversations", "events", id, "--follow"});
    eventually("a socket", [&] { return place.server.sockets(id) == 1; });
    place.server.emit(id, message_event("3", 3, "agent", "and more"));
    eventually("the new one",
               [&] { return following.out() == "user: please\nagent: done[31m\nagent: and more\n"; });
    following.signal(SIGINT);
    BOOST_TEST(following.wait(patience).value() == 0);
}

BOOST_AUTO_TEST_CASE(a_run_says_how_it_ended_and_exits_by_it) {
    Place place;
    place.server.on_run([&](const std::string&) {
        place.server.emit(id, status_event("3", 3, "running"));
        place.server.emit(id, status_event("4", 4, "error"));
        place.server.emit(id, error_event("5", 5, "Code", "exploded"));
    });
    const Finished failed = place.run({"run", id});
    BOOST_TEST(failed.status == 1);
    BOOST_TEST(failed.out == "error: Code: exploded\n");
    place.server.on_run([&](const std::string&) {
        place.server.emit(id, status_event("6", 6, "running"));
        place.server.emit(id, status_event("7", 7, "finished"));
    });
    BOOST_TEST(place.json({"run", id}).at("status") == "finished");
    BOOST_TEST(place.run({"run", id, "--detach"}).out == "started\n");
    place.server.on_run([&](const std::string&) { place.server.emit(id, status_event("8", 8, "running")); });
    BOOST_TEST(place.run({"run", id, "--timeout", "1"}).status == 1);
}

BOOST_AUTO_TEST_CASE(each_operation_reaches_the_server) {
    const Place place;
    const auto works = [&](std::vector<std::string> args, const std::string& what) {
        const Finished done = place.run(std::move(args));
        BOOST_TEST(done.status == 0, what + ": " + done.err);
        const auto bodies = place.server.bodies(what);
        BOOST_REQUIRE(!bodies.empty());
        return bodies.back().empty() ? Json() : Json::parse(bodies.back());
    };
    BOOST_TEST(works({"send", id, "hello", "--run"}, "POST /events").at("run") == true);
    works({"pause", id}, "POST /pause");
    works({"interrupt", id}, "POST /interrupt");
    BOOST_TEST(works({"ask", id, "why?"}, "POST /ask_agent").at("question") == "why?");
    works({"condense", id}, "POST /condense");
    BOOST_TEST(works({"title", id, "--set", "t"}, "PATCH /" + id).at("title") == "t");
    BOOST_TEST(
        works({"confirm", id, "--reject", "--reason", "no"}, "POST /respond_to_confirmation").at("reason") ==
        "no");
    BOOST_TEST(works({"confirm", id, "--accept"}, "POST /respond_to_confirmation").at("accept") == true);
    BOOST_TEST(works({"policy", id, "always"}, "POST /confirmation_policy").at("policy").at("kind") ==
               "AlwaysConfirm");
    BOOST_TEST(works({"analyzer", id, "none"}, "POST /security_analyzer").at("security_analyzer").is_null());
    BOOST_TEST(works({"secrets", id, "A=env:PATH"}, "POST /secrets").at("secrets").contains("A"));
    BOOST_TEST(place.run({"ask", id, "why?"}).out == "an answer\n");
    BOOST_TEST(place.run({"final", id}).out == "done[31m\n");
    works({"close", id, "--delete"}, "DELETE /" + id);
    BOOST_TEST(place.run({"show", id}).status == 1);
}

BOOST_AUTO_TEST_CASE(a_running_conversation_is_stopped_by_close) {
    Place place;
    place.server.set_status(id, "running");
    BOOST_TEST(place.run({"close", id}).status == 0);
    BOOST_TEST(place.server.bodies("POST /interrupt").size() == 1U);
    BOOST_TEST(place.run({"show", id}).status == 0);
}

BOOST_AUTO_TEST_CASE(what_goes_wrong_has_its_exit_code) {
    const Place place;
    BOOST_TEST(place.run({"show", "33333333-2222-4333-8444-555555555555"}).status == 1);
    BOOST_TEST(place.run({"title", id}).err.find("1.58.0 does not offer generate_title") !=
               std::string::npos);
    BOOST_TEST(place.run({"confirm", id}).status == 64);
    BOOST_TEST(place.run({"policy", id, "sometimes"}).status == 64);
    BOOST_TEST(place.run({"secrets", id, "A=visible"}).status == 64);
    BOOST_TEST(place.run({"create", "--request", "[]"}).status == 64);
    BOOST_TEST(place.run({"show", id, "--agent-url", "ftp://h"}).status == 64);
    BOOST_TEST(place.run({"show", id, "--agent-key", "env:EPILOGUE_NO_SUCH_VARIABLE"}).status == 64);
    BOOST_TEST(place.run({"send", id, "@no such file"}).status == 64);
    BOOST_TEST(place.run({"unknown"}).status == 64);
    const Finished away =
        place.run({"show", id, "--agent-url", "http://127.0.0.1:" + std::to_string(process::free_port())});
    BOOST_TEST(away.status == 69);
    // Another server's key is not the configured one's.
    BOOST_TEST(place.run({"show", id, "--agent-url", place.server.url() + "/"}).status == 1);
    const Epilogue nowhere(Settings{});
    BOOST_TEST(nowhere.run({"conversations", "list"}).status == 64);
}
