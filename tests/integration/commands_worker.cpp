// `epilogue worker` and what it depends on: what ends it, what does not, and how it says so.
#define BOOST_TEST_MODULE commands_worker
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"
#include "tests/support/unready.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;

/// Publishes a conversation of one turn and waits until it is posted.
void check_posts(const Rig& rig, const std::string& conversation) {
    rig.add_github(conversation, "o/" + conversation, 1, "once");
    rig.publish(V0Conversation(conversation).user("Go.").agent_finishes("Done.").records());
    eventually(conversation + " is told", [&] {
        const auto visible = rig.platform().visible();
        return !visible.empty() && visible.back().path == "o/" + conversation + "#1";
    });
}

}  // namespace

BOOST_AUTO_TEST_CASE(without_the_tables_it_ends_with_78_and_says_what_to_run) {
    server_of_this_program().create_database("empty");
    const Epilogue epilogue(merged({settings_for(broker_of_this_program(), "none", "none"),
                                    settings_for(server_of_this_program(), "empty"),
                                    {{"worker.http_listen", "127.0.0.1:0"}}}));
    const auto done = epilogue.run({"worker"}, "", 20s);
    BOOST_TEST(done.status == 78);
    BOOST_TEST(contains(done.err, "run epilogue migrate"), done.err);
    BOOST_TEST(done.out.empty());
}

BOOST_AUTO_TEST_CASE(on_newer_tables_it_works) {
    const Rig rig("newer", 1);
    rig.query(
        "INSERT INTO schema_migrations SELECT 1000, 'of a later version', applied_at "
        "FROM schema_migrations LIMIT 1");
    const auto worker = rig.epilogue().worker();
    check_posts(rig, "newer");
    BOOST_TEST(rig.epilogue().run({"migrate"}).status == 0);
}

BOOST_AUTO_TEST_CASE(it_drains_on_a_signal_and_ends_at_once_on_the_second) {
    const Rig rig("signals", 1);
    rig.platform().rules({{{"do", "hang"}, {"method", "POST"}}});
    auto worker = rig.epilogue().worker();
    rig.add_github("held", "o/held", 1, "once");
    rig.publish(V0Conversation("held").user("Go.").agent_finishes("Done.").records());
    rig.platform().wait_held(1, 30s);
    worker.process().signal(SIGINT);
    eventually("it says that it drains", [&] {
        const auto answer = worker.get("/readyz");
        return answer.status == 503 && contains(answer.body, "draining");
    });
    worker.process().signal(SIGTERM);
    BOOST_TEST(worker.process().wait(5s).value_or(0) == 128 + SIGTERM);
}

BOOST_AUTO_TEST_CASE(it_waits_for_a_topic_that_is_missing) {
    const auto& server = server_of_this_program();
    server.create_database("no_topic");
    const Epilogue epilogue(merged(
        {settings_for(broker_of_this_program(), "not-yet", "not-yet"), settings_for(server, "no_topic")}));
    BOOST_TEST(epilogue.run({"migrate"}).status == 0);
    auto worker = epilogue.start_worker();
    wait_unready(worker, "not-yet");
    broker_of_this_program().create_topic("not-yet", 1);
    worker.wait_ready(60s);
    BOOST_TEST(worker.process().stop(30s) == 0);
}

BOOST_AUTO_TEST_CASE(it_outlives_its_database_and_its_broker) {
    const Rig rig("outlived", 2);
    auto& server = server_of_this_program();
    auto& broker = broker_of_this_program();

    server.stop();
    auto worker = rig.epilogue().start_worker();
    wait_unready(worker, "database");
    server.start_again();
    worker.wait_ready(60s);
    check_posts(rig, "first");

    server.kill9();
    wait_unready(worker, "senders");
    eventually("what the database would have to say is left out of the metrics", [&] {
        const std::string metrics = worker.get("/metrics").body;
        return !contains(metrics, "\nepilogue_undelivered{") &&
               !contains(metrics, "\nepilogue_oldest_undelivered_seconds ") &&
               !contains(metrics, "\nepilogue_timeouts_held ");
    });
    server.start_again();
    worker.wait_ready(60s);
    check_posts(rig, "second");

    broker.kill9();
    wait_unready(worker, "broker");
    broker.start_again();
    worker.wait_ready(60s);
    check_posts(rig, "third");
    eventually("the offsets have followed", [&] { return rig.committed() == rig.ends(); });
    BOOST_TEST(worker.process().stop(30s) == 0);
    BOOST_TEST(rig.platform().counts().at("visible") == 3U);
    BOOST_TEST(rig.platform().counts().at("attempts") == 3U);
}

BOOST_AUTO_TEST_CASE(without_a_broker_it_starts_unready_and_joins_when_there_is_one) {
    const Rig rig("unbroken", 1);
    auto& broker = broker_of_this_program();
    broker.stop();
    auto worker = rig.epilogue().start_worker();
    wait_unready(worker, "broker");
    BOOST_TEST(worker.get("/metrics").status == 200);
    broker.start_again();
    worker.wait_ready(60s);
    check_posts(rig, "joined");
}

BOOST_AUTO_TEST_CASE(the_endpoints_that_openhands_calls_otherwise_answer_too) {
    const Rig rig("endpoints", 1);
    const auto worker = rig.epilogue().worker();
    for (const std::string path : {"/healthz", "/health", "/alive"}) {
        const auto answer = worker.get(path);
        BOOST_TEST(answer.status == 200, path);
        BOOST_TEST(answer.body == worker.get("/healthz").body, path);
    }
    // A broker that was started again a moment ago may make it unready for another one.
    eventually("both names say ready", [&] {
        const auto answer = worker.get("/ready");
        return answer.status == 200 && answer.body == worker.get("/readyz").body;
    });
    const auto answer = worker.get("/server_info");
    BOOST_TEST(answer.status == 200);
    const auto info = nlohmann::json::parse(answer.body);
    BOOST_TEST(info.at("name") == "epilogue");
    const auto printed = rig.epilogue().run({"--version"}).out;
    BOOST_TEST(contains(printed, info.at("version").get<std::string>()), printed);
}

BOOST_AUTO_TEST_CASE(a_worker_without_partitions_is_ready) {
    const Rig rig("too_many", 1);
    const auto named = [&](const std::string& client_id) {
        return Epilogue(
            merged({rig.settings(),
                    {{"kafka.properties", std::map<std::string, std::string>{{"client.id", client_id}}}}}));
    };
    const Epilogue one = named("one");
    const Epilogue other = named("other");
    const auto first = one.worker();
    const auto second = other.worker();
    const std::set<std::string> both{"one", "other"};
    eventually("both are in the group", [&] {
        const auto group = broker_of_this_program().group(rig.name());
        return group.is_stable && group.client_ids == both;
    });
    eventually("the one partition is claimed",
               [&] { return rig.number("SELECT COUNT(*) FROM partition_progress") == 1; });
    BOOST_TEST(first.get("/readyz").status == 200);
    BOOST_TEST(second.get("/readyz").status == 200);
    check_posts(rig, "too-many");
    BOOST_TEST(first.get("/readyz").status == 200);
    BOOST_TEST(second.get("/readyz").status == 200);
}

BOOST_AUTO_TEST_CASE(a_post_of_the_log_sink_is_written_whatever_the_log_level_is) {
    const Rig rig("quiet_log", 1, {{"log.level", "error"}});
    rig.add_callback({"--conversation", "quiet", "--processor", "log"});
    auto worker = rig.epilogue().worker();
    rig.publish(V0Conversation("quiet").user("Go.").agent_finishes("All of it is done.").records());
    eventually("it is sent",
               [&] { return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'") == 1; });
    const std::string log = worker.process().err();
    BOOST_TEST(contains(log, "conversation ended"), log);
    BOOST_TEST(contains(log, "All of it is done."), log);
}
