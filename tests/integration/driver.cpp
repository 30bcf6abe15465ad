// What our wrapper of the driver reports when a session is killed, a request or an answer is lost: always an
// error, of the step at which it happened, and never a session that goes on as if nothing had been.
#define BOOST_TEST_MODULE driver
#include <array>
#include <future>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>

#include <boost/test/unit_test.hpp>
#include <cppconn/connection.h>
#include <cppconn/exception.h>
#include <cppconn/statement.h>
#include <mysql_driver.h>

#include "base/io/mysql.h"
#include "tests/support/eventually.h"
#include "tests/support/proxied_database.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;

struct Named {
    std::string_view name;
    ProxyAction action;
};
constexpr std::array actions{
    Named{"session killed", ProxyAction::kill_session}, Named{"request lost", ProxyAction::lose_request},
    Named{"answer lost", ProxyAction::lose_answer}, Named{"cut behind it", ProxyAction::cut_behind}};

/// How far one transaction came.
struct Outcome {
    std::string_view failed = "nothing";  ///< the step that was answered with an error
    Error error;
};

/// BEGIN, a prepared statement that counts on, COMMIT.
Outcome count_on(MysqlSession& session) {
    if (const auto begun = session.run("BEGIN"); !begun) return {"BEGIN", begun.error()};
    if (const auto done = session.execute("UPDATE t SET n=n+? WHERE id=1", {std::int64_t{1}}); !done)
        return {"statement", done.error()};
    if (const auto committed = session.run("COMMIT"); !committed) return {"COMMIT", committed.error()};
    return {};
}

struct Behind {
    Behind() {
        database.query("CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL)");
        database.query("INSERT INTO t VALUES (1, 0)");
    }

    std::int64_t stored() const { return database.number("SELECT n FROM t"); }

    ProxiedDatabase database;
    FaultProxy& proxy = database.proxy();
};

std::string kind() {
    return ProxiedDatabase::server().kind() == DatabaseKind::mysql ? "MySQL" : "MariaDB";
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(every_fault_is_a_lost_connection_at_its_step_and_the_session_stays_broken, Behind) {
    constexpr std::array steps{std::pair{std::string_view("BEGIN"), Request::begin},
                               std::pair{std::string_view("statement"), Request::statement},
                               std::pair{std::string_view("COMMIT"), Request::commit}};
    for (const auto& [name, action] : actions) {
        for (const auto& [step, request] : steps) {
            BOOST_TEST_CONTEXT(name << " at " << step) {
                const auto before = stored();
                const auto session = database.session();
                proxy.plan({.action = action, .at = request});
                const Outcome outcome = count_on(*session);
                std::cout << kind() << ": " << std::setw(14) << name << " at " << std::setw(9) << step << ": "
                          << outcome.error.code << " " << outcome.error.text << std::endl;
                BOOST_TEST(outcome.failed == step);
                BOOST_TEST(is_lost_connection(outcome.error));
                BOOST_TEST((outcome.error.remedy == Remedy::retry));
                BOOST_TEST(session->is_broken());
                BOOST_TEST(!session->query("SELECT 1"));  // it never connects again by itself
                eventually("the session is gone",
                           [&] { return !database.has_session(session->connection_id()); });
                const bool was_done = request == Request::commit && (action == ProxyAction::lose_answer ||
                                                                     action == ProxyAction::cut_behind);
                BOOST_TEST(stored() == before + (was_done ? 1 : 0));
            }
        }
    }
    const auto counts = proxy.counts();
    BOOST_TEST(counts.killed_sessions == steps.size());
    BOOST_TEST(counts.lost_requests == steps.size());
    BOOST_TEST(counts.lost_answers == steps.size());
    BOOST_TEST(counts.cut_behind == steps.size());
}

BOOST_FIXTURE_TEST_CASE(a_lost_request_to_prepare_is_an_error_too, Behind) {
    const auto session = database.session();
    proxy.plan({.action = ProxyAction::lose_request, .at = Request::prepare, .containing = "UPDATE"});
    BOOST_TEST(count_on(*session).failed == "statement");
    BOOST_TEST(session->is_broken());
}

BOOST_FIXTURE_TEST_CASE(the_drivers_own_commit_says_nothing_when_it_was_lost, Behind) {
    // Why the wrapper sends COMMIT as a statement, and why tests/tidy keeps this call out of the product.
    for (const ProxyAction action : {ProxyAction::kill_session, ProxyAction::lose_request}) {
        const auto settings = database.settings();
        const std::unique_ptr<sql::Connection> connection(sql::mysql::get_driver_instance()->connect(
            "tcp://127.0.0.1:" + std::to_string(settings.port), settings.user, settings.password));
        connection->setSchema(settings.database);
        connection->setAutoCommit(false);
        const std::unique_ptr<sql::Statement> statement(connection->createStatement());
        statement->execute("UPDATE t SET n=n+1 WHERE id=1");
        proxy.plan({.action = action, .at = Request::commit});
        BOOST_CHECK_NO_THROW(connection->commit());
        BOOST_TEST(stored() == 0);
        proxy.forget_plans();
    }
}

BOOST_FIXTURE_TEST_CASE(a_session_that_the_server_closed_for_its_silence_is_a_lost_connection, Behind) {
    const auto session = database.session();
    BOOST_TEST(session->run("SET SESSION wait_timeout=1").has_value());
    BOOST_TEST(session->run("BEGIN").has_value());
    BOOST_TEST(session->execute("UPDATE t SET n=7 WHERE id=1").has_value());
    eventually("the server has closed it", [&] { return !database.has_session(session->connection_id()); });
    const auto committed = session->run("COMMIT");
    BOOST_REQUIRE(!committed);
    BOOST_TEST(is_lost_connection(committed.error()));
    BOOST_TEST(stored() == 0);
}

BOOST_FIXTURE_TEST_CASE(a_silent_server_is_a_lost_connection_after_the_deadline, Behind) {
    auto settings = database.settings();
    settings.answer_timeout = 1s;
    const auto session = MysqlSession::open(settings);
    BOOST_REQUIRE(session.has_value());
    proxy.plan({.action = ProxyAction::hold, .at = Request::commit});
    const Outcome outcome = count_on(**session);
    BOOST_TEST(outcome.failed == "COMMIT");
    BOOST_TEST(is_lost_connection(outcome.error));
    proxy.release();
}

BOOST_FIXTURE_TEST_CASE(a_lock_wait_is_a_conflict_that_leaves_the_transaction_open, Behind) {
    const auto holder = database.session();
    const auto waiter = database.session();
    database.query("INSERT INTO t VALUES (2, 0)");
    BOOST_TEST(waiter->run("SET SESSION innodb_lock_wait_timeout=1").has_value());
    BOOST_TEST(holder->run("BEGIN").has_value());
    BOOST_TEST(holder->execute("UPDATE t SET n=1 WHERE id=1").has_value());
    BOOST_TEST(waiter->run("BEGIN").has_value());
    BOOST_TEST(waiter->execute("UPDATE t SET n=1 WHERE id=2").has_value());
    const auto waited = waiter->query("SELECT n FROM t WHERE id=1 FOR UPDATE");
    BOOST_REQUIRE(!waited);
    BOOST_TEST(waited.error().code == 1205);
    BOOST_TEST(is_conflict(waited.error()));
    BOOST_TEST(!waiter->is_broken());
    BOOST_TEST(waiter->run("ROLLBACK").has_value());
    BOOST_TEST(database.number("SELECT n FROM t WHERE id=2") == 0);
}

BOOST_FIXTURE_TEST_CASE(a_deadlock_is_a_conflict_for_one_of_the_two, Behind) {
    database.query("INSERT INTO t VALUES (2, 0)");
    const std::array sessions{database.session(), database.session()};
    for (std::size_t i = 0; i < 2; ++i) {
        BOOST_TEST(sessions.at(i)->run("BEGIN").has_value());
        BOOST_TEST(sessions.at(i)->execute("UPDATE t SET n=9 WHERE id=?", {std::int64_t(i + 1)}).has_value());
    }
    auto other =
        std::async(std::launch::async, [&] { return sessions[0]->execute("UPDATE t SET n=9 WHERE id=2"); });
    const auto mine = sessions[1]->execute("UPDATE t SET n=9 WHERE id=1");
    const auto theirs = other.get();
    BOOST_TEST(mine.has_value() != theirs.has_value());
    const Error error = mine ? theirs.error() : mine.error();
    BOOST_TEST(error.code == 1213);
    BOOST_TEST(is_conflict(error));
}

BOOST_FIXTURE_TEST_CASE(what_a_suite_asks_runs_again_when_a_deadlock_undid_it, Behind) {
    database.query("INSERT INTO t VALUES (2, 0)");
    const auto program = database.session();
    BOOST_TEST(program->run("BEGIN").has_value());
    BOOST_TEST(program->execute("UPDATE t SET n=10 WHERE id=1").has_value());
    // It has written so much that the server undoes the other one.
    for (std::int64_t id = 100; id < 200; ++id)
        BOOST_TEST(program->execute("INSERT INTO t VALUES (?, 0)", {id}).has_value());
    auto suite = std::async(std::launch::async,
                            [&] { database.query("UPDATE t SET n=n+1 WHERE id<3 ORDER BY id DESC"); });
    eventually("the suite has one row and waits for the other", [&] {
        return database.query("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'").at(0).at(1) == "1";
    });
    BOOST_TEST(program->execute("UPDATE t SET n=20 WHERE id=2").has_value());
    BOOST_TEST(program->run("COMMIT").has_value());
    BOOST_CHECK_NO_THROW(suite.get());
    BOOST_TEST(database.number("SELECT n FROM t WHERE id=1") == 11);
    BOOST_TEST(database.number("SELECT n FROM t WHERE id=2") == 21);
}

BOOST_FIXTURE_TEST_CASE(data_that_cannot_be_stored_is_poison_by_the_same_numbers_everywhere, Behind) {
    database.query(
        "CREATE TABLE data (number TINYINT NOT NULL, text VARCHAR(3) CHARACTER SET utf8mb4, at DATETIME(6), "
        "plain VARCHAR(9) CHARACTER SET ascii)");
    const auto session = database.session();
    const auto refused = [&](const std::string& column, const SqlValue& value) {
        const auto done =
            session->execute("INSERT INTO data (" + std::string(column == "number" ? "" : "number, ") +
                                 column + ") VALUES (" + (column == "number" ? "?" : "1, ?") + ")",
                             {value});
        if (done) return 0;
        BOOST_TEST((done.error().remedy == Remedy::poison), column);
        return done.error().code;
    };
    BOOST_TEST(refused("number", nullptr) == 1048);
    BOOST_TEST(refused("number", std::int64_t{1000}) == 1264);
    BOOST_TEST(refused("text", std::string("long")) == 1406);
    BOOST_TEST(refused("text", std::string("\xff")) == 1366);
    BOOST_TEST(refused("plain", std::string("é")) == 1366);
    BOOST_TEST(refused("at", std::string("never")) == 1292);
    BOOST_TEST(!session->is_broken());
    BOOST_TEST(refused("text", std::string("😀")) == 0);
}

BOOST_FIXTURE_TEST_CASE(required_tls_is_had_or_refused_and_preferred_tls_connects_either_way, Behind) {
    // MySQL makes itself a certificate, Debian's MariaDB offers no TLS; the driver's own option enforces
    // nothing.
    const bool offered = ProxiedDatabase::server().kind() == DatabaseKind::mysql;
    auto settings = database.settings();
    using Tls = MysqlSettings::Tls;
    for (const Tls tls : {Tls::preferred, Tls::required}) {
        settings.tls = tls;
        const auto session = MysqlSession::open(settings);
        BOOST_TEST_CONTEXT(static_cast<int>(tls)) {
            BOOST_TEST(session.has_value() == (offered || tls == Tls::preferred));
            if (!session) {
                BOOST_TEST(session.error().text.find("offers no TLS") != std::string::npos);
                continue;
            }
            const auto cipher = (*session)->query("SHOW STATUS LIKE 'Ssl_cipher'");
            BOOST_REQUIRE(cipher.has_value());
            BOOST_TEST(cipher->at(0).at(1).value_or("").empty() == !offered);
            BOOST_TEST(count_on(**session).failed == "nothing");
        }
    }
}
