// A callback that comes in the middle of something: at each point of a batch's transaction and of the
// timers', by plain SQL or by our own registration, and the other way round. It is never lost and never
// reported twice.
#define BOOST_TEST_MODULE registration
#include <future>

#include <boost/test/unit_test.hpp>

#include "tests/integration/racing_transactions.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "worker/store/transaction.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;

/// Whether a transaction that began at a point of another one was done before that one went on.
enum class Beside { done, waited };

/// Runs `transaction` over a store that lets `other` act when it comes to `at` for the first time. If it
/// waits for a lock by then, it goes on when the transaction has ended.
Beside run_beside(OwnedPartition& partition, const std::string& at,
                  const std::function<void(Store&)>& transaction, const std::function<void()>& other) {
    std::future<void> acting;
    Beside beside = Beside::done;
    PointStore store(partition.store(), [&](const std::string& point, std::int64_t) {
        if (point != at || acting.valid()) return;
        acting = std::async(std::launch::async, other);
        eventually("the other is done, or waits for a lock", [&] {
            if (acting.wait_for(5ms) == std::future_status::ready) return true;
            beside = Beside::waited;
            return partition.waiting() > 0;
        });
        if (acting.wait_for(0ms) == std::future_status::ready) beside = Beside::done;
    });
    transaction(store);
    BOOST_REQUIRE_MESSAGE(acting.valid(), "no such point: " << at);
    acting.get();
    return beside;
}

/// A way in which a callback comes.
struct Newcomer {
    std::string name;
    std::function<std::int64_t(OwnedPartition&, const std::string& conversation)> come;
    bool is_adopted = true;   ///< when it has come
    bool every_turn = false;  ///< else the first one
};

const std::vector<Newcomer> newcomers{
    {"a row by plain SQL",
     [](OwnedPartition& partition, const std::string& conversation) {
         return partition.insert_row(conversation);
     },
     false},
    {"a row by plain SQL and its adoption",
     [](OwnedPartition& partition, const std::string& conversation) {
         const auto id = partition.insert_row(conversation);
         partition.adopt(partition.store());
         return id;
     }},
    {"our own registration",
     [](OwnedPartition& partition, const std::string& conversation) {
         return partition.add(partition.store(), conversation);
     },
     true, true},
};

/// Ends the turn u2 and compares what is owed to which callback.
void check(OwnedPartition& partition, RacedConversation& raced, bool is_open, std::int64_t callback,
           const Turns& owed) {
    run_the_next_turn(partition, raced, is_open);
    BOOST_TEST(partition.turns_of(callback) == owed, boost::test_tools::per_element());
    const Turns both{"u1", "u2"};
    BOOST_TEST(partition.turns_of(raced.witness) == both, boost::test_tools::per_element());
}

/// A store whose clock the test moves on.
class LaterStore final : public Store {
  public:
    explicit LaterStore(Store& store) : store_(store) {}

    std::chrono::minutes later{0};

    Result<void> transact(const Work& work, const Check& is_done) override {
        return store_.transact([&](Transaction& rows) { return at_our_time(rows, work); }, is_done);
    }
    Result<void> read_only(const Work& work) override {
        return store_.read_only([&](Transaction& rows) { return at_our_time(rows, work); });
    }
    Result<void> end_session(std::int64_t id) override { return store_.end_session(id); }
    Result<Installation> installation() override { return store_.installation(); }

  private:
    class LaterTransaction final : public Transaction {
      public:
        LaterTransaction(Transaction& rows, std::chrono::minutes later) : rows_(rows), later_(later) {}
        Result<Instant> now() override {
            TRY(const Instant now, rows_.now());
            return now + later_;
        }
        std::int64_t connection_id() override { return rows_.connection_id(); }
        PartitionRows& partitions() override { return rows_.partitions(); }
        ConversationRows& conversations() override { return rows_.conversations(); }
        CallbackRows& callbacks() override { return rows_.callbacks(); }
        AgentEndpointRows& agent_endpoints() override { return rows_.agent_endpoints(); }
        ReconcileRows& reconciles() override { return rows_.reconciles(); }
        SummaryRows& summaries() override { return rows_.summaries(); }
        DeliveryRows& deliveries() override { return rows_.deliveries(); }
        RateLimitRows& rate_limits() override { return rows_.rate_limits(); }
        CredentialRows& credentials() override { return rows_.credentials(); }
        DeadLetterRows& dead_letters() override { return rows_.dead_letters(); }
        GapRows& gaps() override { return rows_.gaps(); }
        ImportedRows& imports() override { return rows_.imports(); }

      private:
        Transaction& rows_;
        const std::chrono::minutes later_;
    };

    Result<void> at_our_time(Transaction& rows, const Work& work) const {
        LaterTransaction transaction(rows, later);
        return work(transaction);
    }

    Store& store_;
};

/// A row of another program whose transaction goes on.
std::unique_ptr<MysqlSession> begin_row(const OwnedPartition& partition, const std::string& conversation) {
    auto session = partition.open_session();
    expect(session->run("BEGIN"));
    expect(
        session->execute("INSERT INTO conversation_callbacks (conversation_id, processor_type, "
                         "processor_json, created_at) VALUES (?,'github',?,UTC_TIMESTAMP(6))",
                         {conversation, R"({"repo": "o/late", "number": 1})"}));
    return session;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_callback_that_comes_at_any_point_of_what_ends_a_turn_reports_it_once) {
    OwnedPartition partition(server_of_this_program(), "comes");
    for (const EndingTransaction& ending : EndingTransaction::all()) {
        RacedConversation probe = next_conversation(partition, ending);
        const auto points = points_of(ending.name, partition, [&](Store& store) {
            expect(ending.run(partition, store, probe.conversation));
        });
        for (const std::string& point : points)
            for (const Newcomer& newcomer : newcomers) {
                BOOST_TEST_CONTEXT(newcomer.name << ", in " << ending.name << ", " << point) {
                    RacedConversation raced = next_conversation(partition, ending);
                    std::int64_t callback = 0;
                    const auto beside = run_beside(
                        partition, point,
                        [&](Store& store) { expect(ending.run(partition, store, raced.conversation)); },
                        [&] { callback = newcomer.come(partition, raced.conversation.id()); });
                    // A plain INSERT never waits for our transactions.
                    if (!newcomer.is_adopted) BOOST_TEST((beside == Beside::done));
                    partition.adopt(partition.store());

                    const bool was_first =
                        newcomer.is_adopted && beside == Beside::done && point != point::committed;
                    Turns owed;
                    if (was_first || !ending.goes_on) owed.emplace_back("u1");
                    if (owed.empty() || newcomer.every_turn) owed.emplace_back("u2");
                    check(partition, raced, ending.goes_on, callback, owed);
                }
            }
    }
}

BOOST_AUTO_TEST_CASE(a_turn_that_ends_at_any_point_of_a_callbacks_coming_is_reported_once) {
    OwnedPartition partition(server_of_this_program(), "ends");
    for (const CallbackTransaction& coming : CallbackTransaction::all())
        for (const EndingTransaction& ending :
             {EndingTransaction::by_a_batch(), EndingTransaction::by_timers()}) {
            const auto prepared = [&](RacedConversation& raced) {
                return coming.prepare(partition, raced.conversation.id());
            };
            const auto run = [&](Store& store, const RacedConversation& raced, std::int64_t row) {
                return coming.run(partition, store, raced.conversation.id(), row);
            };
            RacedConversation probe = next_conversation(partition, ending);
            const auto first = prepared(probe);
            const auto points = points_of(coming.name + " beside " + ending.name, partition,
                                          [&](Store& store) { run(store, probe, first); });
            for (const std::string& point : points) {
                BOOST_TEST_CONTEXT(ending.name << ", in " << coming.name << ", " << point) {
                    RacedConversation raced = next_conversation(partition, ending);
                    std::int64_t callback = prepared(raced);
                    run_beside(
                        partition, point, [&](Store& store) { callback = run(store, raced, callback); },
                        [&] { expect(ending.run(partition, partition.store(), raced.conversation)); });
                    check(partition, raced, false, callback,
                          coming.every_turn ? Turns{"u1", "u2"} : Turns{"u1"});
                }
            }
        }
}

BOOST_AUTO_TEST_CASE(a_mere_sign_of_life_is_written_only_where_somebody_watches) {
    OwnedPartition partition(server_of_this_program(), "signs_of_life");
    V1Conversation unknown("unknown");
    V1Conversation watched("watched");
    V1Conversation steered("steered");
    partition.add(partition.store(), watched.id());
    expect(partition.apply(partition.store(), {unknown.stats(), watched.stats(), steered.user("u1")}));
    const auto report = expect(partition.apply(
        partition.store(), {unknown.stats(), watched.stats(), steered.stats(), steered.stats()}));

    const auto rows = [&](const std::string& condition) {
        return partition.number("SELECT COUNT(*) FROM conversations WHERE " + condition);
    };
    BOOST_TEST(rows("conversation_id='unknown'") == 0);
    // One more than its batches: the registration wrote it too.
    BOOST_TEST(rows("conversation_id='watched' AND generation=2") == 1);
    BOOST_TEST(rows("conversation_id='steered' AND generation=1") == 1);
    BOOST_TEST((report.outcomes == decltype(report.outcomes){{{"v1", "applied"}, 4}}));
}

BOOST_AUTO_TEST_CASE(two_that_adopt_the_same_row_at_once_report_its_last_end_once) {
    OwnedPartition partition(server_of_this_program(), "adopt_twice");
    for (const CallbackTransaction& coming :
         {CallbackTransaction::adoption(), CallbackTransaction::waking()}) {
        const auto prepare = [&](RacedConversation& raced) {
            expect(EndingTransaction::by_a_batch().run(partition, partition.store(), raced.conversation));
            return coming.prepare(partition, raced.conversation.id());
        };
        RacedConversation probe = next_conversation(partition, EndingTransaction::by_a_batch());
        const auto first = prepare(probe);
        const auto points = points_of(coming.name + " that reports the last end", partition,
                                      [&](Store& store) { coming.run(partition, store, "", first); });
        for (const std::string& point : points) {
            BOOST_TEST_CONTEXT(coming.name << " twice, " << point) {
                RacedConversation raced = next_conversation(partition, EndingTransaction::by_a_batch());
                const auto row = prepare(raced);
                run_beside(
                    partition, point, [&](Store& store) { coming.run(partition, store, "", row); },
                    [&] { coming.run(partition, partition.store(), "", row); });
                check(partition, raced, false, row, {"u1"});
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(two_equal_registrations_at_once_make_one_callback_at_every_point) {
    OwnedPartition partition(server_of_this_program(), "equal_twice");
    int count = 0;
    const auto add = [&](Store& store, const std::string& conversation) {
        return partition.add(store, conversation, "github", R"({"repo": "o/equal", "number": 1})");
    };
    const auto points = points_of("a registration that has an equal", partition,
                                  [&](Store& store) { add(store, "equal-probe"); });
    for (const std::string& point : points) {
        BOOST_TEST_CONTEXT(point) {
            const std::string conversation = "equal-" + std::to_string(++count);
            std::int64_t first = 0;
            std::int64_t second = 0;
            run_beside(
                partition, point, [&](Store& store) { first = add(store, conversation); },
                [&] { second = add(partition.store(), conversation); });
            BOOST_TEST(first == second);
            BOOST_TEST(partition.number("SELECT COUNT(*) FROM callback_progress WHERE conversation_id='" +
                                        conversation + "'") == 1);
        }
    }
}

BOOST_AUTO_TEST_CASE(an_equal_registration_wakes_a_callback_that_sleeps) {
    OwnedPartition partition(server_of_this_program(), "equal_sleeps");
    const auto row = partition.insert_row("asleep", "UTC_TIMESTAMP(6) - INTERVAL 10 DAY");
    const auto place = partition.query("SELECT processor_json FROM conversation_callbacks").at(0).at(0);
    partition.adopt(partition.store());
    const auto phase = [&] {
        return partition.query("SELECT phase FROM callback_progress").at(0).at(0).value_or("");
    };
    BOOST_TEST(phase() == "dormant");
    RegistrationRequest request;
    request.conversation_id = "asleep";
    request.processor_type = "github";
    request.processor_json = place.value_or("");
    BOOST_TEST(partition.add(partition.store(), request) == row);
    BOOST_TEST(phase() == "watching");
}

BOOST_AUTO_TEST_CASE(a_row_that_is_seen_late_is_adopted_and_no_look_reads_the_whole_table) {
    OwnedPartition partition(server_of_this_program(), "seen_late");
    LaterStore store(partition.store());
    Adopter adopter = partition.adopter(store);
    const auto adopted = [&] { return expect(adopter.adopt_all()); };
    for (int i = 0; i < 3; ++i) partition.insert_row("early-" + std::to_string(i));
    const auto last_early = partition.number("SELECT MAX(id) FROM conversation_callbacks");
    BOOST_TEST(adopted() == 3U);

    const auto soon = begin_row(partition, "soon");
    const auto late = begin_row(partition, "late");
    partition.insert_row("before");
    BOOST_TEST(adopted() == 1U);
    store.later = 1min;
    expect(soon->run("COMMIT"));
    BOOST_TEST(adopted() == 1U);
    store.later = 3min;
    BOOST_TEST(adopted() == 0U);  // the newest row of this moment is noted
    store.later = 6min;
    BOOST_TEST(adopted() == 0U);  // and all up to it is left to the next pass
    expect(late->run("COMMIT"));
    partition.insert_row("behind");
    BOOST_TEST(adopted() == 1U);
    store.later = 61min;
    BOOST_TEST(adopted() == 1U);
    BOOST_TEST(partition.number("SELECT COUNT(*) FROM callback_progress WHERE conversation_id='late'") == 1);

    // A chunk ends where it has looked at so many rows, whatever they are.
    for (int i = 0; i < 3; ++i) partition.insert_row("chunk-" + std::to_string(i));
    expect(partition.store().read_only([&](Transaction& transaction) -> Result<void> {
        TRY(const UnadoptedChunk adopted_ones, transaction.callbacks().unadopted({}, 3));
        BOOST_TEST(adopted_ones.ids.empty());
        BOOST_TEST(adopted_ones.looked_until.value == last_early);
        BOOST_TEST(!adopted_ones.is_last);
        const CallbackId before{partition.number("SELECT MAX(id)-3 FROM conversation_callbacks")};
        TRY(const UnadoptedChunk first, transaction.callbacks().unadopted(before, 2));
        BOOST_TEST(first.ids.size() == 2U);
        BOOST_TEST(!first.is_last);
        TRY(const UnadoptedChunk second, transaction.callbacks().unadopted(first.looked_until, 2));
        BOOST_TEST(second.ids.size() == 1U);
        BOOST_TEST(second.is_last);
        return {};
    }));
}
