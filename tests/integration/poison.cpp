// Records that can never be used: each becomes a dead letter with its reason, the good ones beside it are
// unharmed, and a replay does no harm however often it is run.
#define BOOST_TEST_MODULE poison
#include <algorithm>
#include <iostream>
#include <random>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/v1_events.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;

constexpr std::size_t of_each_class = 10;  // 1 % of all records
constexpr std::size_t healthy_conversations = 200;
constexpr std::size_t longest_kept = std::size_t{64} << 10U;

/// An event that changes the state of a conversation of its own.
Record state_event(const std::string& conversation, const std::string& status) {
    return {.key = conversation, .value = v1::status("state", "2026-11-21T09:00:00", status)};
}

struct PoisonClass {
    std::string reason;
    std::function<Record(const std::string& conversation)> make;
};

/// MySQL has them from 8.0.16 on, and this one may be older.
bool has_checks() {
    return server_of_this_program().kind() == DatabaseKind::mariadb;
}

/// What the database refuses because of its own rules.
void make_rules(const Rig& rig) {
    if (has_checks())
        rig.query("ALTER TABLE conversations ADD CONSTRAINT no_such_status CHECK (status<>'checked')");
    rig.query("ALTER TABLE conversations MODIFY status VARCHAR(64) CHARACTER SET ascii NOT NULL DEFAULT ''");
    // The other refusals of data need columns that the tables do not have: the server says them when asked
    // to.
    rig.query(
        "CREATE TRIGGER refuse BEFORE INSERT ON conversations FOR EACH ROW BEGIN "
        "DECLARE code INT DEFAULT 0; "
        "IF NEW.conversation_id LIKE 'signal-%' THEN "
        "SET code = CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(NEW.conversation_id, '-', 2), '-', -1) AS "
        "UNSIGNED); "
        "SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = code, MESSAGE_TEXT = 'refused'; END IF; END");
}

std::vector<PoisonClass> poison_classes() {
    const auto value = [](const std::string& bytes) {
        return
            [bytes](const std::string& conversation) { return Record{.key = conversation, .value = bytes}; };
    };
    const auto key = [](const std::optional<std::string>& bytes) {
        return [bytes](const std::string&) { return Record{.key = bytes, .value = "{}"}; };
    };
    const auto status = [](const std::string& text) {
        return [text](const std::string& conversation) { return state_event(conversation, text); };
    };
    std::vector<PoisonClass> classes{
        {"no_key", key(std::nullopt)},
        {"key_empty", key("")},
        {"key_too_long", key(std::string(256, 'k'))},
        {"key_not_utf8", key("\xff")},
        {"empty", value("")},
        {"too_large", value(std::string((std::size_t{16} << 20U) + 1, ' '))},
        {"not_json", value("{not json")},
        {"too_deep", value(std::string(1025, '[') + std::string(1025, ']'))},
        {"not_an_object", value("[1]")},
        {"neither_v0_nor_v1", value(R"({"id":1})")},
        {"store_1366", status("\u00e9")},
        {"store_1406", status(std::string(65, 's'))},
    };
    std::vector<const char*> signalled{"1048", "1153", "1264", "1292", "1300", "3140", "3819"};
    if (has_checks())
        classes.push_back({"store_4025", status("checked")});
    else
        signalled.push_back("4025");
    for (const char* code : signalled)
        classes.push_back({std::string("store_") + code, [code](const std::string& conversation) {
                               return state_event("signal-" + std::string(code) + "-" + conversation,
                                                  "running");
                           }});
    return classes;
}

/// The same each time: good records of one conversation keep their order.
std::vector<Record> mixed(const std::vector<V0Conversation>& conversations,
                          const std::vector<PoisonClass>& classes) {
    std::vector<Record> records = records_of(conversations);
    std::mt19937 random(1);
    for (const PoisonClass& poison : classes)
        for (std::size_t i = 0; i < of_each_class; ++i) {
            const auto place = static_cast<std::ptrdiff_t>(random() % records.size());
            records.insert(records.begin() + place, poison.make(poison.reason + std::to_string(i)));
        }
    return records;
}

/// Everything that was ever decided, row by row.
std::vector<Row> decided(const Rig& rig) {
    std::vector<Row> rows;
    for (const char* what :
         {"conversation_id, status, verdict, turn_key, recent_ids, fold, due_at FROM conversations",
          "callback_id, phase, turn_key, generation FROM callback_progress",
          "conversation_id, turn_key, body FROM summaries",
          "delivery_id, state, generation, attempt FROM deliveries"})
        for (const Row& row : rig.query(std::string("SELECT ") + what + " ORDER BY 1, 2"))
            rows.push_back(row);
    return rows;
}

}  // namespace

BOOST_AUTO_TEST_CASE(one_percent_of_every_class_is_dead_lettered_and_the_good_events_are_unharmed) {
    const Rig rig("classes", 2);
    make_rules(rig);
    const auto classes = poison_classes();
    std::vector<V0Conversation> conversations;
    std::string callbacks;
    for (std::size_t i = 0; i < healthy_conversations; ++i) {
        const std::string id = "good-" + std::to_string(i);
        conversations.emplace_back(id).user("Go on.").agent_finishes("Unharmed.");
        callbacks += (i == 0 ? "('" : ",('") + id + "','github','{\"repo\":\"o/" + id +
                     "\",\"number\":1}',UTC_TIMESTAMP(6))";
    }
    rig.query(
        "INSERT INTO conversation_callbacks (conversation_id, processor_type, processor_json, created_at) "
        "VALUES " +
        callbacks);
    rig.publish(mixed(conversations, classes));
    const auto worker = rig.epilogue().worker();
    eventually("the partitions went on", 120s, [&] { return rig.stored() == rig.ends(); });
    eventually("every good turn is posted",
               [&] { return rig.platform().visible().size() >= healthy_conversations; });

    std::map<std::string, int> posts;
    for (const auto& comment : rig.platform().visible()) ++posts[comment.path];
    for (const V0Conversation& conversation : conversations)
        BOOST_TEST(posts["o/" + conversation.id() + "#1"] == 1, conversation.id());
    const Metrics metrics = worker.metrics();
    for (const PoisonClass& poison : classes) {
        const std::string where = " FROM dead_letters WHERE reason='" + poison.reason + "'";
        BOOST_TEST(rig.number("SELECT COUNT(*)" + where) == static_cast<std::int64_t>(of_each_class),
                   poison.reason);
        // Where it stands in the log, and the whole of it in numbers.
        const Record made = poison.make(poison.reason + "0");
        BOOST_TEST(rig.number("SELECT MAX(length)" + where) == static_cast<std::int64_t>(made.value->size()));
    }
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM dead_letters") ==
               static_cast<std::int64_t>(of_each_class * classes.size()));
    BOOST_TEST(total(metrics, "epilogue_dead_letters_total") ==
               static_cast<double>(of_each_class * classes.size()));
    BOOST_TEST(rig.number("SELECT COUNT(DISTINCT topic, partition_id, record_offset) FROM dead_letters") ==
               static_cast<std::int64_t>(of_each_class * classes.size()));

    // What the database refused is taken once its rules are mended; a second replay changes nothing at all.
    rig.query("DROP TRIGGER refuse");
    if (has_checks()) rig.query("ALTER TABLE conversations DROP CONSTRAINT no_such_status");
    BOOST_TEST(rig.epilogue().run({"dead-letters", "replay", "--all"}).status == 1);
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM dead_letters WHERE replayed_at IS NOT NULL") ==
               static_cast<std::int64_t>(of_each_class * 8));
    const auto once = decided(rig);
    std::vector<std::string> every_letter{"dead-letters", "replay"};
    for (const Row& row : rig.query("SELECT id FROM dead_letters")) every_letter.push_back(row.at(0).value());
    BOOST_TEST(rig.epilogue().run(every_letter).status == 1);
    BOOST_TEST((decided(rig) == once));
    BOOST_TEST(rig.platform().counts().at("attempts") == healthy_conversations);
    BOOST_TEST((rig.stored() == rig.ends()));
}

BOOST_AUTO_TEST_CASE(dead_letters_are_kept_shown_and_replayed_without_harm) {
    const Rig rig("poison", 1);
    V0Conversation conversation("poisoned");
    conversation.user("Go on.").agent_finishes("Good events are unharmed.");
    rig.add_github(conversation.id(), "octo/poison", 1, "every_turn");
    const auto worker = rig.epilogue().worker();
    std::vector<Record> records = conversation.records();
    records.insert(records.begin() + 1, Record{conversation.id(), "{not json"});
    records.push_back(Record{std::nullopt, "{}"});
    rig.publish(records);
    eventually("the turn is reported", [&] { return rig.platform().visible().size() == 1; });
    eventually("the partition went on", [&] { return rig.stored() == rig.ends(); });
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM dead_letters") == 2);
    const auto listed = nlohmann::json::parse(rig.epilogue().run({"dead-letters", "list", "--json"}).out);
    BOOST_REQUIRE(listed.size() == 2U);
    BOOST_TEST(listed[0].at("reason") == "not_json");
    BOOST_TEST(listed[1].at("reason") == "no_key");
    BOOST_TEST(rig.epilogue().run({"dead-letters", "replay", "--all"}).status == 1);

    // A record that something refused before, as if it were mended now: applied once, however often it is
    // replayed.
    V0Conversation more("poisoned-later");
    more.user("Go on.").agent_finishes("Replayed.");
    rig.add_github(more.id(), "octo/poison", 2, "every_turn");
    for (const Record& record : more.records())
        rig.query(
            "INSERT INTO dead_letters (cluster_id, topic, partition_id, record_offset, record_key, reason, "
            "length, sha256, value, "
            "created_at) VALUES ('c','t',0," +
            std::to_string(1000 + &record - more.records().data()) + ",'" + more.id() + "','store_1366'," +
            std::to_string(record.value->size()) + ",'','" + *record.value + "',UTC_TIMESTAMP(6))");
    BOOST_TEST(rig.epilogue().run({"dead-letters", "replay", "3", "4", "5", "6"}).out.find("applied") !=
               std::string::npos);
    eventually("the replayed turn is reported", [&] { return rig.platform().visible().size() == 2; });
    const auto again = rig.epilogue().run({"dead-letters", "replay", "3", "4"});
    BOOST_TEST(again.out.find("was applied before") != std::string::npos, again.out);
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM deliveries") == 2);
    const auto offsets = nlohmann::json::parse(rig.epilogue().run({"offsets", "show", "--json"}).out);
    BOOST_TEST(offsets.at(0).at("next_offset") == rig.ends().at(0));
}

BOOST_AUTO_TEST_CASE(ten_refusals_in_a_row_pause_the_partition_and_readyz_says_why) {
    constexpr std::int64_t refused = 25;
    constexpr std::int64_t in_one_go = 10;
    const Rig rig("refused", 1);
    make_rules(rig);
    std::vector<Record> records;
    for (std::int64_t i = 0; i < refused; ++i)
        records.push_back(state_event("signal-1048-" + std::to_string(i), "running"));
    rig.publish(records);
    const std::string dead = "SELECT COUNT(*) FROM dead_letters WHERE reason='store_1048'";
    const auto worker = rig.epilogue().start_worker();
    eventually("the partition pauses, and /readyz says why", [&] {
        const auto before = rig.number(dead);
        const auto answer = worker.get("/readyz");
        const bool pauses = answer.status == 503 &&
                            answer.body.find("refused partition 0: ") != std::string::npos &&
                            answer.body.find("one record after the other") != std::string::npos;
        if (!pauses) BOOST_REQUIRE_MESSAGE(before < refused, "no pause was seen; it says: " << answer.body);
        if (pauses) BOOST_TEST(rig.number(dead) >= in_one_go);
        return pauses;
    });
    eventually("the rest is tried again, and refused", [&] { return rig.number(dead) == refused; });
    eventually("the worker is ready again", [&] { return worker.get("/readyz").status == 200; });
    BOOST_TEST(rig.number("SELECT COUNT(DISTINCT record_offset) FROM dead_letters") == refused);
    eventually("the offsets have followed", [&] { return rig.committed() == rig.ends(); });
}

BOOST_AUTO_TEST_CASE(show_has_all_of_one_letter_with_the_first_64_kib_of_its_value) {
    const Rig rig("shown", 1);
    const std::string value = "{" + std::string(longest_kept, 'x') + "cut";
    rig.publish({{.key = "too-long-to-keep", .value = value}, {.key = "short", .value = "[1]"}});
    const auto worker = rig.epilogue().worker();
    eventually("both are kept", [&] { return rig.number("SELECT COUNT(*) FROM dead_letters") == 2; });
    const auto letter = [&](const std::string& key) {
        const auto id = rig.number("SELECT id FROM dead_letters WHERE record_key='" + key + "'");
        const auto shown = rig.epilogue().run({"dead-letters", "show", std::to_string(id), "--json"});
        BOOST_TEST(shown.status == 0, shown.err);
        return nlohmann::json::parse(shown.out);
    };
    const auto cut = letter("too-long-to-keep");
    BOOST_TEST(cut.at("value").get<std::string>() == value.substr(0, longest_kept));
    BOOST_TEST(cut.at("length") == value.size());
    BOOST_TEST(cut.at("reason") == "not_json");
    BOOST_TEST(cut.at("topic") == "shown");
    BOOST_TEST(cut.at("record_offset") == 0);
    const auto whole = letter("short");
    BOOST_TEST(whole.at("value") == "[1]");
    BOOST_TEST(whole.at("reason") == "not_an_object");
    const auto for_a_person =
        rig.epilogue().run({"dead-letters", "show", std::to_string(whole.at("id").get<int>())});
    BOOST_TEST(for_a_person.out.find("reason: not_an_object\n") != std::string::npos, for_a_person.out);
    BOOST_TEST(rig.epilogue().run({"dead-letters", "show", "1000"}).status == 1);
}

BOOST_AUTO_TEST_CASE(a_dead_letter_that_its_topic_refuses_is_logged_and_kept) {
    const Rig rig("refused-copy", 1, {{"kafka.dead_letter_topic", "no-such-topic"}});
    rig.publish({{.key = "bad", .value = "[1]", .partition = 0}});
    auto worker = rig.epilogue().start_worker();
    eventually("the log says that the copy is lost", [&] {
        return worker.process().err().find("a dead letter was not copied to its topic") != std::string::npos;
    });
    BOOST_TEST(rig.epilogue().run({"dead-letters", "list", "--json"}).out.find("not_an_object") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_dead_letter_is_copied_to_its_topic_with_where_it_came_from_and_why) {
    const std::string copies = "copied-dead-letters";
    const Rig rig("copied", 2, {{"kafka.dead_letter_topic", copies}});
    const auto& broker = broker_of_this_program();
    broker.create_topic(copies, 1);
    const std::string long_value = "{" + std::string(longest_kept, 'x') + "cut";
    rig.publish({{.key = "good", .value = v1::status("s1", "2026-11-21T09:00:00", "running"), .partition = 1},
                 {.key = "long", .value = long_value, .partition = 1},
                 {.key = "short", .value = "[1]", .partition = 0}});
    const auto worker = rig.epilogue().worker();
    const auto read = eventually("both are copied", [&]() -> std::optional<std::vector<Record>> {
        auto records = read_topic(broker.bootstrap(), copies);
        return records.size() == 2 ? std::optional(std::move(records)) : std::nullopt;
    });
    std::map<std::string, Record> found;
    for (const Record& record : *read) found[record.key.value()] = record;
    using Headers = std::map<std::string, std::string>;
    BOOST_TEST(*found.at("long").value == long_value.substr(0, longest_kept));
    BOOST_TEST((found.at("long").headers ==
                Headers{{"reason", "not_json"}, {"topic", "copied"}, {"partition", "1"}, {"offset", "1"}}));
    BOOST_TEST(*found.at("short").value == "[1]");
    BOOST_TEST(
        (found.at("short").headers ==
         Headers{{"reason", "not_an_object"}, {"topic", "copied"}, {"partition", "0"}, {"offset", "0"}}));
}
