// `epilogue publish`: which records its lines become, and what it says of lines and topics that are none.
#define BOOST_TEST_MODULE commands_publish
#include <fstream>

#include <boost/test/unit_test.hpp>

#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;

BOOST_AUTO_TEST_CASE(good_lines_become_records_under_the_normalised_key) {
    const auto& broker = broker_of_this_program();
    broker.create_topic("published", 2);
    const Epilogue epilogue(settings_for(broker, "published", "g"));
    const auto done = epilogue.run(
        {"publish"},
        R"({"conversation_id": "0B9C7C1E-1111-4222-8333-444455556666", "event": {"kind": "X", "n": 1}, "seq": 7})"
        "\n\n"
        R"({"event": {"id": 1,  "text": "ü"}, "conversation_id": "plain", "more": true})"
        "\n");
    BOOST_TEST(done.status == 0, done.err);
    BOOST_TEST(done.out == "2 of 2 acknowledged\n");
    std::map<std::string, Record> records;
    for (auto& record : read_topic(broker.bootstrap(), "published")) records[*record.key] = record;
    BOOST_REQUIRE(records.size() == 2U);
    const auto& uuid = records.at("0b9c7c1e111142228333444455556666");
    BOOST_TEST(*uuid.value == R"({"kind": "X", "n": 1})");
    BOOST_TEST(uuid.headers.at("seq") == "7");
    BOOST_TEST(*records.at("plain").value == R"({"id": 1,  "text": "ü"})");
    BOOST_TEST(records.at("plain").headers.empty());
}

BOOST_AUTO_TEST_CASE(the_partition_is_chosen_as_javas_clients_choose_it) {
    // What Kafka's own tests expect of its murmur2 (UtilsTest.testMurmur2).
    const std::map<std::string, std::int32_t> hashes{
        {"21", -973932308},
        {"foobar", -790332482},
        {"a-little-bit-long-string", -985981536},
        {"a-little-bit-longer-string", -1486304829},
        {"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971},
        {"abc", 479470107}};
    constexpr std::uint32_t partitions = 7;
    const auto& broker = broker_of_this_program();
    broker.create_topic("placed", partitions);
    std::string lines;
    for (const auto& [key, hash] : hashes)
        lines += R"({"conversation_id": ")" + key + R"(", "event": {"kind": "X"}})" + "\n";
    BOOST_TEST(Epilogue(settings_for(broker, "placed", "g")).run({"publish"}, lines).status == 0);
    const auto records = read_topic(broker.bootstrap(), "placed");
    BOOST_TEST(records.size() == hashes.size());
    for (const Record& record : records) {
        const auto positive = static_cast<std::uint32_t>(hashes.at(*record.key)) & 0x7FFFFFFFU;
        BOOST_TEST(*record.partition == static_cast<int>(positive % partitions), *record.key);
    }
}

BOOST_AUTO_TEST_CASE(a_bad_line_is_reported_with_its_number_and_the_rest_is_produced) {
    const auto& broker = broker_of_this_program();
    broker.create_topic("half", 1);
    const Epilogue epilogue(settings_for(broker, "half", "g"));
    const TempDir folder;
    const auto file = folder.path() / "lines";
    std::ofstream(file) << "{\"conversation_id\": \"a\", \"event\": {}}\n"
                        << "{\"conversation_id\": \"a\"}\n"
                        << "no json\n"
                        << "{\"event\": {}}\n"
                        << "{\"conversation_id\": \"\", \"event\": {}}\n"
                        << "{\"conversation_id\": \"b\", \"event\": {}}";
    const auto done = epilogue.run({"publish", "--file", file.string()});
    BOOST_TEST(done.status == 1);
    BOOST_TEST(done.out == "2 of 6 acknowledged\n");
    for (const char* line : {"line 2:", "line 3:", "line 4:", "line 5:"})
        BOOST_TEST(contains(done.err, line), done.err);
    for (const char* line : {"line 1:", "line 6:"}) BOOST_TEST(!contains(done.err, line), done.err);
    BOOST_TEST(read_topic(broker.bootstrap(), "half").size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_folder_in_place_of_a_file_is_wrong_usage_and_named) {
    const TempDir folder;
    const auto done = Epilogue(settings_for(broker_of_this_program(), "unused", "g"))
                          .run({"publish", "--file", folder.path().string()});
    BOOST_TEST(done.status == 64);
    BOOST_TEST(contains(done.err, folder.path().string() + ": is a folder"), done.err);
}

BOOST_AUTO_TEST_CASE(publish_to_a_topic_that_is_missing_says_so_at_once_and_how_to_make_it) {
    const auto done = Epilogue(settings_for(broker_of_this_program(), "never-made", "g"))
                          .run({"publish"}, "{\"conversation_id\": \"c\", \"event\": {}}\n");
    BOOST_TEST(done.status == 78);
    BOOST_TEST(contains(done.err, "there is no topic \"never-made\""), done.err);
    BOOST_TEST(contains(done.err, "epilogue topic create"), done.err);
}

}  // namespace
