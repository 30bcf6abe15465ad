// What a worker makes of the logs of a real agent server: EPILOGUE_AGENT_SERVER says which version.
#define BOOST_TEST_MODULE agent_catch_ups
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "agent/features.h"
#include "tests/agent/live_topic.h"
#include "tests/agent/scripted_conversation.h"
#include "tests/agent/shared_server.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;
using Json = nlohmann::json;
using Posts = std::vector<std::string>;

const std::string question = "Which file would you like me to change?";
const std::string answer = "Changed it.";
const std::string api_key = "the-api-key";

std::string url() {
    return "http://127.0.0.1:" + std::to_string(server().port());
}

/// What was posted there, oldest first.
Posts posts_at(const Rig& rig, const std::string& place) {
    Posts bodies;
    for (const auto& comment : rig.platform().visible())
        if (comment.path == place) bodies.push_back(comment.body);
    return bodies;
}

/// Whether each post holds the words that stand at its place, and there are no others.
bool hold(const Posts& posts, const std::vector<std::string>& words) {
    return std::equal(posts.begin(), posts.end(), words.begin(), words.end(),
                      [](const auto& post, const auto& word) { return contains(post, word); });
}

std::int64_t add(const Rig& rig, const std::string& conversation, int number, const std::string& from) {
    return rig.add_callback({"--conversation", conversation, "--processor", "github", "--mode", "every_turn",
                             "--from", from, "--processor-json",
                             Json{{"repo", "octo/asked"}, {"number", number}}.dump()});
}

void ask_now(const Rig& rig) {
    rig.query("UPDATE catch_ups SET next_try_at=UTC_TIMESTAMP(6)");
}

std::string reason_of(const Rig& rig, std::int64_t callback) {
    const auto shown = rig.epilogue().run({"callbacks", "show", std::to_string(callback), "--json"});
    return Json::parse(shown.out).at("reason").dump();
}

/// Asks and answers: two turns, each with an end of its own.
void ask(ScriptedConversation& conversation) {
    BOOST_TEST_REQUIRE(conversation.send().run().status == "finished");
}
void answer_it(ScriptedConversation& conversation) {
    BOOST_TEST_REQUIRE(conversation.send("Change a.txt").run().status == "finished");
}

/// Returns when an end that is there has stood for settle_ms: a callback that comes then comes behind it.
void let_it_settle() {
    const auto since = std::chrono::steady_clock::now();
    eventually("the end settles", [=] { return std::chrono::steady_clock::now() - since > 2s; });
}

/// From now on the server fails when it reads one event of that conversation.
void make_unreadable(std::string id) {
    server().end(SIGTERM);
    id.erase(std::remove(id.begin(), id.end(), '-'), id.end());
    std::filesystem::path found;
    for (const auto& file : std::filesystem::directory_iterator(server().conversations() / id / "events"))
        if (file.path().filename().string().starts_with("event-00003-")) found = file.path();
    std::filesystem::remove(found);
    std::filesystem::create_symlink("/proc/self/mem", found);  // opens, and cannot be read
    server().start();
}

}  // namespace

BOOST_AUTO_TEST_CASE(in_every_zone_a_catch_up_tells_each_callback_the_turns_that_it_waited_for) {
    int zones = 0;
    for (const std::string zone : {"UTC", "America/New_York", "Asia/Tokyo"}) {
        if (++zones > 1) server().move_to(zone);
        const Rig rig("zone_" + std::to_string(zones), 1, asks_the_server());
        ScriptedConversation conversation(server(), "message");
        const std::string& id = conversation->id();
        add(rig, id, 1, "last");
        ask(conversation);
        let_it_settle();
        add(rig, id, 2, "next");
        add(rig, id, 3, "last");
        answer_it(conversation);

        auto worker = rig.epilogue().worker();
        eventually("the catch-up, in " + zone,
                   [&] { return rig.number("SELECT COUNT(*) FROM catch_ups") == 0; });
        eventually("its posts",
                   [&] { return rig.number("SELECT COUNT(*) FROM deliveries WHERE state<>'SENT'") == 0; });
        BOOST_TEST(hold(posts_at(rig, "octo/asked#1"), {question, answer}), zone);
        BOOST_TEST(hold(posts_at(rig, "octo/asked#2"), {answer}), zone);
        BOOST_TEST(hold(posts_at(rig, "octo/asked#3"), {question, answer}), zone);
    }
}

BOOST_AUTO_TEST_CASE(the_end_of_a_turn_is_posted_live_though_its_servers_clock_was_set_back_before_it) {
    server().move_to("Asia/Tokyo");
    const Rig rig("set_back", 1);
    ScriptedConversation conversation(server(), "message");
    rig.add_github(conversation->id(), "octo/asked", 1, "every_turn");
    const LiveTopic topic(rig, server(), conversation->id());
    auto worker = rig.epilogue().worker();
    ask(conversation);
    eventually("the first end", [&] { return hold(posts_at(rig, "octo/asked#1"), {question}); });
    server().move_to("America/New_York");
    answer_it(conversation);
    eventually("the second end", [&] { return hold(posts_at(rig, "octo/asked#1"), {question, answer}); });

    // Both are of one log now, whose clock was moved: who comes then is told its last end. A server that
    // sorts its log by time shows the first turn last.
    if (!agent::features_of(wanted_version()).log_as_written) return;
    const Rig late("moved", 1, asks_the_server());
    add(late, conversation->id(), 1, "last");
    auto another = late.epilogue().worker();
    eventually("the last end", [&] { return hold(posts_at(late, "octo/asked#1"), {answer}); });
}

BOOST_AUTO_TEST_CASE(a_log_that_its_server_cannot_read_is_asked_for_ever_more_seldom_and_then_given_up) {
    ScriptedConversation broken(server(), "message");
    ScriptedConversation whole(server(), "message");
    ask(broken);
    ask(whole);
    make_unreadable(broken->id());
    const auto log = agent::ConversationCalls(server().client(), broken->id()).events();
    BOOST_TEST_REQUIRE((!log && log.error().status == 500), (log ? "readable" : log.error().text));

    const Rig rig("unreadable", 1, asks_the_server({{"worker.adopt_max_age_s", std::int64_t{0}}}));
    const auto of_broken = add(rig, broken->id(), 1, "last");
    add(rig, whole->id(), 2, "last");
    auto worker = rig.epilogue().worker();
    std::int64_t pause_before = 20;
    for (int tries = 1; tries <= 4; ++tries) {
        try {
            eventually("another try", [&] {
                return rig.number(
                           "SELECT COUNT(*) FROM catch_ups WHERE owner IS NULL AND hindrance='failed' AND "
                           "attempts>=" +
                           std::to_string(tries)) == 1;
            });
        } catch (const GaveUp& gave_up) {
            BOOST_FAIL(gave_up.what() << " " << tries << "\n" << worker.process().err());
        }
        const auto pause = rig.number(
            "SELECT TIMESTAMPDIFF(SECOND,UTC_TIMESTAMP(6),next_try_at) FROM catch_ups WHERE "
            "hindrance='failed'");
        BOOST_TEST(pause > pause_before);
        pause_before = pause;
        BOOST_TEST(contains(reason_of(rig, of_broken), "cannot read the conversation's log"));
        ask_now(rig);
    }
    eventually("it is given up",
               [&] { return contains(reason_of(rig, of_broken), "it is not asked any more"); });
    eventually("the other one is told", [&] { return hold(posts_at(rig, "octo/asked#2"), {question}); });
    BOOST_TEST(posts_at(rig, "octo/asked#1").empty());
}

namespace {

/// Registers a callback by API: the command would look at the server first.
void register_callback(const WorkerProcess& worker, const std::string& conversation, int number,
                       const std::string& agent_url) {
    epilogue::HttpRequest request;
    request.method = "POST";
    request.url = worker.url("/api/callbacks");
    request.headers = {"X-Session-API-Key: " + api_key, "Content-Type: application/json"};
    request.body = Json{
        {"conversation", conversation},
        {"processor", "github"},
        {"processor_json", {{"repo", "octo/asked"}, {"number", number}}},
        {"agent_url", agent_url},
        {"agent_key",
         "lab-key"}}.dump();
    const auto reply = epilogue::HttpClient().send(request);
    BOOST_TEST_REQUIRE(reply.status == 201, reply.body + reply.cause);
}

}  // namespace

BOOST_AUTO_TEST_CASE(forty_frozen_neighbours_hold_up_none_of_five_conversations_of_a_healthy_server) {
    constexpr int neighbours = 40;
    constexpr int conversations = 5;
    std::vector<std::unique_ptr<ScriptedConversation>> ended;
    for (int i = 0; i < conversations; ++i) {
        ended.push_back(std::make_unique<ScriptedConversation>(server(), "finishfirst"));
        BOOST_TEST_REQUIRE(ended.back()->send().run().status == "finished");
    }
    // The kernel takes the connections, and there is no answer.
    boost::asio::io_context io;
    std::vector<boost::asio::ip::tcp::acceptor> frozen;
    const Rig rig("frozen", 1,
                  {{"worker.api_key", api_key},
                   {"worker.lease_s", std::int64_t{300}},
                   {"worker.http_timeout_s", std::int64_t{120}}});
    auto worker = rig.epilogue().worker();
    for (int i = 0; i < neighbours; ++i) {
        frozen.emplace_back(io, boost::asio::ip::tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
        register_callback(worker, "11111111-2222-4333-8444-" + std::to_string(555555555500 + i), i + 1,
                          "http://127.0.0.1:" + std::to_string(frozen.back().local_endpoint().port()));
    }
    for (int i = 0; i < conversations; ++i)
        register_callback(worker, (*ended[static_cast<std::size_t>(i)])->id(), neighbours + i + 1, url());
    // One call to those that are frozen takes as long as the patience here.
    eventually("the five are told", 60s,
               [&] { return rig.platform().visible().size() == std::size_t{conversations}; });
    for (int i = 1; i <= conversations; ++i)
        BOOST_TEST(hold(posts_at(rig, "octo/asked#" + std::to_string(neighbours + i)), {"Nothing to do."}));
}

// What takes minutes by itself.
BOOST_AUTO_TEST_SUITE(minutes)

BOOST_AUTO_TEST_CASE(a_server_that_was_away_for_ten_minutes_is_asked_until_it_answers) {
    ScriptedConversation conversation(server(), "message");
    ask(conversation);
    server().end(SIGTERM);
    const auto since = std::chrono::steady_clock::now();
    const Rig rig("away", 1, asks_the_server());
    const auto callback = add(rig, conversation->id(), 1, "last");
    auto worker = rig.epilogue().worker();
    eventually("another try after the fifth", 300s, [&] {
        return rig.number(
                   "SELECT COUNT(*) FROM catch_ups WHERE owner IS NULL AND attempts>=5 AND "
                   "next_try_at>UTC_TIMESTAMP(6)") == 1;
    });
    eventually("ten minutes are over", 700s,
               [&] { return std::chrono::steady_clock::now() - since > 10min; });
    BOOST_TEST(contains(reason_of(rig, callback), url() + " does not answer"));
    server().start();
    ask_now(rig);
    eventually("the end", [&] { return hold(posts_at(rig, "octo/asked#1"), {question}); });
    eventually("nothing hinders", [&] { return reason_of(rig, callback) == "null"; });
}

BOOST_AUTO_TEST_SUITE_END()
