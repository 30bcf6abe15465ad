// A stored position and a log that is not what it was: topics made anew, retention, other groups, more
// partitions. Each is shown by a metric and by /readyz, nothing that is still in the log is missed, and
// nothing is shown when nothing happened.
#define BOOST_TEST_MODULE positions
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "tests/support/eventually.h"
#include "tests/support/rig.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;

constexpr auto shown_within = 60s;  // issue: each within 60 s
constexpr int records_of_a_turn = 4;

/// Members that leave the group, and topics that change, are noticed soon.
const Settings fast{
    {"kafka.properties", std::map<std::string, std::string>{{"session.timeout.ms", "6000"},
                                                            {"heartbeat.interval.ms", "1000"},
                                                            {"topic.metadata.refresh.interval.ms", "1000"}}}};

/// Conversations of one turn, each on a partition of the test's choice, reported to the log sink.
class PositionTrial {
  public:
    explicit PositionTrial(const std::string& name, int partitions, const Settings& more = {})
        : rig(name, partitions, merged({fast, more})) {}

    const std::string& topic() const { return rig.name(); }

    /// Publishes a turn of a new conversation to the partition.
    void publish_turn(int partition) {
        V0Conversation conversation(topic() + "-" + std::to_string(++published_));
        conversation.user("Go on.").agent_finishes("Done.");
        rig.add_callback(
            {"--conversation", conversation.id(), "--processor", "log", "--processor-json", "{}"});
        auto records = conversation.records();
        BOOST_REQUIRE(records.size() == records_of_a_turn);
        for (Record& record : records) record.partition = partition;
        rig.publish(records);
    }

    /// Returns when every turn published so far is reported, less those that retention removed.
    void all_reported(int removed = 0) const {
        eventually("every turn is reported", shown_within, [&] {
            return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'") == published_ - removed;
        });
        BOOST_TEST(rig.number("SELECT COUNT(*) FROM deliveries") == published_ - removed);
    }

    /// Returns when /readyz says these words of the partition, and they stay after the worker is ready again.
    void wait_readyz_says(WorkerProcess& worker, int partition, const std::string& words) const {
        const std::string name = topic() + " partition " + std::to_string(partition) + ": ";
        try {
            eventually("/readyz says of " + name + words, shown_within, [&] {
                const std::string body = worker.get("/readyz").body;
                const auto line = body.find(name);
                return line != std::string::npos && body.find(words, line) != std::string::npos;
            });
        } catch (const GaveUp& gave_up) {
            BOOST_FAIL(gave_up.what() << "; it says\n"
                                      << worker.get("/readyz").body << "and the worker says\n"
                                      << worker.process().err());
        }
    }

    void make_topic_anew(int partitions) const {
        broker_of_this_program().delete_topic(topic());
        broker_of_this_program().create_topic(topic(), partitions);
    }

    /// The rows' owners were last seen an hour ago.
    void let_an_hour_pass() const {
        rig.query(
            "UPDATE partition_progress SET touched_at=touched_at - INTERVAL 1 HOUR, "
            "generation=generation-3600000000");
    }

    /// As it is stored of partition 0.
    std::string topic_id() const {
        return rig.query("SELECT topic_id FROM partition_progress WHERE partition_id=0")
            .at(0)
            .at(0)
            .value_or("");
    }

    /// The rows of `offsets show`.
    nlohmann::json offsets() const {
        const auto shown = rig.epilogue().run({"offsets", "show", "--json"});
        BOOST_REQUIRE(shown.status == 0);
        return nlohmann::json::parse(shown.out);
    }

    const Rig rig;

  private:
    std::int64_t published_ = 0;
};

const std::vector<std::string> alarms{"epilogue_log_replaced_total", "epilogue_offset_gap_events_total",
                                      "epilogue_group_changed_total", "epilogue_partitions_added_total"};

/// `count` of that one alarm, and none of the others.
void check_alarms(const WorkerProcess& worker, const std::string& which, double count) {
    const auto metrics = worker.metrics();
    for (const std::string& name : alarms) {
        BOOST_TEST(metrics.contains(name), name);
        BOOST_TEST_CONTEXT(name) {
            BOOST_TEST(total(metrics, name) == (name == which ? count : 0));
        }
    }
}

void end(WorkerProcess& worker) {
    worker.process().signal(SIGTERM);
    BOOST_TEST(worker.process().wait(30s).value() == 0);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_topic_made_anew_under_a_running_worker_is_read_from_its_beginning) {
    PositionTrial trial("anew_running", 2);
    auto worker = trial.rig.epilogue().worker();
    trial.publish_turn(0);
    trial.publish_turn(0);
    trial.publish_turn(1);
    trial.all_reported();
    trial.make_topic_anew(2);
    trial.publish_turn(0);  // ends before the stored position of partition 0
    trial.publish_turn(1);
    trial.publish_turn(1);  // ends behind that of partition 1
    trial.wait_readyz_says(worker, 0, "the topic was made anew");
    trial.wait_readyz_says(worker, 1, "the topic was made anew");
    trial.all_reported();
    check_alarms(worker, "epilogue_log_replaced_total", 2);
    const auto rows = trial.offsets();
    BOOST_REQUIRE(rows.size() == 2U);
    BOOST_TEST(rows[0].at("next_offset") == records_of_a_turn);
    BOOST_TEST(rows[0].at("moved_from") == 2 * records_of_a_turn);
    BOOST_TEST(rows[1].at("moved_why").get<std::string>().starts_with("the topic was made anew"));
    BOOST_TEST((trial.rig.stored() == trial.rig.ends()));
}

BOOST_AUTO_TEST_CASE(a_topic_made_anew_and_longer_than_before_is_recognised_by_its_record_after_a_restart) {
    PositionTrial trial("anew_longer", 1);
    {
        auto worker = trial.rig.epilogue().worker();
        trial.publish_turn(0);
        trial.all_reported();
        end(worker);
    }
    trial.make_topic_anew(1);
    trial.rig.query("UPDATE partition_progress SET topic_id=NULL");  // as brokers without ids have it
    for (int i = 0; i < 3; ++i) trial.publish_turn(0);
    auto worker = trial.rig.epilogue().start_worker();
    trial.wait_readyz_says(worker, 0, " is another one");
    trial.all_reported();
    check_alarms(worker, "epilogue_log_replaced_total", 1);
    BOOST_TEST(worker.get("/readyz").status == 503);
}

BOOST_AUTO_TEST_CASE(a_topic_made_anew_is_recognised_by_its_id_when_neither_offsets_nor_records_tell) {
    PositionTrial trial("anew_by_id", 1);
    {
        auto worker = trial.rig.epilogue().worker();
        trial.publish_turn(0);
        trial.all_reported();
        end(worker);
    }
    const std::string id = trial.topic_id();
    BOOST_TEST(!id.empty());
    trial.make_topic_anew(1);
    // More than before, and what the stored position could be compared with is gone.
    for (int i = 0; i < 3; ++i) trial.publish_turn(0);
    broker_of_this_program().delete_records(trial.topic(), {{0, records_of_a_turn}});
    auto worker = trial.rig.epilogue().start_worker();
    trial.wait_readyz_says(worker, 0, "the topic was made anew: its id is ");
    trial.all_reported(1);
    check_alarms(worker, "epilogue_log_replaced_total", 1);
    BOOST_TEST(trial.topic_id() != id);
    BOOST_TEST(trial.rig.number("SELECT COUNT(*) FROM log_gaps WHERE why LIKE '%its id is%'") == 1);
}

BOOST_AUTO_TEST_CASE(another_cluster_is_read_from_its_beginning) {
    PositionTrial trial("elsewhere", 1);
    {
        auto worker = trial.rig.epilogue().worker();
        trial.publish_turn(0);
        trial.all_reported();
        end(worker);
    }
    trial.let_an_hour_pass();
    trial.rig.query("UPDATE partition_progress SET cluster_id='the-old-one', next_offset=1000");
    trial.publish_turn(0);
    auto worker = trial.rig.epilogue().start_worker();
    trial.wait_readyz_says(worker, 0, "another cluster");
    trial.all_reported();
    check_alarms(worker, "epilogue_log_replaced_total", 1);
    BOOST_TEST(trial.rig.number("SELECT moved_from FROM partition_progress") == 1000);
}

BOOST_AUTO_TEST_CASE(retention_that_passed_us_is_counted_and_the_rest_is_read) {
    PositionTrial trial("passed", 1);
    {
        auto worker = trial.rig.epilogue().worker();
        trial.publish_turn(0);
        trial.all_reported();
        end(worker);
    }
    trial.publish_turn(0);  // never read: retention removes it first
    trial.publish_turn(0);
    broker_of_this_program().delete_records(trial.topic(), {{0, 2 * records_of_a_turn}});
    auto worker = trial.rig.epilogue().start_worker();
    trial.wait_readyz_says(worker, 0, "retention passed us: offsets 4 to 7 are gone");
    trial.all_reported(1);
    check_alarms(worker, "epilogue_offset_gap_events_total", records_of_a_turn);
    const auto rows = trial.offsets();
    BOOST_REQUIRE(rows.size() == 1U);
    BOOST_TEST(rows[0].at("moved_from") == records_of_a_turn);

    // And under a worker that runs, but not fast enough. A fetch that is still open takes the tombstone.
    worker.process().signal(SIGSTOP);
    trial.rig.publish({{.key = "nobody", .partition = 0}});
    trial.publish_turn(0);
    trial.publish_turn(0);
    broker_of_this_program().delete_records(trial.topic(), {{0, 4 * records_of_a_turn + 1}});
    worker.process().signal(SIGCONT);
    trial.wait_readyz_says(worker, 0, "to 16 are gone");
    trial.all_reported(2);
    const double lost = total(worker.metrics(), "epilogue_offset_gap_events_total");
    BOOST_TEST((lost == 2 * records_of_a_turn || lost == 2 * records_of_a_turn + 1));
}

BOOST_AUTO_TEST_CASE(a_changed_group_goes_on_from_the_stored_position) {
    PositionTrial trial("renamed", 1);
    {
        auto worker = trial.rig.epilogue().worker();
        trial.publish_turn(0);
        trial.all_reported();
        end(worker);
    }
    trial.let_an_hour_pass();
    trial.publish_turn(0);
    const Epilogue renamed(merged({trial.rig.settings(), {{"kafka.group", "renamed-2"}}}));
    auto worker = renamed.start_worker();
    trial.wait_readyz_says(worker, 0, "taken over from group renamed, at offset 4");
    trial.all_reported();
    check_alarms(worker, "epilogue_group_changed_total", 1);
    BOOST_TEST(total(worker.metrics(), "epilogue_events_total") == records_of_a_turn);
    const auto rows = trial.offsets();
    BOOST_REQUIRE(rows.size() == 2U);
    BOOST_TEST(rows[0].at("consumer_group") == "renamed-2");
    BOOST_TEST(rows[0].at("next_offset") == 2 * records_of_a_turn);
    BOOST_TEST(rows[1].at("consumer_group") == "renamed");
}

BOOST_AUTO_TEST_CASE(a_second_group_on_the_same_tables_waits_while_the_first_is_alive) {
    PositionTrial trial("two_groups", 1);
    const auto first = trial.rig.epilogue().worker();
    trial.publish_turn(0);
    trial.all_reported();
    const Epilogue second_settings(merged({trial.rig.settings(), {{"kafka.group", "two_groups-2"}}}));
    auto second = second_settings.start_worker();
    trial.wait_readyz_says(second, 0, "group two_groups is read into the same tables");
    BOOST_TEST(second.get("/readyz").status == 503);
    check_alarms(second, "epilogue_group_changed_total", 1);
    trial.publish_turn(0);
    trial.all_reported();
    BOOST_TEST(trial.rig.number("SELECT COUNT(*) FROM partition_progress") == 1);
    BOOST_TEST(first.get("/readyz").body == "ready\n");
    check_alarms(first, "", 0);
}

BOOST_AUTO_TEST_CASE(partitions_that_are_added_are_read_from_their_beginning_whatever_start_says) {
    PositionTrial trial("grown", 3, {{"kafka.start", "latest"}});
    auto worker = trial.rig.epilogue().worker();
    eventually("all partitions are claimed",
               [&] { return trial.rig.number("SELECT COUNT(*) FROM partition_progress") == 3; });
    for (int partition = 0; partition < 3; ++partition) trial.publish_turn(partition);
    trial.all_reported();
    broker_of_this_program().raise_partitions(trial.topic(), 5);
    trial.publish_turn(3);  // before a worker reads them
    trial.publish_turn(4);
    trial.wait_readyz_says(worker, 3, "added to the topic, which had 3 partitions");
    trial.wait_readyz_says(worker, 4, "added to the topic, which had 3 partitions");
    trial.all_reported();
    check_alarms(worker, "epilogue_partitions_added_total", 2);
}

BOOST_AUTO_TEST_CASE(nothing_is_shown_when_nothing_happened) {
    PositionTrial trial("quiet", 2);
    {
        auto worker = trial.rig.epilogue().worker();
        trial.publish_turn(0);
        trial.publish_turn(1);
        trial.all_reported();
        check_alarms(worker, "", 0);
        end(worker);
    }
    const auto stored = trial.rig.stored();
    // Partition 0 was read to its end and is emptied; of partition 1 the record read last is still there.
    broker_of_this_program().delete_records(trial.topic(), {{0, stored.at(0)}, {1, stored.at(1) - 1}});
    auto worker = trial.rig.epilogue().worker();
    eventually("both are claimed again", [&] {
        return trial.rig.number("SELECT COUNT(DISTINCT owner) FROM partition_progress") == 1 &&
               total(worker.metrics(), "epilogue_consumer_lag") == 0;
    });
    BOOST_TEST((trial.rig.stored() == stored));
    trial.publish_turn(0);
    trial.publish_turn(1);
    trial.all_reported();
    check_alarms(worker, "", 0);
    BOOST_TEST(worker.get("/readyz").body == "ready\n");
    for (const auto& row : trial.offsets()) BOOST_TEST(row.at("moved_at").is_null());
}

BOOST_AUTO_TEST_CASE(an_unseen_partition_begins_at_the_groups_committed_offset) {
    PositionTrial trial("committed", 1, {{"kafka.start", "latest"}});
    {
        auto worker = trial.rig.epilogue().worker();
        eventually("the partition is claimed",
                   [&] { return trial.rig.number("SELECT COUNT(*) FROM partition_progress") == 1; });
        trial.publish_turn(0);
        trial.all_reported();
        end(worker);
    }
    BOOST_TEST((trial.rig.committed() == PartitionOffsets{{0, records_of_a_turn}}));
    trial.rig.query("DELETE FROM partition_progress");  // as tables have it that never saw the topic
    trial.publish_turn(0);
    const auto worker = trial.rig.epilogue().worker();
    trial.all_reported();
    BOOST_TEST(total(worker.metrics(), "epilogue_events_total") == records_of_a_turn);
    check_alarms(worker, "", 0);
}

BOOST_AUTO_TEST_CASE(without_a_committed_offset_start_decides_where_an_unseen_partition_begins) {
    const auto consumed = [](const std::string& start) {
        PositionTrial trial("start_" + start, 1, {{"kafka.start", start}});
        trial.publish_turn(0);
        const auto worker = trial.rig.epilogue().worker();
        eventually("the partition is claimed",
                   [&] { return trial.rig.number("SELECT COUNT(*) FROM partition_progress") == 1; });
        trial.publish_turn(0);
        trial.all_reported(start == "latest" ? 1 : 0);
        return total(worker.metrics(), "epilogue_events_total");
    };
    BOOST_TEST(consumed("earliest") == 2 * records_of_a_turn);
    BOOST_TEST(consumed("latest") == records_of_a_turn);
}

BOOST_AUTO_TEST_CASE(with_start_error_an_unseen_partition_is_not_read_and_readyz_says_why) {
    PositionTrial trial("start_error", 1, {{"kafka.start", "error"}});
    trial.publish_turn(0);
    auto worker = trial.rig.epilogue().start_worker();
    trial.wait_readyz_says(worker, 0, "no stored and no committed offset, and [kafka] start is \"error\"");
    BOOST_TEST(worker.get("/readyz").status == 503);
    BOOST_TEST(total(worker.metrics(), "epilogue_events_total") == 0);
    BOOST_TEST(trial.rig.number("SELECT COUNT(*) FROM partition_progress") == 0);
    BOOST_TEST(trial.rig.committed().empty());
}
