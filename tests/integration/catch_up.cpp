// What the topic does not tell any more, or did not tell yet, comes from the agent server's log.
#define BOOST_TEST_MODULE catch_up
#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "tests/agent/fake_agent_server.h"
#include "tests/integration/told_conversation.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/temp_dir.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;
using Json = nlohmann::json;

const std::string api_key = "the-api-key";

/// By API, which is quicker than by command line.
void add_callback(const WorkerProcess& worker, const std::string& conversation, int number,
                  const std::string& repo, const std::string& agent_url = "") {
    epilogue::HttpRequest request;
    request.method = "POST";
    request.url = worker.url("/api/callbacks");
    request.headers = {"X-Session-API-Key: " + api_key, "Content-Type: application/json"};
    Json body{{"conversation", conversation},
              {"processor", "github"},
              {"processor_json", {{"repo", repo}, {"number", number}}},
              {"mode", "every_turn"}};
    if (!agent_url.empty()) {
        body["agent_url"] = agent_url;
        body["agent_key"] = "key";
    }
    request.body = body.dump();
    const auto answer = epilogue::HttpClient().send(request);
    BOOST_REQUIRE_MESSAGE(answer.status == 201, answer.body << answer.cause);
}

/// The bodies of the posts by place.
std::multimap<std::string, std::string> posts_on(const Rig& rig) {
    std::multimap<std::string, std::string> posts;
    for (const auto& comment : rig.platform().visible()) posts.emplace(comment.path, comment.body);
    return posts;
}

std::string only_post(const Rig& rig, const std::string& place) {
    const auto posts = posts_on(rig);
    BOOST_TEST(posts.count(place) == 1U, place << " has " << posts.count(place) << " posts");
    const auto found = posts.find(place);
    return found == posts.end() ? "" : found->second;
}

/// A request that is answered when the test is over.
class Hanging {
  public:
    ~Hanging() { release(); }
    FakeAgentServer::Handler handler() {
        return [this](const auto&) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return over_; });
            return epilogue::fake_platform::Reply{};
        };
    }
    void release() {
        const std::lock_guard lock(mutex_);
        over_ = true;
        changed_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool over_ = false;
};

}  // namespace

BOOST_AUTO_TEST_CASE(two_hundred_conversations_that_had_ended_unseen_are_each_reported_once_through_a_kill) {
    constexpr int conversations = 200;
    FakeAgentServer server("1.58.0", "agent-key");
    std::vector<ConversationScript> tales;
    for (int i = 0; i < conversations; ++i) {
        ConversationScript& script = tales.emplace_back(id_of(i + 1));
        script.user();
        if (i % 4 == 0) script.asks("Which one, in " + script.id() + "?");
        if (i % 4 == 1) script.fails("LLMBadRequestError");
        if (i % 4 == 2) script.status("stuck");
        if (i % 4 == 3) script.asks("Old words.").user().asks("Last words of " + script.id() + ".");
        script.stand_on(server);
    }
    const Rig rig("unseen", 4,
                  {{"worker.api_key", api_key},
                   {"worker.lease_s", std::int64_t{10}},
                   {"worker.http_timeout_s", std::int64_t{4}},
                   {"agent_server.url", server.url()},
                   {"agent_server.session_api_key", "agent-key"}});
    {
        auto killed = rig.epilogue().worker();
        for (int i = 0; i < conversations; ++i)
            add_callback(killed, tales[static_cast<std::size_t>(i)].id(), i + 1, "octo/unseen");
        eventually("some are reported", [&] { return rig.platform().visible().size() >= 20; });
        killed.process().kill9();
    }
    // What it had sent may be carried out after its end, and take leases of 120 s.
    const std::string others =
        "SELECT COUNT(*) FROM information_schema.processlist WHERE db=DATABASE() AND id<>CONNECTION_ID()";
    eventually("the killed worker's sessions are over", [&] { return rig.number(others) == 0; });
    // Its leases pass.
    rig.query("UPDATE catch_ups SET next_try_at=UTC_TIMESTAMP(6)");
    auto worker = rig.epilogue().worker();
    eventually("each is reported", [&] {
        rig.hurry_look_ups();
        return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'") == conversations;
    });
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM catch_ups") == 0);
    const auto posts = posts_on(rig);
    BOOST_TEST(posts.size() == static_cast<std::size_t>(conversations));
    for (int i = 0; i < conversations; ++i) {
        const auto found = posts.find("octo/unseen#" + std::to_string(i + 1));
        BOOST_REQUIRE(found != posts.end());
        const std::string& id = tales[static_cast<std::size_t>(i)].id();
        const std::vector<std::string> words{"Which one, in " + id + "?", "LLMBadRequestError",
                                             "**Got stuck**", "Last words of " + id + "."};
        BOOST_TEST(contains(found->second, words[static_cast<std::size_t>(i % 4)]), found->second);
    }

    // A relay that brings the events after all changes nothing.
    std::vector<Record> all;
    for (const ConversationScript& script : tales) {
        const auto records = script.records();
        all.insert(all.end(), records.begin(), records.end());
    }
    rig.publish(all);
    eventually("all of it is read", [&] { return rig.stored() == rig.ends(); });
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM deliveries") == conversations);
    BOOST_TEST(rig.platform().visible().size() == static_cast<std::size_t>(conversations));
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM conversations WHERE turn_open=1") == 0);

    // What comes then is told as ever.
    tales[0].user().asks("And now?");
    const auto records = tales[0].records();
    rig.publish({records.end() - 4, records.end()});
    eventually("a new turn is reported", [&] {
        return rig.platform().visible().size() == static_cast<std::size_t>(conversations) + 1;
    });
}

BOOST_AUTO_TEST_CASE(before_a_silence_counts_the_agent_server_is_asked_and_waited_for_so_long_and_no_longer) {
    FakeAgentServer server("1.58.0", "agent-key");
    Hanging hanging;
    const Rig rig("asked", 1,
                  {{"worker.api_key", api_key},
                   {"worker.inactivity_timeout_s", std::int64_t{4}},
                   {"worker.http_timeout_s", std::int64_t{2}},
                   {"agent_server.url", server.url()},
                   {"agent_server.session_api_key", "agent-key"}});
    ConversationScript ended(id_of(1)), alive(id_of(2)), silent(id_of(3)), stuck_server(id_of(4)),
        nowhere(id_of(5));
    auto worker = rig.epilogue().worker();
    int number = 0;
    for (ConversationScript* script : {&ended, &alive, &silent, &stuck_server, &nowhere}) {
        script->user();
        rig.publish(script->records());
    }
    eventually("the topic has told that they run",
               [&] { return rig.number("SELECT COUNT(*) FROM conversations WHERE turn_open=1") == 5; });
    server.on("GET /" + stuck_server.id() + "/events/search", hanging.handler());
    ended.asks("Nobody has brought this to the topic.");
    alive.asks("One.").status("running");
    for (const ConversationScript* script : {&ended, &alive, &silent, &stuck_server})
        script->stand_on(server);
    for (const ConversationScript* script : {&ended, &alive, &silent, &stuck_server, &nowhere})
        add_callback(worker, script->id(), ++number, "octo/asked");

    eventually("each has come to an end",
               [&] { return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'") == 5; });
    BOOST_TEST(contains(only_post(rig, "octo/asked#1"), "Nobody has brought this to the topic."));
    for (const char* place : {"octo/asked#2", "octo/asked#3", "octo/asked#4", "octo/asked#5"})
        BOOST_TEST(contains(only_post(rig, place), "**No sign of life**"));
    const std::string metrics = worker.get("/metrics").body;
    for (const char* result : {"ended", "alive", "silent", "unknown"})
        BOOST_TEST(contains(metrics, "epilogue_catch_ups_total{result=\"" + std::string(result) +
                                         "\",why=\"silence\"}"),
                   metrics);

    // The end comes by the topic too, late: it is known.
    const auto records = ended.records();
    rig.publish({records.end() - 2, records.end()});
    eventually("it is read", [&] { return rig.stored() == rig.ends(); });
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM deliveries WHERE conversation_id='" + ended.id() + "'") == 1);
    hanging.release();
}

BOOST_AUTO_TEST_CASE(
    a_callback_that_comes_to_an_open_turn_of_which_nothing_came_for_a_minute_has_its_server_asked) {
    FakeAgentServer server("1.58.0", "agent-key");
    const Rig rig("open", 1,
                  {{"worker.api_key", api_key},
                   {"agent_server.url", server.url()},
                   {"agent_server.session_api_key", "agent-key"}});
    ConversationScript quiet(id_of(1)), lively(id_of(2));
    auto worker = rig.epilogue().worker();
    for (ConversationScript* script : {&quiet, &lively}) {
        script->user();
        rig.publish(script->records());
        script->asks("The topic has lost this.");
        script->stand_on(server);
    }
    eventually("the topic has told that they run",
               [&] { return rig.number("SELECT COUNT(*) FROM conversations WHERE turn_open=1") == 2; });
    const auto last_event = [&](const ConversationScript& script, const std::string& at) {
        rig.query("UPDATE conversations SET last_event_at=UTC_TIMESTAMP(6)" + at +
                  " WHERE conversation_id='" + script.id() + "'");
    };
    last_event(quiet, "-INTERVAL 61 SECOND");
    last_event(lively, "+INTERVAL 1 HOUR");
    add_callback(worker, quiet.id(), 1, "octo/open");
    add_callback(worker, lively.id(), 2, "octo/open");

    eventually("the end is reported",
               [&] { return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'") == 1; });
    BOOST_TEST(contains(only_post(rig, "octo/open#1"), "The topic has lost this."));
    const std::string later =
        "SELECT COUNT(*) FROM catch_ups WHERE why='registered' AND attempts=0 AND conversation_id='" +
        lively.id() + "' AND next_try_at>UTC_TIMESTAMP(6)+INTERVAL 30 MINUTE";
    BOOST_TEST(rig.number(later) == 1);
}

namespace {

/// `callbacks add` with an agent server of its own, whose key stands in a file.
Finished add_with_server(const Rig& rig, const std::string& conversation, int number, const std::string& url,
                         const std::filesystem::path& key) {
    return rig.epilogue().run({"callbacks", "add", "--conversation", conversation, "--processor", "github",
                               "--processor-json", Json{{"repo", "octo/late"}, {"number", number}}.dump(),
                               "--agent-url", url, "--agent-key", "file:" + key.string()});
}

std::string reason_of(const Rig& rig, const std::string& id) {
    const auto shown = rig.epilogue().run({"callbacks", "show", id, "--json"});
    const Json row = Json::parse(shown.out);
    return row.at("reason").is_null() ? "" : row.at("reason").get<std::string>();
}

std::string id_in(const Finished& added) {
    return added.out.substr(0, added.out.find('\n'));
}

}  // namespace

BOOST_AUTO_TEST_CASE(
    what_hinders_a_late_registration_stands_on_it_and_to_wake_it_has_its_server_asked_at_once) {
    const Rig rig("hindered", 1, {{"worker.api_key", api_key}});
    const TempDir folder;
    const auto right = folder.path() / "right";
    const auto wrong = folder.path() / "wrong";
    std::ofstream(right) << "agent-key\n";
    std::ofstream(wrong) << "another-key\n";
    ConversationScript away(id_of(1)), refused(id_of(2));
    for (ConversationScript* script : {&away, &refused}) script->user().asks("From " + script->id() + "?");
    auto away_server = std::make_unique<FakeAgentServer>("1.58.0", "agent-key");
    const unsigned short port = away_server->port();
    const std::string url = away_server->url();
    away_server.reset();
    FakeAgentServer server("1.58.0", "agent-key");
    refused.stand_on(server);
    auto worker = rig.epilogue().worker();

    // It registers, and warns.
    const auto first = add_with_server(rig, away.id(), 1, url, right);
    BOOST_TEST(first.status == 0);
    BOOST_TEST(contains(first.err, "warning: the agent server at " + url + " does not answer"), first.err);
    const auto second = add_with_server(rig, refused.id(), 2, server.url(), wrong);
    BOOST_TEST(second.status == 0);
    BOOST_TEST(
        contains(second.err, "warning: the agent server at " + server.url() + " refuses the session key"),
        second.err);
    eventually("the callbacks say what hinders", [&] {
        return contains(reason_of(rig, id_in(first)), url + " does not answer") &&
               contains(reason_of(rig, id_in(second)), server.url() + " refuses the session key");
    });
    eventually("so does the metric", [&] {
        const std::string metrics = worker.get("/metrics").body;
        return contains(metrics, "epilogue_catch_ups_hindered{hindrance=\"unreachable\"} 1") &&
               contains(metrics, "epilogue_catch_ups_hindered{hindrance=\"unauthorised\"} 1");
    });

    // It would be asked next in ten minutes.
    rig.query("UPDATE catch_ups SET attempts=50, next_try_at=UTC_TIMESTAMP(6)+INTERVAL 10 MINUTE");
    away_server = std::make_unique<FakeAgentServer>("1.58.0", "agent-key", port);
    away.stand_on(*away_server);
    const auto woken = rig.epilogue().run({"callbacks", "wake", id_in(first)});
    BOOST_TEST(woken.out == "woken " + id_in(first) + ": its agent server is asked now\n");
    eventually("its end is told", [&] { return rig.platform().visible().size() == 1; });
    BOOST_TEST(contains(only_post(rig, "octo/late#1"), "From " + away.id()));

    // The right key is given: it is asked without a wake.
    const auto mended = add_with_server(rig, refused.id(), 2, server.url(), right);
    BOOST_TEST(id_in(mended) == id_in(second));
    BOOST_TEST(!contains(mended.err, "warning"), mended.err);
    eventually("its end is told", [&] { return rig.platform().visible().size() == 2; });
    BOOST_TEST(contains(only_post(rig, "octo/late#2"), "From " + refused.id()));
    eventually("nothing is asked any more",
               [&] { return rig.number("SELECT COUNT(*) FROM catch_ups") == 0; });
    for (const auto& added : {first, second}) BOOST_TEST(reason_of(rig, id_in(added)) == "");
    eventually("both are done", [&] {
        return rig.number("SELECT COUNT(*) FROM conversation_callbacks WHERE status='COMPLETED'") == 2;
    });
    BOOST_TEST(rig.epilogue().run({"callbacks", "wake", id_in(first)}).out ==
               "left " + id_in(first) + ": it is not ACTIVE\n");
}

BOOST_AUTO_TEST_CASE(forty_conversations_of_a_paused_sandbox_hold_up_no_catch_up_of_another) {
    FakeAgentServer frozen, alive;
    Hanging hanging;
    const Rig rig("paused", 1,
                  {{"worker.api_key", api_key},
                   {"worker.lease_s", std::int64_t{40}},
                   {"worker.http_timeout_s", std::int64_t{15}}});
    std::vector<ConversationScript> tales;
    for (int i = 1; i <= 45; ++i) {
        ConversationScript& script = tales.emplace_back(id_of(i));
        script.user().asks("From " + script.id() + "?");
        script.stand_on(i <= 40 ? frozen : alive);
        if (i <= 40) frozen.on("GET /" + script.id() + "/events/search", hanging.handler());
    }
    auto worker = rig.epilogue().worker();
    for (int i = 1; i <= 45; ++i)
        add_callback(worker, tales[static_cast<std::size_t>(i - 1)].id(), i, "octo/paused",
                     i <= 40 ? frozen.url() : alive.url());
    eventually("the five are told", [&] { return rig.platform().visible().size() == 5; });
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM catch_ups WHERE attempts=0") > 0);
    for (int i = 41; i <= 45; ++i)
        BOOST_TEST(contains(only_post(rig, "octo/paused#" + std::to_string(i)), "From " + id_of(i)));
    hanging.release();
}

BOOST_AUTO_TEST_CASE(servers_that_never_answer_hold_up_none_that_does) {
    constexpr int neighbours = 16;
    constexpr int conversations = 5;
    // The kernel takes the connections.
    boost::asio::io_context io;
    std::vector<boost::asio::ip::tcp::acceptor> silent;
    FakeAgentServer server;
    const Rig rig("silent", 1,
                  {{"worker.api_key", api_key},
                   {"worker.lease_s", std::int64_t{300}},
                   {"worker.http_timeout_s", std::int64_t{120}}});
    auto worker = rig.epilogue().worker();
    for (int i = 1; i <= neighbours; ++i) {
        silent.emplace_back(io, boost::asio::ip::tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
        add_callback(worker, id_of(i), i, "octo/silent",
                     "http://127.0.0.1:" + std::to_string(silent.back().local_endpoint().port()));
    }
    for (int i = neighbours + 1; i <= neighbours + conversations; ++i) {
        ConversationScript script(id_of(i));
        script.user().asks("From " + script.id() + "?").stand_on(server);
        add_callback(worker, script.id(), i, "octo/silent", server.url());
    }
    // One call to those that are silent takes as long as the patience here.
    eventually("the five are told", 60s, [&] { return rig.platform().visible().size() == conversations; });
    for (int i = neighbours + 1; i <= neighbours + conversations; ++i)
        BOOST_TEST(contains(only_post(rig, "octo/silent#" + std::to_string(i)), "From " + id_of(i)));
}
