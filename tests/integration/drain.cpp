// SIGTERM under load, again and again: a worker ends in time and in good order, and stands exactly where it
// says.
#define BOOST_TEST_MODULE drain
#include <chrono>
#include <iostream>
#include <set>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "base/io/mysql.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;

constexpr int rounds = 20;
constexpr int conversations = 100;
constexpr int watched = 15;  // those with a callback
constexpr int turns_a_round = 2;
constexpr std::chrono::seconds drain{10};

/// One round's events of every conversation; V0's verdicts count when they arrive.
std::vector<Record> next_events(std::vector<V0Conversation>& scripts) {
    std::vector<Record> records;
    for (V0Conversation& conversation : scripts) {
        const std::size_t known = conversation.records().size();
        for (int turn = 0; turn < turns_a_round; ++turn) conversation.user("Go on.").agent_asks("And now?");
        const auto own = conversation.records_since(known);
        records.insert(records.end(), own.begin(), own.end());
    }
    return records;
}

using Places = std::set<std::pair<int, std::int64_t>>;  ///< partition and offset

/// What a worker left behind.
struct Left {
    PartitionOffsets stored;
    PartitionOffsets committed;
    PartitionOffsets ends;
    Places reported;            ///< the records whose turns have deliveries
    std::int64_t in_doubt = 0;  ///< deliveries of which it is not known whether they were posted
};

Left left_behind(const Rig& rig) {
    Left left{rig.stored(), rig.committed(), rig.ends(), {}};
    left.in_doubt = rig.number("SELECT COUNT(*) FROM deliveries WHERE state NOT IN ('PLANNED','SENT')");
    for (const Row& row : rig.query("SELECT source_partition, source_offset FROM deliveries"))
        left.reported.emplace(std::stoi(row.at(0).value()), std::stoll(row.at(1).value()));
    return left;
}

/// The records that end a turn of a watched conversation, up to these positions.
Places ends_before(const PartitionOffsets& positions, const std::vector<Record>& log) {
    Places places;
    for (const Record& record : log) {
        const bool ends = record.value->find("awaiting_user_input") != std::string::npos;
        const bool is_watched = std::stoi(record.key->substr(record.key->rfind('-') + 1)) < watched;
        const auto position = positions.find(*record.partition);
        if (ends && is_watched && position != positions.end() && record.offset < position->second)
            places.emplace(*record.partition, record.offset);
    }
    return places;
}

}  // namespace

BOOST_AUTO_TEST_CASE(twenty_times_told_to_end_under_load_a_worker_has_consumed_what_it_stored_and_committed) {
    const Rig rig("drains", 3,
                  {{"worker.senders", 8},
                   {"worker.drain_s", std::int64_t{drain.count()}},
                   {"worker.batch_max_records", 20}});
    const FakePlatformProcess& platform = rig.platform();
    platform.rules({{{"do", "delay"}, {"ms", 20}, {"method", "POST"}, {"times", -1}}});
    std::vector<V0Conversation> scripts;
    for (int i = 0; i < conversations; ++i) {
        scripts.emplace_back("drained-" + std::to_string(i));
        if (i < watched) rig.add_github(scripts.back().id(), "octo/drained", i + 1, "every_turn");
    }
    const auto began = std::chrono::steady_clock::now();
    Producer producer(broker_of_this_program().bootstrap());
    producer.produce(rig.name(), next_events(scripts));

    std::vector<Left> all;
    int with_rest = 0;
    for (int round = 0; round < rounds; ++round) {
        const auto attempts = platform.counts().at("attempts");
        auto worker = rig.epilogue().start_worker();
        platform.wait_for("attempts", attempts + 2, 60s);
        producer.produce(rig.name(), next_events(scripts));
        worker.process().signal(SIGTERM);
        const auto status = worker.process().wait(drain);
        BOOST_REQUIRE_MESSAGE(status.has_value(), "round " << round << ": " << worker.process().err());
        BOOST_TEST(*status == 0, worker.process().err());
        all.push_back(left_behind(rig));
        with_rest += all.back().stored == all.back().ends ? 0 : 1;
    }
    std::cout << rounds << " times SIGTERM, " << with_rest << " of them with records left unread"
              << std::endl;
    BOOST_TEST(with_rest >= rounds / 2);

    const auto log = read_topic(broker_of_this_program().bootstrap(), rig.name());
    for (const Left& left : all) {
        BOOST_TEST((left.committed == left.stored));
        BOOST_TEST(left.in_doubt == 0);
        BOOST_TEST((left.reported == ends_before(left.stored, log)));
    }
    // What the drains left is done by the next, and nothing was ever in doubt.
    const auto worker = rig.epilogue().worker();
    const auto turns = static_cast<std::size_t>(watched * turns_a_round * (rounds + 1));
    eventually("every turn is sent", 120s, [&] {
        return static_cast<std::size_t>(rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'")) ==
               turns;
    });
    const auto counts = platform.counts();
    BOOST_TEST(counts.at("attempts") == turns);
    BOOST_TEST(counts.at("visible") == turns);
    // Later than that, posts are looked for because they are overdue, and for duplicates.
    if (std::chrono::steady_clock::now() - began < 60s) BOOST_TEST(counts.at("lookups") == 0U);
}

BOOST_AUTO_TEST_CASE(a_row_that_somebody_else_keeps_locked_does_not_put_off_the_end) {
    constexpr std::chrono::seconds short_drain{3};
    const Rig rig("held_up", 1, {{"worker.drain_s", std::int64_t{short_drain.count()}}});
    V0Conversation conversation("held-up");
    const auto callback = rig.add_github(conversation.id(), "octo/held-up", 1, "every_turn");
    const auto session =
        std::move(epilogue::MysqlSession::open(server_of_this_program().settings(rig.name())).value());
    BOOST_REQUIRE(session->run("BEGIN").has_value());
    BOOST_REQUIRE(
        session->query("SELECT 1 FROM conversation_callbacks WHERE id=? FOR UPDATE", {callback}).has_value());
    rig.publish(conversation.user("Go on.").agent_asks("And now?").records());
    auto worker = rig.epilogue().start_worker();
    eventually("the batch waits for the row", [&] {
        return rig.number(
                   "SELECT COUNT(*) FROM information_schema.processlist WHERE time>=1 AND "
                   "command='Execute' AND info LIKE '%FOR UPDATE'") > 0;
    });
    worker.process().signal(SIGTERM);
    const auto status = worker.process().wait(short_drain + 2s);
    BOOST_REQUIRE(status.has_value());
    BOOST_TEST(*status == 0);
}
