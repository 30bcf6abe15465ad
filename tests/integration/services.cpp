// The servers of the harness: what the other integration suites take for granted.
#define BOOST_TEST_MODULE services
#include <chrono>
#include <future>
#include <memory>

#include <boost/test/unit_test.hpp>
#include <cppconn/connection.h>
#include <cppconn/exception.h>
#include <cppconn/statement.h>
#include <mysql_driver.h>
#include <nlohmann/json.hpp>

#include "tests/support/database.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_platform_process.h"
#include "tests/support/kafka_broker.h"
#include "tests/support/kafka_handles.h"
#include "tests/support/kafka_records.h"
#include "tests/support/rig.h"

using namespace epilogue::testing;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(kafka)

BOOST_AUTO_TEST_CASE(records_come_back_as_they_were_produced) {
    const auto& broker = broker_of_this_program();
    broker.create_topic("records", 3, {{"max.message.bytes", "20971520"}});
    const epilogue::Instant at(1'700'000'000'123ms);
    const std::string large(std::size_t{2} << 20U, 'x');
    produce(broker.bootstrap(), "records",
            {{.key = "k", .value = "v", .headers = {{"seq", "7"}}, .partition = 1, .at = at},
             {.value = "no key", .partition = 1},
             {.key = "tombstone", .partition = 2},
             {.key = "large", .value = large, .partition = 2}});
    const auto records = read_topic(broker.bootstrap(), "records");
    BOOST_REQUIRE(records.size() == 4U);
    BOOST_TEST(*records[0].key == "k");
    BOOST_TEST(*records[0].value == "v");
    BOOST_TEST(records[0].headers.at("seq") == "7");
    BOOST_TEST((*records[0].at == at));
    BOOST_TEST(!records[1].key.has_value());
    BOOST_TEST(records[1].offset == 1);
    BOOST_TEST(!records[2].value.has_value());
    BOOST_TEST((*records[3].value == large));
    BOOST_TEST((broker.end_offsets("records") == PartitionOffsets{{0, 0}, {1, 2}, {2, 2}}));
}

BOOST_AUTO_TEST_CASE(a_group_that_never_committed_has_no_offsets) {
    broker_of_this_program().create_topic("uncommitted", 2);
    BOOST_TEST(broker_of_this_program().committed("nobody", "uncommitted").empty());
}

BOOST_AUTO_TEST_CASE(what_a_group_has_committed_is_seen) {
    const auto& broker = broker_of_this_program();
    broker.create_topic("committed", 2);
    const auto consumer = make_kafka_client(
        RD_KAFKA_CONSUMER, {{"bootstrap.servers", broker.bootstrap()}, {"group.id", "somebody"}});
    const KafkaPartitions offsets(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_list_add(offsets.get(), "committed", 1)->offset = 5;
    BOOST_TEST(rd_kafka_commit(consumer.get(), offsets.get(), 0) == RD_KAFKA_RESP_ERR_NO_ERROR);
    BOOST_TEST((broker.committed("somebody", "committed") == PartitionOffsets{{1, 5}}));
}

BOOST_AUTO_TEST_CASE(an_existing_topic_and_an_unknown_setting_are_refused) {
    broker_of_this_program().create_topic("twice", 1);
    BOOST_CHECK_THROW(broker_of_this_program().create_topic("twice", 1), std::runtime_error);
    BOOST_CHECK_THROW(broker_of_this_program().create_topic("odd", 1, {{"no.such.setting", "1"}}),
                      std::runtime_error);
}

BOOST_AUTO_TEST_CASE(records_survive_a_kill_and_a_stop) {
    auto& broker = broker_of_this_program();
    broker.create_topic("kept", 1);
    produce(broker.bootstrap(), "kept", {{.key = "a", .value = "1"}});
    const auto killed = broker.pid();
    broker.kill9();
    BOOST_TEST(is_gone(killed));
    broker.start_again();
    produce(broker.bootstrap(), "kept", {{.key = "a", .value = "2"}});
    const auto stopped = broker.pid();
    broker.stop();
    BOOST_TEST(is_gone(stopped));
    broker.start_again();
    const auto records = read_topic(broker.bootstrap(), "kept");
    BOOST_REQUIRE(records.size() == 2U);
    BOOST_TEST(*records[1].value == "2");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(database)

BOOST_AUTO_TEST_CASE(rows_come_back_as_text_and_null_as_nothing) {
    const auto& server = server_of_this_program();
    server.create_database("texts");
    const auto rows = server.query("SELECT 9007199254740993, NULL, 'é😀', x'00ff'", "texts");
    BOOST_REQUIRE(rows.size() == 1U);
    BOOST_TEST(rows[0].at(0).value() == "9007199254740993");
    BOOST_TEST(!rows[0].at(1).has_value());
    BOOST_TEST(rows[0].at(2).value() == "é😀");
    BOOST_TEST(rows[0].at(3).value() == std::string("\0\xff", 2));
}

BOOST_AUTO_TEST_CASE(a_wrong_statement_is_an_error_with_its_number) {
    BOOST_CHECK_EXCEPTION(server_of_this_program().query("SELEKT 1"), std::runtime_error,
                          [](const auto& error) { return std::string(error.what()).starts_with("1064 "); });
}

BOOST_AUTO_TEST_CASE(the_user_reaches_its_database_by_tcp_with_its_password) {
    const auto& server = server_of_this_program();
    server.create_database("own");
    const auto connect = [&](const std::string& password) {
        std::unique_ptr<sql::Connection> connection(sql::mysql::get_mysql_driver_instance()->connect(
            "tcp://127.0.0.1:" + std::to_string(server.port()), server.user(), password));
        connection->setSchema("own");
        std::unique_ptr<sql::Statement>(connection->createStatement())->execute("CREATE TABLE t (n INT)");
    };
    BOOST_CHECK_NO_THROW(connect(server.password()));
    BOOST_CHECK_THROW(connect("wrong"), sql::SQLException);
}

BOOST_AUTO_TEST_CASE(committed_rows_survive_a_kill_and_a_stop) {
    auto& server = server_of_this_program();
    server.create_database("kept");
    server.query("CREATE TABLE t (n INT PRIMARY KEY)", "kept");
    server.query("INSERT INTO t VALUES (1)", "kept");
    const auto killed = server.pid();
    server.kill9();
    BOOST_TEST(is_gone(killed));
    BOOST_CHECK_THROW(server.query("SELECT 1"), std::runtime_error);
    server.start_again();
    server.query("INSERT INTO t VALUES (2)", "kept");
    const auto stopped = server.pid();
    server.stop();
    BOOST_TEST(is_gone(stopped));
    server.start_again();
    BOOST_TEST(server.query("SELECT COUNT(*) FROM t", "kept").at(0).at(0).value() == "2");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(fake_platform_process)

BOOST_AUTO_TEST_CASE(rules_hold_a_request_and_release_lets_it_end) {
    const FakePlatformProcess platform;
    platform.rules({{{"do", "hang"}, {"method", "POST"}}});
    auto answer = std::async(std::launch::async, [&] {
        return epilogue::HttpClient().send(
            {.method = "POST",
             .url = platform.url("/github/repos/o/r/issues/7/comments"),
             .headers = {"Authorization: Bearer t", "User-Agent: epilogue-tests"},
             .body = R"({"body": "hello"})"});
    });
    platform.wait_held(1, 10s);
    BOOST_TEST(platform.counts().at("held") == 1U);
    BOOST_TEST(platform.visible().empty());
    platform.release();
    BOOST_TEST(answer.get().status == 201);
    const auto visible = platform.visible();
    BOOST_REQUIRE(visible.size() == 1U);
    BOOST_TEST(visible[0].path == "o/r#7");
    BOOST_TEST(visible[0].body == "hello");
    BOOST_TEST(platform.log().size() == 1U);
    platform.reset();
    BOOST_TEST(platform.counts().at("attempts") == 0U);
}

BOOST_AUTO_TEST_CASE(what_is_never_held_is_given_up_and_a_wrong_rule_is_an_error) {
    const FakePlatformProcess platform;
    BOOST_CHECK_THROW(platform.wait_held(1, 50ms), GaveUp);
    BOOST_CHECK_THROW(platform.rules({{{"do", "no such deed"}}}), std::runtime_error);
}

BOOST_AUTO_TEST_SUITE_END()
