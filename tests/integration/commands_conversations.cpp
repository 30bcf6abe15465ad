// `epilogue conversations …` from the outside, against a fake agent server and a real database.
#define BOOST_TEST_MODULE commands_conversations
#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/process/ports.h"
#include "tests/agent/fake_agent_server.h"
#include "tests/agent/held_requests.h"
#include "tests/support/database.h"
#include "tests/support/epilogue.h"
#include "tests/support/eventually.h"
#include "tests/support/text.h"
#include "worker/agents/agent_directory.h"

using namespace epilogue;
using namespace epilogue::testing;
using Json = nlohmann::json;

namespace {

const std::string id = "11111111-2222-4333-8444-555555555555";

/// A server with one conversation, and the program configured for it.
struct Place {
    explicit Place(const Settings& more = {})
        : epilogue(merged({{{"agent_server.url", Setting(server.url())},
                            {"agent_server.session_api_key", Setting(std::string("key"))}},
                           more})) {
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

    FakeAgentServer server;
    Epilogue epilogue;
};

/// A database that remembers, with the tables in it.
struct Memory {
    Memory() {
        server.create_database("remembered");
        const Finished migrated = Epilogue(settings()).run({"migrate"});
        BOOST_TEST(migrated.status == 0, migrated.err);
    }
    Settings settings() const { return settings_for(server, "remembered"); }
    std::vector<Row> endpoints() const {
        return server.query("SELECT conversation_id, url, session_key_sealed FROM agent_endpoints",
                            "remembered");
    }

    Database server;
};

const std::string created_id = "22222222-2222-4333-8444-555555555555";
const std::string security_key = std::string(32, 'k');

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

BOOST_AUTO_TEST_CASE(events_that_a_program_follows_are_one_object_a_line) {
    Place place;
    Process following = place.epilogue.start({"conversations", "events", id, "--follow", "--json"});
    eventually("a socket", [&] { return place.server.sockets(id) == 1; });
    place.server.emit(id, message_event("3", 3, "agent", "two\nlines"));
    eventually("the new one", [&] {
        const std::string out = following.out();
        return out.ends_with('\n') && std::count(out.begin(), out.end(), '\n') == 3;
    });
    following.signal(SIGINT);
    BOOST_TEST(following.wait(patience).value() == 0);
    std::istringstream lines(following.out());
    for (const char* expected : {"1", "2", "3"}) {
        std::string line;
        BOOST_REQUIRE(std::getline(lines, line));
        BOOST_TEST(Json::parse(line).at("id") == expected, line);
    }
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

BOOST_AUTO_TEST_CASE(a_run_that_is_left_says_what_goes_on_and_how_to_take_it_up_again) {
    Place place;
    place.server.on_run([&](const std::string&) { place.server.emit(id, status_event("3", 3, "running")); });
    Process running = place.epilogue.start({"conversations", "run", id});
    eventually("the run", [&] { return place.server.bodies("POST /run").size() == 1; });
    running.signal(SIGINT);
    BOOST_TEST(running.wait(patience).value() != 0);
    BOOST_TEST(contains(running.err(), "the agent works on; epilogue conversations run " + id),
               running.err());
    BOOST_TEST(contains(running.err(), "epilogue conversations pause " + id), running.err());
}

BOOST_AUTO_TEST_CASE(a_runs_time_limit_counts_from_the_beginning) {
    Place place;
    const HeldRequests held;
    place.server.on("GET /server_info", held.handler());
    const Finished late = place.run({"run", id, "--timeout", "1"});
    BOOST_TEST(late.status == 1);
    BOOST_TEST(contains(late.err, "did not answer within"), late.err);
    BOOST_TEST(place.server.bodies("POST /run").empty());
}

BOOST_AUTO_TEST_CASE(following_ends_when_the_conversation_is_deleted) {
    Place place;
    Process following = place.epilogue.start({"conversations", "events", id, "--follow"});
    eventually("a socket", [&] { return place.server.sockets(id) == 1; });
    BOOST_TEST(place.run({"close", id, "--delete"}).status == 0);
    BOOST_TEST(following.wait(patience).value() == 1);
    BOOST_TEST(contains(following.err(), "404"), following.err());
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

BOOST_AUTO_TEST_CASE(what_is_remembered_is_known_to_workers_and_callbacks) {
    const Memory memory;
    const Place place(
        merged({memory.settings(), {{"security.keys", std::vector<std::string>{security_key}}}}));
    const Finished created = place.run({"create", "--id", created_id, "--remember"});
    BOOST_TEST(created.status == 0, created.err);
    BOOST_TEST(created.out == created_id + "\n");
    BOOST_TEST(place.run({"create", "--remember"}).status == 0);  // with an id of its own making
    BOOST_TEST(place.run({"remember", id}).status == 0);
    BOOST_TEST(place.run({"remember", id}).status == 0);
    const auto rows = memory.endpoints();
    BOOST_TEST(rows.size() == 3U);
    const Sealer sealer = session_key_sealer({Secret(security_key)});
    for (const Row& row : rows) {
        BOOST_TEST(row.at(1).value() == place.server.url());
        BOOST_TEST(sealer.open(row.at(2).value(), row.at(0).value()).value().reveal() == "key");
    }
    const Finished added =
        place.epilogue.run({"callbacks", "add", "--conversation", created_id, "--processor", "log"});
    BOOST_TEST(added.status == 0, added.err);
    const Finished shown =
        place.epilogue.run({"callbacks", "show", added.out.substr(0, added.out.size() - 1)});
    BOOST_TEST(contains(shown.out, "agent_url: " + place.server.url() + "\n"), shown.out);
    BOOST_TEST(contains(shown.out, "agent_key: sealed\n"), shown.out);

    // A mistyped id is not remembered.
    BOOST_TEST(place.run({"remember", "33333333-2222-4333-8444-555555555555"}).status == 1);
    BOOST_TEST(memory.endpoints().size() == 3U);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_remembered_is_not_created) {
    const Memory memory;
    const auto nothing_is_done = [](const Place& place, int status, const std::string& why) {
        for (const auto& args :
             {std::vector<std::string>{"create", "--remember"}, std::vector<std::string>{"remember", id}}) {
            const Finished refused = place.run(args);
            BOOST_TEST(refused.status == status, refused.err);
            BOOST_TEST(contains(refused.err, why), refused.err);
        }
        BOOST_TEST(place.server.bodies("POST /api/conversations").empty());
    };
    nothing_is_done(Place(memory.settings()), 64, "[security] keys is empty");
    const Settings keys{{"security.keys", std::vector<std::string>{security_key}}};
    const Settings nobody{{"database.port", std::int64_t{process::free_port()}}};
    nothing_is_done(Place(merged({memory.settings(), keys, nobody})), 69, "the database is unavailable");
    BOOST_TEST(memory.endpoints().empty());
    // A server that takes no key needs none of ours.
    Place open(merged({memory.settings(), {{"agent_server.session_api_key", std::string()}}}));
    open.server.on("GET /" + id, [](const auto&) { return fake_platform::json_reply(200, "{}"); });
    BOOST_TEST(open.run({"remember", id}).status == 0);
    BOOST_TEST((memory.endpoints().at(0).at(2) == std::nullopt));
}

BOOST_AUTO_TEST_CASE(a_secret_is_never_taken_from_the_command_line) {
    const Place place;
    const TempDir folder;
    std::ofstream(folder.path() / "key") << "key\n";
    const std::string in_file = "file:" + (folder.path() / "key").string();
    BOOST_TEST(place.run({"show", id, "--agent-key", in_file}).status == 0);
    for (const auto& args : {std::vector<std::string>{"show", id, "--agent-key", "hidden-key"},
                             std::vector<std::string>{"secrets", id, "TOKEN=hidden-key"},
                             std::vector<std::string>{"secrets", id, "hidden-key"}}) {
        const Finished refused = place.run(args);
        BOOST_TEST(refused.status == 64);
        BOOST_TEST(contains(refused.err, "file:PATH"), refused.err);
        BOOST_TEST(!contains(refused.err, "hidden-key"), refused.err);
    }
}

BOOST_AUTO_TEST_CASE(a_text_that_is_not_utf8_is_wrong_usage_and_is_not_sent) {
    const Place place;
    const std::string broken = "caf\xe9";
    for (const auto& args : {std::vector<std::string>{"send", id, broken},
                             {"send", id, "@-"},
                             {"ask", id, broken},
                             {"title", id, "--set", broken},
                             {"confirm", id, "--reject", "--reason", broken},
                             {"create", "--message", broken},
                             {"create", "--workspace", broken},
                             {"create", "--id", broken}}) {
        const Finished refused = place.run(args, broken);
        BOOST_TEST(refused.status == 64, refused.err);
        BOOST_TEST(contains(refused.err, "expected valid UTF-8"), refused.err);
    }
    BOOST_TEST(place.server.bodies("POST /events").empty());
    BOOST_TEST(place.server.bodies("POST /api/conversations").empty());
}

BOOST_AUTO_TEST_CASE(a_refused_run_does_not_hide_that_the_message_is_kept) {
    Place place;
    place.server.on("POST /events", [](const auto&) {
        return fake_platform::json_reply(
            429, R"({"detail":"Message saved, but the conversation run limit was reached."})");
    });
    const Finished refused = place.run({"send", id, "hello", "--run"});
    BOOST_TEST(refused.status == 1);
    BOOST_TEST(contains(refused.err, "is saved: do not send it again"), refused.err);
    place.server.on("GET /events/search", [](const auto&) { return fake_platform::json_reply(500, "{}"); });
    const Finished read = place.run({"events", id});
    BOOST_TEST(read.status == 1);
    BOOST_TEST(!contains(read.err, "may have been done"), read.err);
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
