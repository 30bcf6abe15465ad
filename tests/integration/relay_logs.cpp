// Whole logs into the topic: `epilogue relay --once`, servers that are followed as a whole, and what no
// webhook brought. The agent server is a fake one; the broker and the database are real.
#define BOOST_TEST_MODULE relay_logs
#include <fstream>
#include <map>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/ids.h"
#include "base/io/http.h"
#include "tests/agent/fake_agent_server.h"
#include "tests/support/eventually.h"
#include "tests/support/ports.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using nlohmann::json;
namespace fs = std::filesystem;

const std::string first_id = "11112222333344445555666677778888";
const std::string second_id = "99992222333344445555666677778888";

using Ids = std::vector<std::string>;

/// Of each conversation in the topic the ids of its events, in its order.
std::map<std::string, Ids> told(const Rig& rig) {
    std::map<std::string, Ids> conversations;
    for (const Record& record : read_topic(broker_of_this_program().bootstrap(), rig.name()))
        conversations[*record.key].push_back(json::parse(*record.value).at("id").get<std::string>());
    return conversations;
}

/// Waits until the topic has exactly these events of that conversation.
void wait_told(const Rig& rig, const std::string& id, const Ids& ids) {
    eventually("the topic has all of it", [&] { return told(rig)[id].size() >= ids.size(); });
    const Ids found = told(rig)[id];
    BOOST_TEST(found == ids, boost::test_tools::per_element());
}

void say(FakeAgentServer& server, const std::string& id, const Ids& ids) {
    double seconds = static_cast<double>(server.log(id).size());
    for (const auto& each : ids) server.emit(id, message_event(each, seconds++, "agent", "words"));
}

Settings settings_of(const FakeAgentServer& server) {
    return {{"agent_server.url", server.url()}, {"agent_server.session_api_key", "key"}};
}

/// A relay beside that server, whose key its webhooks bring, too.
WorkerProcess relay_of(const Rig& rig, const FakeAgentServer& server, bool all) {
    const auto port = free_port();
    const std::string servers =
        "[{url = \"" + server.url() + "\", key = \"key\", all = " + (all ? "true" : "false") + "}]";
    WorkerProcess relay(
        rig.epilogue().start({"relay"}, {{"EPILOGUE_RELAY_HTTP_LISTEN", "127.0.0.1:" + std::to_string(port)},
                                         {"EPILOGUE_RELAY_KEYS", "key"},
                                         {"EPILOGUE_RELAY_SERVERS", servers}}),
        port);
    relay.wait_ready(patience);
    return relay;
}

int post(const WorkerProcess& relay, const std::string& id, const std::vector<std::string>& events) {
    HttpRequest request;
    request.method = "POST";
    request.url = relay.url("/events/" + id);
    request.headers = {"X-Session-API-Key: key"};
    for (const auto& event : events) request.body += (request.body.empty() ? "[" : ",") + event;
    request.body += "]";
    return HttpClient().send(request).status;
}

void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_folder_of_persisted_events_is_brought_once_more_each_time_under_the_same_ids) {
    const Rig rig("folder", 1);
    const TempDir dir;
    const fs::path v1 = dir.path() / "conversations" / first_id / "events";
    write(v1 / "event-00000-a.json", message_event("a", 0, "user", "words"));
    write(v1 / "event-00001-b.json", message_event("b", 1, "agent", "words"));
    write(dir.path() / "sessions/old/events/10.json", R"({"id":10,"action":"finish"})");
    write(dir.path() / "sessions/old/events/9.json", R"({"id":9,"action":"run"})");
    for (std::size_t round = 1; round <= 2; ++round) {
        const auto ran = rig.epilogue().run({"relay", "--once", dir.path().string()});
        BOOST_TEST(ran.status == 0, ran.err);
        BOOST_TEST(ran.out == "2 of 2 conversations, 4 events acknowledged\n");
        BOOST_TEST(!contains(ran.err, "\r"));
    }
    std::map<std::string, std::vector<std::string>> seqs;
    for (const Record& record : read_topic(broker_of_this_program().bootstrap(), rig.name())) {
        const auto seq = record.headers.find("seq");
        seqs[*record.key].push_back(json::parse(*record.value).at("id").dump() + "@" +
                                    (seq == record.headers.end() ? "" : seq->second));
    }
    BOOST_TEST((seqs[first_id] == Ids{"\"a\"@0", "\"b\"@1", "\"a\"@0", "\"b\"@1"}));
    BOOST_TEST((seqs["old"] == Ids{"9@", "10@", "9@", "10@"}));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_brought_from_a_folder_is_named_and_the_rest_is_brought) {
    const Rig rig("broken-folder", 1);
    const TempDir dir;
    write(dir.path() / "c/events/0.json", R"({"id":0,"action":"run"})");
    write(dir.path() / "c/events/1.json", R"({"id":1,"act)");
    write(dir.path() / "c/events/2.json", R"({"id":2,"action":"finish"})");
    const auto ran = rig.epilogue().run({"relay", "--once", (dir.path() / "c").string()});
    BOOST_TEST(ran.status == 1);
    BOOST_TEST(ran.out == "1 of 1 conversations, 2 events acknowledged\n");
    BOOST_TEST(contains(ran.err, "c/events/1.json: is no JSON"));
    const auto none = rig.epilogue().run({"relay", "--once", (dir.path() / "none").string()});
    BOOST_TEST(none.status == 64);
    BOOST_TEST(contains(none.err, "there is no such file or folder"));
}

BOOST_AUTO_TEST_CASE(the_logs_of_a_server_or_of_one_conversation_are_brought_as_the_follower_brings_them) {
    FakeAgentServer server;
    server.add(first_id);
    server.add(second_id);
    say(server, first_id, {"a", "b", "c"});
    say(server, second_id, {"d"});
    const Rig rig("once-server", 1, settings_of(server));
    auto ran = rig.epilogue().run({"relay", "--once", server.url()});
    BOOST_TEST(ran.status == 0, ran.err);
    BOOST_TEST(ran.out == "2 of 2 conversations, 4 events acknowledged\n");
    wait_told(rig, first_id, {"a", "b", "c"});
    wait_told(rig, second_id, {"d"});
    for (const Record& record : read_topic(broker_of_this_program().bootstrap(), rig.name()))
        BOOST_TEST(record.headers.contains("seq"));

    ran = rig.epilogue().run({"relay", "--once", server.url() + "/api/conversations/" + second_id});
    BOOST_TEST(ran.out == "1 of 1 conversations, 1 events acknowledged\n");
    wait_told(rig, second_id, {"d", "d"});

    ran = rig.epilogue().run({"relay", "--once", server.url() + "/api/conversations/none"});
    BOOST_TEST(ran.status == 1);
    BOOST_TEST(contains(ran.err, "none: the agent server does not know the conversation"));
}

BOOST_AUTO_TEST_CASE(exit_codes_say_what_is_wrong) {
    const Rig rig("once-codes", 1);
    const auto code = [&](const std::vector<std::string>& args) {
        std::vector<std::string> all{"relay", "--once"};
        all.insert(all.end(), args.begin(), args.end());
        return rig.epilogue().run(all).status;
    };
    BOOST_TEST(code({"http://127.0.0.1:" + std::to_string(free_port())}) == 69);
    BOOST_TEST(code({"http://user@host"}) == 64);
    BOOST_TEST(code({"http://host/api/conversations/"}) == 64);
    BOOST_TEST(code({"http://127.0.0.1:1", "--key", "secret"}) == 64);
    BOOST_TEST(code({"http://127.0.0.1:1", "--key", "env:NOT_SET"}) == 64);
    FakeAgentServer server;
    BOOST_TEST(code({server.url()}) == 64);  // it refuses an empty key
    const TempDir dir;
    write(dir.path() / "events/0.json", "{}");
    const auto nowhere = "kafka.brokers=127.0.0.1:" + std::to_string(free_port());
    BOOST_TEST(code({dir.path().string(), "--set", nowhere}) == 69);
    BOOST_TEST(code({dir.path().string(), "--set", "kafka.topic=none"}) == 78);
}

BOOST_AUTO_TEST_CASE(every_conversation_of_a_server_that_is_followed_as_a_whole_is_in_the_topic) {
    FakeAgentServer server;
    server.add(first_id);
    say(server, first_id, {"a", "b"});
    const Rig rig("whole-server", 1);
    auto relay = relay_of(rig, server, true);
    wait_told(rig, first_id, {"a", "b"});
    server.add(second_id);
    say(server, second_id, {"c"});
    say(server, first_id, {"d"});
    wait_told(rig, second_id, {"c"});
    wait_told(rig, first_id, {"a", "b", "d"});
    eventually("both are followed, and nothing is behind", [&] {
        return total(relay.metrics(), "epilogue_relay_followed") == 2 &&
               total(relay.metrics(), "epilogue_relay_behind") == 0 &&
               total(relay.metrics(), "epilogue_relay_behind_seconds") == 0;
    });
    BOOST_TEST(relay.process().stop(patience) == 0);
}

BOOST_AUTO_TEST_CASE(
    what_no_webhook_brought_is_found_in_the_servers_log_and_brought_once_before_the_end_of_the_run) {
    FakeAgentServer server;
    server.add(first_id);
    const std::string end = status_event("end", 4, "finished");
    say(server, first_id, {"a", "b", "c", "d"});
    server.emit(first_id, end);
    const auto log = server.log(first_id);
    const Rig rig("compared", 1);
    auto relay = relay_of(rig, server, false);
    BOOST_TEST(post(relay, first_id, {log[0], log[2], end}) == 200);
    // The end is in the log, too, and comes from there before the one that has waited.
    wait_told(rig, first_id, {"a", "c", "b", "d", "end", "end"});
    // The next one begins where this one stood.
    say(server, first_id, {"e", "f"});
    server.emit(first_id, status_event("end 2", 8, "finished"));
    BOOST_TEST(post(relay, first_id, {server.log(first_id).back()}) == 200);
    wait_told(rig, first_id, {"a", "c", "b", "d", "end", "end", "e", "f", "end 2", "end 2"});
    BOOST_TEST(relay.process().stop(patience) == 0);
}

BOOST_AUTO_TEST_CASE(an_end_waits_for_the_log_of_a_conversation_that_another_relay_follows_and_holds) {
    FakeAgentServer server;
    server.add(first_id);
    say(server, first_id, {"a", "b", "c"});
    server.emit(first_id, status_event("end", 4, "finished"));
    const auto log = server.log(first_id);
    const Rig rig("compared-followed", 1);
    // That one stands still: it has brought the first event, and holds the conversation.
    rig.query(
        "INSERT INTO relay_positions (conversation_id, server, next_index, last_event_id, owner, generation, "
        "lease_until, added_at) VALUES ('" +
        first_id + "','" + server.url() +
        "',1,'a','another',7,UTC_TIMESTAMP(6) + INTERVAL 1 HOUR,UTC_TIMESTAMP(6))");
    rig.query(
        "INSERT INTO callback_progress (callback_id, conversation_id, phase, options, adopted_at, "
        "generation) "
        "VALUES (1,'" +
        first_id + "','watching','{}',UTC_TIMESTAMP(6),0)");
    auto relay = relay_of(rig, server, false);
    BOOST_TEST(post(relay, first_id, {log[1], log[3]}) == 200);
    wait_told(rig, first_id, {"b", "c", "end", "end"});
    const auto row = rig.query("SELECT next_index, owner, generation FROM relay_positions").at(0);
    BOOST_TEST((row.at(0) == "1" && row.at(1) == "another" && row.at(2) == "7"));
    BOOST_TEST(total(relay.metrics(), "epilogue_relay_gaps_total") == 0);
    BOOST_TEST(relay.process().stop(patience) == 0);
}

BOOST_AUTO_TEST_CASE(what_came_to_nobody_while_the_relay_was_away_is_brought_when_it_starts) {
    FakeAgentServer server;
    server.add(first_id);
    say(server, first_id, {"a"});
    const Rig rig("compared-at-start", 1);
    {
        auto relay = relay_of(rig, server, false);
        BOOST_TEST(post(relay, first_id, {server.log(first_id)[0]}) == 200);
        BOOST_TEST(relay.process().stop(patience) == 0);
    }
    say(server, first_id, {"b", "c"});
    auto relay = relay_of(rig, server, false);
    eventually("it is there", [&] {
        const auto ids = told(rig)[first_id];
        return ids.size() >= 3 && Ids(ids.end() - 2, ids.end()) == Ids{"b", "c"};
    });
}
