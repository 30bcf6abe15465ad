// What the loop does with a partition that another worker has claimed: nothing for a while, and nothing
// before the broker has shown that this worker is still a member of the group. And when it stands still.
#define BOOST_TEST_MODULE loop
#include "worker/consume/loop.h"

#include <stdexcept>
#include <utility>

#include <boost/test/unit_test.hpp>

namespace {

using namespace epilogue;
using namespace std::chrono_literals;

/// The partition's row, and no other table.
struct OneRow {
    PartitionRow row;
    int claims = 0;
};

class OnePartitionRow final : public PartitionRows {
  public:
    explicit OnePartitionRow(OneRow& table) : table_(table) {}
    Result<std::optional<PartitionRow>> lock(const PartitionKey&) override {
        return std::optional(table_.row);
    }
    Result<std::optional<PartitionRow>> read(const PartitionKey& key) override { return lock(key); }
    Result<void> update(const PartitionKey&, const PartitionRow& row) override {
        if (row.generation != table_.row.generation) ++table_.claims;
        table_.row = row;
        return {};
    }
    Result<std::optional<int>> first_count(const std::string&) override { return std::optional(1); }
    Result<int> known_count(const std::string&) override { return 1; }

  private:
    OneRow& table_;
};

class NoConversations final : public ConversationRows {
  public:
    Result<std::vector<StoredConversation>> lock(const std::vector<ConversationId>&, int) override {
        return {};
    }
    Result<Conversation> lock_one(const ConversationId&) override { return Conversation{}; }
    Result<std::optional<int>> partition_of(const ConversationId&) override { return std::optional<int>(); }
    Result<void> note_guess(const ConversationId&) override { return {}; }
    Result<void> update(const std::vector<StoredConversation>&) override { return {}; }
    Result<std::vector<ConversationId>> due(int, Instant, std::size_t) override { return {}; }
    Result<std::vector<ConversationId>> suspended(int, std::size_t) override { return {}; }
    Result<InactivityCensus> inactivity_census(Instant, Instant, Instant) override {
        return InactivityCensus{};
    }
    Result<std::optional<Instant>> next_due(int) override { return std::optional<Instant>(); }
};

class OneRowTransaction final : public Transaction {
  public:
    explicit OneRowTransaction(OneRow& table) : partitions_(table) {}
    Result<Instant> now() override { return Instant{1h}; }
    std::int64_t connection_id() override { return 1; }
    PartitionRows& partitions() override { return partitions_; }
    ConversationRows& conversations() override { return conversations_; }
    CallbackRows& callbacks() override { unused(); }
    AgentEndpointRows& agent_endpoints() override { unused(); }
    ReconcileRows& reconciles() override { unused(); }
    SummaryRows& summaries() override { unused(); }
    DeliveryRows& deliveries() override { unused(); }
    RateLimitRows& rate_limits() override { unused(); }
    CredentialRows& credentials() override { unused(); }
    DeadLetterRows& dead_letters() override { unused(); }
    GapRows& gaps() override { unused(); }
    ImportedRows& imports() override { unused(); }

  private:
    [[noreturn]] static void unused() { throw std::logic_error("no table of this test"); }
    OnePartitionRow partitions_;
    NoConversations conversations_;
};

class OneRowStore final : public Store {
  public:
    explicit OneRowStore(OneRow& table) : table_(table) {}
    Result<void> transact(const Work& work, const Check&) override { return read_only(work); }
    Result<void> read_only(const Work& work) override {
        if (is_away) return retryable("the database is away");
        OneRowTransaction transaction(table_);
        return work(transaction);
    }
    Result<void> end_session(std::int64_t) override { return {}; }
    Result<Installation> installation() override { return Installation{}; }

    bool is_away = false;

  private:
    OneRow& table_;
};

/// A log of one partition; the broker accepts awaited commits or refuses them.
class OnePartitionLog final : public PartitionLog {
  public:
    std::string cluster_id() override { return "c"; }
    std::string topic_id() override { return "t"; }
    Result<int> partitions() override { return 1; }
    Result<NextOffset> first_position(int) override { return NextOffset{0}; }
    Result<std::optional<RecordFingerprint>> record_at(int, Offset) override {
        return std::optional<RecordFingerprint>();
    }
    Result<void> read_from(int, NextOffset) override {
        is_reading = true;
        return {};
    }
    void stop_reading(int) override { is_reading = false; }
    Result<Watermarks> watermarks(int) override { return Watermarks{0, 100}; }
    void commit(const std::map<int, NextOffset>&) override {}
    Result<void> commit_and_wait(int, NextOffset position) override {
        awaited.push_back(position);
        if (!accepts) return retryable("not a member of the group's generation");
        return {};
    }

    bool accepts = true;
    bool is_reading = false;
    std::vector<NextOffset> awaited;  ///< positions whose commit was awaited
};

/// A loop with one assigned partition, and a clock that the test moves.
struct OneLoop {
    explicit OneLoop(double random01)
        : loop({queues, log, troubles}, {store, batch},
               {outbox, [](const TurnId&) {}, [](const DeadLetterRow&) {}}, {metrics, readiness},
               {.group = "g",
                .topic = "t",
                .owner = "this worker",
                .steady = [this] { return now; },
                .random01 = [random01] { return random01; }}) {
        table.row.group = "g";
        table.row.next_offset = {7};
        queues.assign({0});
        turn();
        BOOST_REQUIRE(table.claims == 1);
    }

    void turn() { loop.turn(0ms, {}); }
    void turn_after(std::chrono::milliseconds time) {
        now += time;
        turn();
    }
    /// Another worker claims the partition; this one finds out with its next batch.
    void be_fenced() {
        ++table.row.generation.value;
        RecordView record;
        record.offset = {7};
        (void)queues.push({record, Record::Keep(nullptr, [](void*) {})});
        turn();
        BOOST_REQUIRE(!log.is_reading);
    }

    SteadyTime now{1h};
    OneRow table;
    OneRowStore store{table};
    OnePartitionLog log;
    Planner planner{"6f1c2b1e-3d0a-4c58-9a53-0d8f5d1c7e42", {}};
    Batch batch{store, planner, {}};
    SinksInUse sinks;
    Sender sender{store, sinks, {}, {}, {}, system_sender_clock()};
    Outbox outbox{store, sender, 1, [](const std::string&) {}};
    PartitionQueues queues{{}, {.steady = [this] { return now; }}};
    PartitionTroubles troubles;
    Metrics metrics;
    Readiness readiness;
    Loop loop;
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_fenced_partition_is_left_alone_for_half_a_second_to_three_seconds) {
    for (const auto& [random01, wait] :
         {std::pair{0.0, 500ms}, std::pair{0.4, 1500ms}, std::pair{1.0, 3000ms}}) {
        OneLoop it(random01);
        it.be_fenced();
        it.turn_after(wait - 1ms);
        BOOST_TEST(it.log.awaited.empty());
        BOOST_TEST(it.table.claims == 1);
        it.turn_after(1ms);
        BOOST_TEST(it.log.awaited.size() == 1U);
        BOOST_TEST(it.table.claims == 2);
    }
}

BOOST_AUTO_TEST_CASE(after_a_fence_a_claim_is_made_only_when_the_broker_has_accepted_an_offset_commit) {
    OneLoop it(0.0);
    it.be_fenced();
    it.log.accepts = false;
    for (int refused = 1; refused <= 3; ++refused) {
        it.turn_after(10s);
        BOOST_TEST(it.log.awaited.size() == static_cast<std::size_t>(refused));
        BOOST_TEST(it.table.claims == 1);
        BOOST_TEST(it.readiness.missing() == "t partition 0: not a member of the group's generation\n");
    }
    it.log.accepts = true;
    it.turn_after(10s);
    BOOST_TEST((it.log.awaited.back() == NextOffset{7}));
    BOOST_TEST(it.table.claims == 2);
    BOOST_TEST(it.log.is_reading);
    BOOST_TEST(it.readiness.missing() == "");
}

BOOST_AUTO_TEST_CASE(a_partition_without_records_is_ready_again_when_its_timers_reach_the_database_again) {
    OneLoop it(0.0);
    const auto idle = [&] {
        it.turn_after(30s);  // looks at the log
        it.turn();           // steps the timers
    };
    it.store.is_away = true;
    idle();
    BOOST_TEST(it.readiness.missing() == "t partition 0: the database is away\n");
    it.store.is_away = false;
    idle();
    BOOST_TEST(it.readiness.missing() == "");
}

BOOST_AUTO_TEST_CASE(a_loop_that_has_not_turned_for_60_s_does_not_turn) {
    OneLoop it(0.0);
    it.now += 60s - 1ns;
    BOOST_TEST(it.loop.is_turning());
    it.now += 1ns;
    BOOST_TEST(!it.loop.is_turning());
    it.turn();
    BOOST_TEST(it.loop.is_turning());
}
