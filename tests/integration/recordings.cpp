// Every recorded conversation through a real broker, the program and a real database: what is reported
// depends on the log alone, not on how it is cut into batches, when it is read, or how often it is published.
#define BOOST_TEST_MODULE recordings
#include <algorithm>
#include <iostream>
#include <map>
#include <stdexcept>

#include <boost/test/unit_test.hpp>

#include "base/config.h"
#include "tests/integration/ledger.h"
#include "tests/integration/recording_set.h"
#include "tests/support/database.h"
#include "tests/support/epilogue.h"
#include "tests/support/eventually.h"
#include "tests/support/expect.h"
#include "tests/support/kafka_broker.h"
#include "worker/apply/registration.h"
#include "worker/mysql/mysql_store.h"
#include "worker/settings.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;

enum class Reading {
    live,           ///< the workers run while it is published
    after_the_fact  ///< the first worker starts when everything is published
};

enum class Copies {
    one,
    two_in_a_row,   ///< each event twice, one copy after the other
    set_after_set,  ///< everything, then everything once more, whether the first has been read or not
};

/// One way to publish and read all recordings.
struct Form {
    std::size_t at_a_time = 0;  ///< events in one call of the producer, and records in one batch of a worker
    Reading reading = Reading::live;
    Copies copies = Copies::one;
    int partitions = 3;
    int workers = 1;
};
constexpr std::size_t everything = 1'000'000;

const std::vector<std::string> modes{"once", "until_done", "every_turn"};

/// Callback by conversation and mode.
using CallbackIds = std::map<std::pair<std::string, std::string>, std::int64_t>;

/// A log callback of each mode on each conversation. As `callbacks add` does it, but in one process.
CallbackIds register_all(const Epilogue& epilogue, const std::vector<RecordedConversation>& conversations) {
    const Config config = expect(load_config(epilogue.config_file().string(), {}, config_schema()));
    MysqlStore store(mysql_settings(config), StoreObserver{});
    const Planner planner = expect(planner_for(config, store));
    CallbackIds ids;
    for (const auto& conversation : conversations)
        for (const auto& mode : modes) {
            RegistrationRequest request;
            request.conversation_id = conversation.id;
            request.processor_type = "log";
            request.processor_json = "{}";
            request.options = expect(parse_options(mode, ""));
            ids[{conversation.id, mode}] =
                expect(register_callback(store, planner, request)).callback_id.value;
        }
    return ids;
}

struct Servers {
    KafkaBroker broker;
    Database database;
};

const Servers& servers() {
    static const Servers both;
    return both;
}

/// A topic, a group and a database of their own, each recording as a new conversation, callbacks on all of
/// them.
class Trial {
  public:
    explicit Trial(const Form& form)
        : form_(form),
          name_("form" + std::to_string(++count_)),
          epilogue_(prepare()),
          producer_(servers().broker.bootstrap()) {
        if (const auto done = epilogue_.run({"migrate"}); done.status != 0)
            throw std::runtime_error("migrate: " + done.err);
        conversations_ = recordings_with_new_ids(system_now());
        callbacks_ = register_all(epilogue_, conversations_);
    }

    void publish() {
        const auto records = records_to_publish();
        for (auto from = records.begin(); from != records.end();) {
            const auto left = static_cast<std::size_t>(records.end() - from);
            const auto to = from + static_cast<std::ptrdiff_t>(std::min(left, form_.at_a_time));
            producer_.produce(name_, {from, to});
            from = to;
        }
        published_ += records.size();
    }

    void start_workers() {
        for (int i = 0; i < form_.workers; ++i) workers_.push_back(epilogue_.start_worker());
        for (auto& worker : workers_) worker.wait_ready(30s);
        eventually("each partition has an owner",
                   [&] { return positions().size() == static_cast<std::size_t>(form_.partitions); });
    }

    /// Returns when all that was published has been applied and all that follows from it is done.
    void wait_until_told() {
        const auto ends = servers().broker.end_offsets(name_);
        eventually("all is read, counted and posted", 300s, [&] {
            for (auto& worker : workers_)
                if (!worker.process().running())
                    throw std::runtime_error("a worker ended: " + worker.process().err());
            return is_settled(servers().database, name_, name_, ends);
        });
    }

    /// Each conversation has exactly its turns, verdicts and words, by each mode.
    void require_truth() const {
        const Ledger ledger = read_ledger(servers().database, name_);
        std::size_t turns = 0;
        for (const auto& conversation : conversations_) {
            BOOST_TEST_CONTEXT(conversation.recording) {
                for (const auto& mode : modes)
                    require_callback(ledger.callbacks.at(callbacks_.at({conversation.id, mode})),
                                     conversation, mode);
                require_standing(ledger.conversations.at(conversation.id), conversation);
            }
            turns += conversation.turns.size();
        }
        BOOST_TEST(conversations_.size() == recording_count);
        BOOST_TEST(ledger.callbacks.size() == recording_count * modes.size());
        BOOST_TEST(ledger.conversations.size() == recording_count);
        BOOST_TEST(ledger.summaries == turns);
        BOOST_TEST(ledger.dead_letters == 0U);
        std::cout << conversations_.size() << " conversations, " << published_ << " records, " << turns
                  << " turns\n";
    }

    /// The stored positions are the log's ends, and the committed offsets follow them.
    void require_positions() const {
        const auto ends = servers().broker.end_offsets(name_);
        std::size_t records = 0;
        for (const auto& [partition, end] : ends) records += static_cast<std::size_t>(end);
        BOOST_TEST(records == published_);
        BOOST_TEST((positions() == ends));
        eventually("the committed offsets are the stored positions",
                   [&] { return servers().broker.committed(name_, name_) == ends; });
    }

    std::vector<std::string> posted() const { return posted_lines(servers().database, name_); }

    void stop_workers() {
        for (auto& worker : workers_) BOOST_TEST(worker.process().stop(30s) == 0);
    }

  private:
    /// Read live, `finished` must not settle before the publisher has come to the next event, however slow
    /// the machine is; after the fact it must not settle while there is more to read, however late it is.
    Settings prepare() const {
        servers().broker.create_topic(name_, form_.partitions);
        servers().database.create_database(name_);
        return merged({settings_for(servers().broker, name_, name_),
                       settings_for(servers().database, name_),
                       {{"worker.batch_max_records", static_cast<std::int64_t>(form_.at_a_time)},
                        {"worker.settle_ms", form_.reading == Reading::live ? 5000 : 500}}});
    }

    std::vector<testing::Record> records_to_publish() const {
        const Instant at = system_now();
        std::vector<testing::Record> records;
        for (int set = 0; set < (form_.copies == Copies::set_after_set ? 2 : 1); ++set)
            for (const auto& conversation : conversations_)
                for (const auto& record : records_of(conversation, at))
                    records.insert(records.end(), form_.copies == Copies::two_in_a_row ? 2 : 1, record);
        return records;
    }

    PartitionOffsets positions() const { return stored_positions(servers().database, name_, name_); }

    static void require_callback(const CallbackResult& callback, const RecordedConversation& conversation,
                                 const std::string& mode) {
        BOOST_TEST_INFO_SCOPE(mode);
        BOOST_TEST(callback.status == final_status(conversation, mode));
        const auto expected = reported_turns(conversation, mode);
        BOOST_TEST(callback.deliveries.size() == expected.size());
        for (std::size_t i = 0; i < std::min(expected.size(), callback.deliveries.size()); ++i)
            require_turn(callback.deliveries[i], expected[i]);
    }

    static void require_turn(const DeliveredTurn& delivered, const RecordedTurn& turn) {
        BOOST_TEST(delivered.state == "SENT");
        BOOST_TEST(delivered.turn_key == turn.turn_key);
        BOOST_TEST(delivered.verdict == turn.verdict);
        BOOST_TEST(delivered.words == turn.words);
        BOOST_TEST(delivered.body.find(turn.words) != std::string::npos);
        BOOST_TEST(delivered.body.starts_with(delivered.headline));
        // A code stands in the headline as a code span; without one there is none.
        BOOST_TEST(delivered.headline.find(turn.error_code) != std::string::npos);
        BOOST_TEST((delivered.headline.find('`') == std::string::npos) == turn.error_code.empty());
    }

    /// The row names the turn that is open, which no post has reported, or else the last one that was
    /// counted.
    static void require_standing(const ConversationResult& row, const RecordedConversation& conversation) {
        const RecordedTurn last = conversation.turns.empty() ? RecordedTurn{} : conversation.turns.back();
        BOOST_TEST(row.verdict == last.verdict);
        BOOST_TEST(row.turn_key == (conversation.open_turn.empty() ? last.turn_key : conversation.open_turn));
    }

    static inline int count_ = 0;
    const Form form_;
    const std::string name_;
    const Epilogue epilogue_;
    Producer producer_;
    std::vector<RecordedConversation> conversations_;
    CallbackIds callbacks_;
    std::vector<WorkerProcess> workers_;
    std::size_t published_ = 0;
};

/// The body of all cases: everything is published and read in this form and gives the truth; then it is
/// published a second time, and nothing changes.
void tells_the_truth_once(const Form& form) {
    Trial trial(form);
    if (form.reading == Reading::live) trial.start_workers();
    trial.publish();
    if (form.reading == Reading::after_the_fact) trial.start_workers();
    trial.wait_until_told();
    trial.require_truth();
    const auto posted = trial.posted();
    trial.publish();
    trial.wait_until_told();
    BOOST_TEST(trial.posted() == posted, boost::test_tools::per_element());
    trial.require_truth();
    trial.require_positions();
    trial.stop_workers();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(read_live)

BOOST_AUTO_TEST_CASE(published_at_once) {
    tells_the_truth_once({.at_a_time = everything});
}

BOOST_AUTO_TEST_CASE(published_one_by_one_and_each_event_twice_in_a_row) {
    tells_the_truth_once({.at_a_time = 1, .copies = Copies::two_in_a_row});
}

BOOST_AUTO_TEST_CASE(published_in_batches_of_7_and_all_of_it_twice_at_once) {
    tells_the_truth_once({.at_a_time = 7, .copies = Copies::set_after_set, .workers = 2});
}

BOOST_AUTO_TEST_CASE(published_in_batches_of_5000_and_each_event_twice_in_a_row) {
    tells_the_truth_once({.at_a_time = 5000, .copies = Copies::two_in_a_row});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(read_after_the_fact)

BOOST_AUTO_TEST_CASE(at_once_with_all_of_it_there_twice) {
    tells_the_truth_once({.at_a_time = everything,
                          .reading = Reading::after_the_fact,
                          .copies = Copies::set_after_set,
                          .partitions = 1});
}

BOOST_AUTO_TEST_CASE(one_by_one) {
    tells_the_truth_once({.at_a_time = 1, .reading = Reading::after_the_fact});
}

BOOST_AUTO_TEST_CASE(in_batches_of_7_with_each_event_there_twice_in_a_row) {
    tells_the_truth_once(
        {.at_a_time = 7, .reading = Reading::after_the_fact, .copies = Copies::two_in_a_row});
}

BOOST_AUTO_TEST_CASE(in_batches_of_5000) {
    tells_the_truth_once({.at_a_time = 5000, .reading = Reading::after_the_fact, .workers = 2});
}

BOOST_AUTO_TEST_SUITE_END()
