// The fault-injecting proxy does to a connection what it was told to, where it was told to, and counts it.
#define BOOST_TEST_MODULE fault_proxy
#include "tests/support/fault_proxy.h"

#include <chrono>
#include <future>
#include <string>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/io/http.h"
#include "base/io/mysql.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_platform_process.h"
#include "tests/support/proxied_database.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;

/// A table of one row behind a proxy.
struct Behind {
    Behind() {
        database.query("CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL)");
        database.query("INSERT INTO t VALUES (1, 0)");
    }

    std::unique_ptr<MysqlSession> session() const { return database.session(); }
    std::int64_t stored() const { return database.number("SELECT n FROM t"); }

    ProxiedDatabase database;
    FaultProxy& proxy = database.proxy();
};

/// BEGIN, a prepared statement that writes 1, COMMIT: the first that fails.
Result<void> write_one(MysqlSession& session) {
    TRY_VOID(session.run("BEGIN"));
    TRY_VOID(session.execute("UPDATE t SET n=? WHERE id=1", {std::int64_t{1}}));
    return session.run("COMMIT");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mysql_requests)

BOOST_FIXTURE_TEST_CASE(without_a_plan_everything_passes, Behind) {
    BOOST_TEST(write_one(*session()).has_value());
    BOOST_TEST(stored() == 1);
    BOOST_TEST(proxy.counts().connections == 1U);
    BOOST_TEST(proxy.counts().cut == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_lost_request_never_reaches_the_server, Behind) {
    for (const Request at : {Request::begin, Request::statement, Request::commit}) {
        const auto open = session();
        proxy.plan({.action = ProxyAction::lose_request, .at = at});
        const auto written = write_one(*open);
        BOOST_REQUIRE(!written);
        BOOST_TEST(is_lost_connection(written.error()));
        BOOST_TEST(stored() == 0);
    }
    BOOST_TEST(proxy.counts().lost_requests == 3U);
    BOOST_TEST(proxy.counts().cut == 3U);
}

BOOST_FIXTURE_TEST_CASE(a_lost_answer_is_to_what_the_server_has_done, Behind) {
    const auto open = session();
    proxy.plan({.action = ProxyAction::lose_answer, .at = Request::commit, .reset = true});
    const auto written = write_one(*open);
    BOOST_REQUIRE(!written);
    BOOST_TEST(is_lost_connection(written.error()));
    BOOST_TEST(stored() == 1);
    BOOST_TEST(proxy.counts().lost_answers == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_request_that_is_cut_behind_is_done_sooner_or_later, Behind) {
    const auto open = session();
    proxy.plan({.action = ProxyAction::cut_behind, .at = Request::commit});
    BOOST_TEST(!write_one(*open));
    eventually("the row is written", [&] { return stored() == 1; });
    BOOST_TEST(proxy.counts().cut_behind == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_killed_session_takes_its_transaction_with_it, Behind) {
    const auto open = session();
    proxy.plan({.action = ProxyAction::kill_session, .at = Request::commit});
    BOOST_TEST(!write_one(*open));
    BOOST_TEST(stored() == 0);
    BOOST_TEST(proxy.counts().killed_sessions == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_held_request_waits_for_its_release, Behind) {
    const auto open = session();
    proxy.plan({.action = ProxyAction::hold, .at = Request::commit});
    auto written = std::async(std::launch::async, [&] { return write_one(*open); });
    eventually("COMMIT is held", [&] { return proxy.counts().held_now == 1; });
    BOOST_TEST(stored() == 0);
    proxy.release();
    BOOST_TEST(written.get().has_value());
    BOOST_TEST(stored() == 1);
    BOOST_TEST(proxy.counts().held_now == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_late_request_arrives_when_its_client_is_long_gone, Behind) {
    const auto open = session();
    proxy.plan({.action = ProxyAction::deliver_late, .at = Request::commit});
    BOOST_TEST(!write_one(*open));
    BOOST_TEST(stored() == 0);
    proxy.release();
    eventually("the row is written", [&] { return stored() == 1; });
    BOOST_TEST(proxy.counts().late == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_late_request_to_a_killed_session_is_lost, Behind) {
    const auto open = session();
    proxy.plan({.action = ProxyAction::deliver_late, .at = Request::commit});
    BOOST_TEST(!write_one(*open));
    database.query("KILL " + std::to_string(open->connection_id()));
    eventually("nothing is held any more", [&] { return proxy.counts().held_now == 0; });
    proxy.release();
    eventually("it was not handed over", [&] { return proxy.counts().late_lost == 1; });
    BOOST_TEST(stored() == 0);
}

BOOST_FIXTURE_TEST_CASE(a_plan_can_wait_for_a_certain_text_and_let_some_pass, Behind) {
    const auto open = session();
    proxy.plan({.action = ProxyAction::lose_request,
                .at = Request::statement,
                .containing = "UPDATE t",
                .after = 2});
    for (int n = 1; n <= 2; ++n) {
        BOOST_TEST(open->execute("UPDATE t SET n=? WHERE id=1", {std::int64_t{n}}).has_value());
        BOOST_TEST(open->query("SELECT n FROM t").has_value());
    }
    BOOST_TEST(!open->execute("UPDATE t SET n=? WHERE id=1", {std::int64_t{3}}).has_value());
    BOOST_TEST(stored() == 2);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(network)

namespace {

/// A platform behind a proxy that knows nothing of what is spoken.
struct Web {
    /// A comment: a write has a connection of its own and is never repeated.
    HttpAnswer post() {
        return HttpClient().send({.method = "POST",
                                  .url = "http://127.0.0.1:" + std::to_string(proxy.port()) +
                                         "/github/repos/o/r/issues/7/comments",
                                  .headers = {"Authorization: Bearer t", "User-Agent: epilogue-tests"},
                                  .body = R"({"body": "hello"})",
                                  .timeout = 5s});
    }

    const FakePlatformProcess platform;
    FaultProxy proxy{platform.port()};
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(plain_tcp_passes_and_is_cut_before_or_after_the_server, Web) {
    BOOST_TEST(post().status == 201);
    proxy.plan({.action = ProxyAction::lose_request});
    BOOST_TEST(post().status == 0);
    proxy.plan({.action = ProxyAction::lose_answer, .reset = true});
    BOOST_TEST(post().status == 0);
    BOOST_TEST(post().status == 201);
    BOOST_TEST(platform.log().size() == 3U);
}

BOOST_FIXTURE_TEST_CASE(a_late_request_may_be_released_as_soon_as_its_client_is_gone, Web) {
    constexpr std::size_t rounds = 200;
    for (std::size_t i = 1; i <= rounds; ++i) {
        proxy.plan({.action = ProxyAction::deliver_late});
        BOOST_TEST(post().status == 0);
        proxy.release();
        eventually("it is delivered", [&] { return proxy.counts().late == i; });
    }
    BOOST_TEST(proxy.counts().held_now == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_refusing_network_heals, Web) {
    proxy.set({.refuses = true});
    BOOST_TEST(post().status == 0);
    proxy.set({});
    BOOST_TEST(post().status == 201);
    BOOST_TEST(proxy.counts().refused == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_stalled_network_loses_nothing_and_heals, Web) {
    proxy.set({.stalls = true});
    auto answer = std::async(std::launch::async, [&] { return post(); });
    eventually("it is connected", [&] { return proxy.counts().connections == 1; });
    BOOST_TEST(platform.log().empty());
    proxy.set({});
    BOOST_TEST(answer.get().status == 201);
}

BOOST_FIXTURE_TEST_CASE(delay_slices_and_bandwidth_make_it_slow_and_nothing_else, Web) {
    const auto before = std::chrono::steady_clock::now();
    proxy.set({.delay = 5ms, .bytes_per_second = 100'000, .slice = 50});
    BOOST_TEST(post().status == 201);
    BOOST_TEST((std::chrono::steady_clock::now() - before > 20ms));
}

BOOST_FIXTURE_TEST_CASE(cut_all_ends_what_is_open_and_the_next_connection_is_a_new_one, Web) {
    platform.rules({{{"do", "hang"}, {"method", "POST"}}});
    auto answer = std::async(std::launch::async, [&] { return post(); });
    platform.wait_held(1, 10s);
    BOOST_TEST(proxy.cut_all() == 1U);
    BOOST_TEST(answer.get().status == 0);
    platform.reset();
    BOOST_TEST(post().status == 201);
}

BOOST_AUTO_TEST_SUITE_END()
