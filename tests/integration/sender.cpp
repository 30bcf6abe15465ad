// The posting protocol on a real database, against a sink that answers as it is told: when a post is checked
// for duplicates, and what a check may change.
#define BOOST_TEST_MODULE sender
#include "worker/deliver/sender.h"

#include <deque>
#include <map>

#include <boost/test/unit_test.hpp>

#include "schemas/summary.h"
#include "sinks/log/log.h"
#include "tests/integration/migrated_database.h"
#include "tests/support/expect.h"
#include "tests/support/rig.h"
#include "tests/support/statement_log.h"
#include "tests/support/text.h"
#include "worker/apply/registration.h"
#include "worker/deliver/operator_verdict.h"
#include "worker/mysql/mysql_store.h"
#include "worker/store/callback_rows.h"
#include "worker/store/delivery_rows.h"
#include "worker/store/summary_rows.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;

/// Answers what it is told, `sent` when it is told nothing; shows what `seen` holds.
class ObedientSink final : public Sink {
  public:
    std::string render(const Summary& summary, const DeliveryId&) const override { return summary.headline; }
    Dialogue<LookupResult> find(Post) override {
        LookupResult lookup;
        lookup.ok = !looks_fail;
        if (looks_fail) lookup.platform = failing_as;
        lookup.found = seen;
        co_return lookup;
    }
    Dialogue<Attempt> create(Post post) override {
        created.push_back(post.delivery_id);
        Attempt attempt;
        attempt.answer = answers.empty() ? Answer::sent : answers.front();
        if (!answers.empty()) answers.pop_front();
        co_return attempt;
    }
    Dialogue<bool> remove(Post, Receipt duplicate) override {
        removed.push_back(duplicate.remote_id);
        co_return true;
    }
    DuplicateCheck duplicate_check() const override { return check; }

    DuplicateCheck check = DuplicateCheck::always;
    std::deque<Answer> answers;
    std::vector<Receipt> seen;
    bool looks_fail = false;
    PlatformState failing_as = PlatformState::failed;
    std::vector<std::string> removed;
    std::vector<std::string> created;  ///< ids of the deliveries of all requests that post
};

/// A database with the tables, a sender, and one delivery for it to work at.
class Office {
  public:
    explicit Office(const std::string& processor = "github", bool draws_most = false) {
        auto obedient = std::make_unique<ObedientSink>();
        sink = obedient.get();
        std::map<std::string, std::unique_ptr<Sink>> sinks;
        sinks.emplace("github", std::move(obedient));
        sinks.emplace("log", std::make_unique<LogSink>());
        sinks_.replace(std::move(sinks));
        Transport transport{with_lines({}, [](const std::string&) { return true; })};
        SenderClock clock = system_sender_clock();
        if (draws_most) clock.random01 = [] { return 1.0; };
        sender_ = std::make_unique<Sender>(store_, sinks_, std::move(transport), SenderRules{.owner = "me"},
                                           SenderObserver{}, std::move(clock));
        plan(processor);
    }

    /// Lets the sender work at the delivery as often as it has to, without waiting for the due times between.
    void deliver() {
        for (int i = 0; i < 10 && !is_final(row().progress.state); ++i) {
            change("deliveries", "next_attempt_at=NULL");
            expect(sender_->deliver(id));
        }
    }
    /// One claim, whatever comes of it.
    void step() {
        change("deliveries", "next_attempt_at=UTC_TIMESTAMP(6)");
        static_cast<void>(expect(sender_->deliver(id)));
    }
    OperatorAnswer resolve(OperatorAction action) { return expect(resolve_delivery(store_, id, action, "")); }
    /// Lets the sender work at a delivery once, as if it were due.
    void attempt(const std::optional<DeliveryId>& delivery = {}) {
        change("deliveries", "next_attempt_at=UTC_TIMESTAMP(6), lease_until=NULL");
        expect(sender_->deliver(delivery.value_or(id)));
    }
    /// A later turn of the same callback, with a delivery of its own.
    void add_later_turn() {
        DeliveryRow later = row();
        later.id = later_id;
        later.turn_key = TurnKey("later");
        later.progress = {};
        const auto work = [&](Transaction& transaction) -> Result<void> {
            const std::string summary = to_json(Summary{"**Finished**", "", "", ""});
            TRY_VOID(
                transaction.summaries().insert({{later.conversation_id, later.turn_key, "final", summary}}));
            TRY(const auto inserted, transaction.deliveries().insert({later}));
            return inserted.size() == 1 ? Result<void>() : fatal("no new delivery");
        };
        expect(store_.transact(work, [](Transaction&) -> Result<bool> { return false; }));
    }
    /// As `callbacks cancel` does it.
    void cancel() { BOOST_REQUIRE(expect(cancel_callback(store_, row().callback_id))); }
    /// The check for duplicates, at once.
    bool remove_duplicates() {
        change("deliveries", "heal_due_at=UTC_TIMESTAMP(6)");
        return expect(sender_->remove_duplicates(id));
    }
    void change(const std::string& table, const std::string& assignments) {
        database_.query("UPDATE " + table + " SET " + assignments);
    }
    DeliveryRow row(const std::optional<DeliveryId>& delivery = {}) {
        std::optional<DeliveryRow> found;
        expect(store_.read_only([&](Transaction& transaction) -> Result<void> {
            TRY(found, transaction.deliveries().lock(delivery.value_or(id)));
            return {};
        }));
        return found.value();
    }

    const DeliveryId id{"11111111-2222-5333-8444-555555555555"};
    const DeliveryId later_id{"99999999-2222-5333-8444-555555555555"};
    ObedientSink* sink = nullptr;

  private:
    void plan(const std::string& processor) {
        CallbackRow callback;
        callback.conversation_id = ConversationId("c1");
        callback.processor_type = processor;
        callback.processor_json = processor == "github" ? R"({"repo": "a/b", "number": 1})" : "{}";
        DeliveryRow delivery;
        delivery.id = id;
        delivery.conversation_id = callback.conversation_id;
        delivery.turn_key = TurnKey("start");
        delivery.sink = processor;
        delivery.target = "somewhere";
        const std::string summary = to_json(Summary{"**Finished**", "", "", ""});
        const auto work = [&](Transaction& transaction) -> Result<void> {
            TRY(delivery.callback_id, transaction.callbacks().insert(callback));
            TRY_VOID(transaction.summaries().insert(
                {{callback.conversation_id, delivery.turn_key, "final", summary}}));
            TRY(const auto inserted, transaction.deliveries().insert({delivery}));
            return inserted.size() == 1 ? Result<void>() : fatal("no new delivery");
        };
        expect(store_.transact(work, [](Transaction&) -> Result<bool> { return false; }));
    }

    static std::string next_name() {
        static int count = 0;
        return "office" + std::to_string(++count);
    }

    const MigratedDatabase database_{server_of_this_program(), next_name()};
    MysqlStore store_{database_.settings(), StoreObserver{}};
    SinksInUse sinks_;
    std::unique_ptr<Sender> sender_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(
    a_delivery_whose_handling_ended_two_workers_is_parked_and_after_a_retry_looked_for_first) {
    Office office;
    office.change("deliveries", "crashes=2, state='SENDING', attempt=1");
    office.step();
    BOOST_TEST(name_of(office.row().progress.state) == "PARKED");
    BOOST_TEST(office.row().progress.cause == "its handling ended two workers");
    BOOST_TEST(office.row().crashes == 0);
    office.sink->seen = {Receipt{"of the first attempt", ""}};
    BOOST_TEST((office.resolve(OperatorAction::retry) == OperatorAnswer::done));
    office.deliver();
    BOOST_TEST(name_of(office.row().progress.state) == "SENT");
    BOOST_TEST(office.row().progress.remote_id == "of the first attempt");
}

BOOST_AUTO_TEST_CASE(a_delivery_whose_handling_ended_one_worker_is_sent_and_its_count_begins_anew) {
    Office office;
    office.change("deliveries", "crashes=1");
    office.deliver();
    BOOST_TEST(name_of(office.row().progress.state) == "SENT");
    BOOST_TEST(office.row().crashes == 0);
}

BOOST_AUTO_TEST_CASE(a_check_for_twins_that_ended_two_workers_is_given_up) {
    Office office;
    office.deliver();
    office.change("deliveries", "crashes=2");
    BOOST_TEST(!office.remove_duplicates());
    BOOST_TEST(!office.row().dedup_due_at);
    BOOST_TEST(name_of(office.row().progress.state) == "SENT");
}

BOOST_AUTO_TEST_CASE(a_post_is_checked_for_twins_a_minute_later) {
    Office office;
    office.deliver();
    const DeliveryRow row = office.row();
    BOOST_TEST((row.progress.state == DeliveryState::sent));
    BOOST_REQUIRE(row.dedup_due_at.has_value());
    BOOST_TEST((*row.dedup_due_at == *row.sent_at + std::chrono::minutes{1}));
    office.sink->seen = {{"1", ""}, {"2", ""}};
    BOOST_TEST(office.remove_duplicates());
    BOOST_TEST(office.sink->removed == std::vector<std::string>{"2"}, boost::test_tools::per_element());
    BOOST_TEST(!office.row().dedup_due_at.has_value());
}

BOOST_AUTO_TEST_CASE(a_body_is_sent_to_the_database_once_in_the_life_of_its_delivery) {
    Office office;
    office.sink->answers = {Answer::retry, Answer::unknown, Answer::retry};
    const StatementLog log(server_of_this_program());
    office.deliver();
    BOOST_TEST(office.remove_duplicates());
    BOOST_TEST(name_of(office.row().progress.state) == "SENT");
    BOOST_TEST(office.row().body == "**Finished**");
    int updates = 0;
    int bodies = 0;
    for (const LoggedStatement& statement : log.statements()) {
        if (!contains(statement.text, "UPDATE deliveries SET")) continue;
        ++updates;
        if (contains(statement.text, "'**Finished**'")) ++bodies;
    }
    BOOST_TEST(updates > 8);
    BOOST_TEST(bodies == 1);
}

BOOST_AUTO_TEST_CASE(a_line_in_the_log_is_never_checked_for_twins) {
    Office office("log");
    office.deliver();
    BOOST_TEST((office.row().progress.state == DeliveryState::sent));
    BOOST_TEST(!office.row().dedup_due_at.has_value());
}

BOOST_AUTO_TEST_CASE(a_sink_may_want_the_check_only_after_an_answer_was_lost) {
    const auto is_checked = [](std::deque<Answer> answers, std::vector<Receipt> seen) {
        Office office;
        office.sink->check = DuplicateCheck::after_unknown;
        office.sink->answers = std::move(answers);
        office.sink->seen = std::move(seen);
        office.deliver();
        BOOST_TEST((office.row().progress.state == DeliveryState::sent));
        return office.row().dedup_due_at.has_value();
    };
    BOOST_TEST(!is_checked({}, {}));
    BOOST_TEST(!is_checked({Answer::retry, Answer::retry}, {}));
    BOOST_TEST(is_checked({Answer::unknown}, {{"1", ""}}));
    // Looked for three times and never seen, so it was sent once more.
    BOOST_TEST(is_checked({Answer::unknown}, {}));
}

BOOST_AUTO_TEST_CASE(a_check_that_cannot_be_made_leaves_the_row_sent) {
    for (const auto& [table, change] : {std::pair{"conversation_callbacks", "processor_json='nonsense'"},
                                        std::pair{"deliveries", "sink='carrier pigeon'"}}) {
        Office office;
        office.deliver();
        office.change(table, change);
        BOOST_TEST(!office.remove_duplicates(), change);
        const DeliveryRow row = office.row();
        BOOST_TEST((row.progress.state == DeliveryState::sent), change);
        BOOST_TEST(row.progress.cause == "");
        BOOST_TEST(!row.dedup_due_at.has_value());
    }
}

BOOST_AUTO_TEST_CASE(a_post_of_a_cancelled_callback_that_was_tried_before_is_finished) {
    for (const Answer first : {Answer::retry, Answer::unknown}) {
        Office office;
        office.sink->answers = {first};
        office.attempt();
        BOOST_REQUIRE(!is_final(office.row().progress.state));
        office.cancel();
        office.deliver();
        BOOST_TEST((office.row().progress.state == DeliveryState::sent));
        BOOST_TEST(office.sink->created.size() == 2U);
    }
}

BOOST_AUTO_TEST_CASE(a_post_of_a_cancelled_callback_that_was_never_tried_fails_and_says_so) {
    Office office;
    office.cancel();
    office.deliver();
    BOOST_TEST((office.row().progress.state == DeliveryState::failed));
    BOOST_TEST(office.row().progress.cause == "cancelled before it was tried");
    BOOST_TEST(office.sink->created.empty());
}

BOOST_AUTO_TEST_CASE(of_one_callback_only_the_oldest_delivery_that_is_neither_final_nor_parked_is_sent) {
    const std::map<std::string, bool> waits{{"PLANNED", true}, {"RETRY", true},   {"SENDING", true},
                                            {"UNKNOWN", true}, {"PARKED", false}, {"SENT", false},
                                            {"FAILED", false}};
    for (const auto& [state, must_wait] : waits) {
        BOOST_TEST_CONTEXT("the older one is " << state) {
            Office office;
            office.change("deliveries", "state='" + state + "'");
            office.add_later_turn();
            office.attempt(office.later_id);
            BOOST_TEST((office.row(office.later_id).progress.state ==
                        (must_wait ? DeliveryState::planned : DeliveryState::sent)));
            BOOST_TEST(office.sink->created.size() == (must_wait ? 0U : 1U));
        }
    }
    // Once the older one is over, the later one is next.
    Office office;
    office.add_later_turn();
    office.attempt(office.later_id);
    office.attempt(office.id);
    office.attempt(office.later_id);
    const std::vector<DeliveryId> in_order{office.id, office.later_id};
    BOOST_TEST(office.sink->created == in_order, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_look_up_that_fails_again_and_again_is_made_ever_more_seldom) {
    Office office("github", true);
    office.sink->answers = {Answer::unknown};
    office.step();
    office.sink->looks_fail = true;
    std::vector<std::chrono::seconds::rep> waits;
    for (int i = 0; i < 10; ++i) {
        office.step();
        const DeliveryRow row = office.row();
        BOOST_TEST((row.progress.state == DeliveryState::unknown));
        waits.push_back(
            std::chrono::duration_cast<std::chrono::seconds>(*row.next_attempt_at - *row.lease_until)
                .count());
    }
    // Three seconds, and a random part (here all of it) of 3, 6, 12 s and so on up to five minutes.
    const std::vector<std::chrono::seconds::rep> wanted{6, 9, 15, 27, 51, 99, 195, 303, 303, 303};
    BOOST_TEST(waits == wanted, boost::test_tools::per_element());
    office.sink->looks_fail = false;
    office.step();
    BOOST_TEST(office.row().progress.look_failures == 0);
}

BOOST_AUTO_TEST_CASE(a_post_that_is_looked_for_in_vain_twenty_times_is_parked_and_a_retry_looks_again) {
    Office office;
    office.sink->answers = {Answer::unknown};
    office.step();
    office.sink->looks_fail = true;
    office.sink->failing_as = PlatformState::answered;
    for (int i = 0; i < most_unusable_looks; ++i) {
        BOOST_TEST((office.row().progress.state == DeliveryState::unknown));
        office.step();
    }
    BOOST_TEST((office.row().progress.state == DeliveryState::parked));
    BOOST_TEST(office.row().progress.cause.starts_with("cannot_look_up"));
    BOOST_TEST(office.sink->created.size() == 1U);
    office.sink->looks_fail = false;
    office.sink->seen = {Receipt{"of the first attempt", ""}};
    BOOST_TEST((office.resolve(OperatorAction::retry) == OperatorAnswer::done));
    office.deliver();
    BOOST_TEST((office.row().progress.state == DeliveryState::sent));
}

BOOST_AUTO_TEST_CASE(a_check_for_twins_that_is_answered_with_nothing_of_use_twenty_times_is_given_up) {
    Office office;
    office.deliver();
    office.sink->looks_fail = true;
    office.sink->failing_as = PlatformState::answered;
    for (int i = 0; i < most_unusable_looks; ++i) {
        BOOST_TEST(office.row().dedup_due_at.has_value());
        office.remove_duplicates();
    }
    BOOST_TEST(!office.row().dedup_due_at.has_value());
    BOOST_TEST((office.row().progress.state == DeliveryState::sent));
}
