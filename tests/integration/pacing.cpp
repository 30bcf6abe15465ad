// Pacing on a real database: what two workers share, and what becomes of deliveries whose credential is
// refused.
#define BOOST_TEST_MODULE pacing
#include <algorithm>
#include <mutex>

#include <boost/test/unit_test.hpp>

#include "schemas/summary.h"
#include "sinks/github/github_target.h"
#include "tests/integration/migrated_database.h"
#include "tests/support/eventually.h"
#include "tests/support/expect.h"
#include "tests/support/requirements.h"
#include "tests/support/rig.h"
#include "worker/deliver/outbox.h"
#include "worker/mysql/mysql_store.h"
#include "worker/store/callback_rows.h"
#include "worker/store/delivery_rows.h"
#include "worker/store/summary_rows.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct WithDatabase {
    WithDatabase() { require_programs(process::maria_programs()); }
};
BOOST_TEST_GLOBAL_FIXTURE(WithDatabase);

/// A platform that both workers post to: notes when it gets what, answers as it is told.
struct Platform {
    struct Got {
        std::int64_t number;
        Clock::time_point at;
        bool refused;
    };
    std::mutex mutex;
    std::vector<Got> got;
    std::vector<RateLimit> limits;
    std::string good_token = "one";
    int rate_refusals = 0;  ///< still to come, for odd numbers
    bool is_down = false;   ///< for odd numbers
    std::vector<RateLimit> look_limits;
    std::vector<Clock::time_point> looked;  ///< look-ups for odd numbers

    Attempt take(std::int64_t number, const std::string& token) {
        const std::lock_guard lock(mutex);
        Attempt attempt;
        attempt.answer = token == good_token ? Answer::sent : Answer::unauthorised;
        attempt.cause = token == good_token ? "" : "401";
        if (number % 2 != 0 && rate_refusals > 0) {
            --rate_refusals;
            attempt.answer = Answer::retry;
            attempt.rate_limited = true;
            attempt.not_before = 2s;
        }
        if (number % 2 != 0 && is_down) {
            attempt.answer = Answer::unknown;
            attempt.cause = "503";
            attempt.platform = PlatformState::failed;
        }
        attempt.receipt.remote_id = std::to_string(number);
        got.push_back({number, Clock::now(), attempt.answer != Answer::sent});
        return attempt;
    }
    LookupResult look(std::int64_t number) {
        const std::lock_guard lock(mutex);
        LookupResult lookup;
        lookup.ok = number % 2 == 0 || !is_down;
        if (!lookup.ok) lookup.platform = PlatformState::failed;
        if (number % 2 != 0) looked.push_back(Clock::now());
        return lookup;
    }
    void set_down(bool down) {
        const std::lock_guard lock(mutex);
        is_down = down;
    }
    /// Requests for odd numbers so far.
    std::size_t odd_requests() {
        const std::lock_guard lock(mutex);
        const auto posts =
            std::count_if(got.begin(), got.end(), [](const Got& one) { return one.number % 2 != 0; });
        return static_cast<std::size_t>(posts) + looked.size();
    }
    std::vector<Clock::time_point> look_ups() {
        const std::lock_guard lock(mutex);
        return looked;
    }
    std::vector<Got> all() {
        const std::lock_guard lock(mutex);
        return got;
    }
};

class PlatformSink final : public Sink {
  public:
    PlatformSink(Platform& platform, std::string token) : platform_(platform), token_(std::move(token)) {}

    std::string render(const Summary& summary, const DeliveryId&) const override { return summary.headline; }
    Dialogue<LookupResult> find(Post post) override {
        co_return platform_.look(std::any_cast<const GithubTarget&>(post.target).number);
    }
    Dialogue<Attempt> create(Post post) override {
        co_return platform_.take(std::any_cast<const GithubTarget&>(post.target).number, token_);
    }
    Dialogue<bool> remove(Post, Receipt) override { co_return true; }
    DuplicateCheck duplicate_check() const override { return DuplicateCheck::never; }
    Quota quota(const Target& target) const override {
        const bool odd = std::any_cast<const GithubTarget&>(target).number % 2 != 0;
        const auto credential = credential_of("github", token_) + (odd ? "odd" : "");
        return {credential, "[github] token", credential,
                credential, platform_.limits, platform_.look_limits};
    }

  private:
    Platform& platform_;
    const std::string token_;
};

/// One worker's senders.
class Worker {
  public:
    Worker(const MysqlSettings& settings, Platform& platform, const std::string& name,
           const std::string& token)
        : store_(settings, StoreObserver{}) {
        std::map<std::string, std::unique_ptr<Sink>> sinks;
        sinks.emplace("github", std::make_unique<PlatformSink>(platform, token));
        sinks_.replace(std::move(sinks));
        sender_ = std::make_unique<Sender>(store_, sinks_, Transport(), SenderRules{.owner = name},
                                           SenderObserver{}, system_sender_clock());
        outbox_ = std::make_unique<Outbox>(store_, *sender_, 8, [](const std::string&) {});
        outbox_->start();
    }

  private:
    MysqlStore store_;
    SinksInUse sinks_;
    std::unique_ptr<Sender> sender_;
    std::unique_ptr<Outbox> outbox_;
};

/// A database of a case's own, with deliveries to the numbers 1, 2, …
class Ledger : public MigratedDatabase {
  public:
    Ledger() : MigratedDatabase(server_of_this_program(), next_name()) {}

    std::int64_t count(const std::string& condition) const {
        return number("SELECT COUNT(*) FROM deliveries WHERE " + condition);
    }
    void wait_for(const std::string& condition, std::int64_t rows) const {
        eventually(std::to_string(rows) + " with " + condition, [&] { return count(condition) == rows; });
    }
    void owe(std::int64_t first, std::int64_t last, std::int64_t step = 1) const {
        MysqlStore store(settings(), StoreObserver{});
        const std::string summary = to_json(Summary{"**Finished**", "", "", ""});
        const auto work = [&](Transaction& transaction) -> Result<void> {
            for (std::int64_t number = first; number <= last; number += step) {
                CallbackRow callback;
                callback.conversation_id = ConversationId("c" + std::to_string(number));
                callback.processor_type = "github";
                callback.processor_json = R"({"repo": "a/b", "number": )" + std::to_string(number) + "}";
                callback.idempotency_key = callback.conversation_id;
                DeliveryRow delivery;
                delivery.id = DeliveryId("delivery-" + std::to_string(number));
                delivery.conversation_id = callback.conversation_id;
                delivery.turn_key = TurnKey("start");
                delivery.sink = "github";
                delivery.target = callback.conversation_id;
                TRY(delivery.callback_id, transaction.callbacks().insert(callback));
                TRY_VOID(transaction.summaries().insert(
                    {{callback.conversation_id, delivery.turn_key, "final", summary}}));
                TRY_VOID(transaction.deliveries().insert({delivery}));
            }
            return {};
        };
        expect(store.transact(work, [](Transaction&) -> Result<bool> { return false; }));
    }

  private:
    static std::string next_name() {
        static int count = 0;
        return "ledger" + std::to_string(++count);
    }
};

}  // namespace

BOOST_AUTO_TEST_CASE(two_workers_together_keep_within_a_budget_and_send_everything) {
    const Ledger ledger;
    Platform platform;
    platform.limits = {{2, 1s}, {8, 5s}};
    ledger.owe(2, 24, 2);
    const Worker one(ledger.settings(), platform, "one", "one");
    const Worker two(ledger.settings(), platform, "two", "one");
    ledger.wait_for("state='SENT'", 12);
    const auto got = platform.all();
    BOOST_REQUIRE(got.size() == 12U);
    for (const RateLimit& limit : platform.limits)
        for (std::size_t i = static_cast<std::size_t>(limit.count); i < got.size(); ++i)
            BOOST_TEST((got[i].at - got[i - static_cast<std::size_t>(limit.count)].at >= limit.span));
}

BOOST_AUTO_TEST_CASE(a_refusal_by_rate_closes_the_window_for_all_workers_and_for_nobody_else) {
    const Ledger ledger;
    Platform platform;
    platform.limits = {{1, 1s}};
    platform.rate_refusals = 2;
    ledger.owe(1, 5, 2);
    const Worker one(ledger.settings(), platform, "one", "one");
    const Worker two(ledger.settings(), platform, "two", "one");
    eventually("the window is closed", [&] { return !platform.all().empty(); });
    ledger.owe(2, 2);
    ledger.wait_for("state='SENT'", 4);
    auto got = platform.all();
    const auto is_other = [](const Platform::Got& one_of_them) { return one_of_them.number == 2; };
    const auto other = std::find_if(got.begin(), got.end(), is_other);
    BOOST_REQUIRE((other != got.end()));
    got.erase(other);
    BOOST_REQUIRE(got.size() == 5U);
    for (std::size_t i = 1; i < got.size(); ++i)
        BOOST_TEST((got[i].at - got[i - 1].at >= (got[i - 1].refused ? 2s : 1s)));
    BOOST_TEST(got[0].refused);
    BOOST_TEST(got[1].refused);
}

BOOST_AUTO_TEST_CASE(a_refused_credential_parks_everything_and_one_success_lets_it_go) {
    const Ledger ledger;
    Platform platform;
    platform.good_token = "another";
    constexpr std::int64_t rows = 520;  // more than one transaction takes
    ledger.owe(2, 2 * rows, 2);
    {
        const Worker worker(ledger.settings(), platform, "one", "one");
        ledger.wait_for("state='PARKED'", rows);
        const auto tried = platform.all().size();
        BOOST_TEST(tried <= 8U);  // those that were under way
        BOOST_TEST(ledger.count("cause='credential: 401 ([github] token)'") == rows);
        BOOST_TEST(ledger.number("SELECT COUNT(*) FROM credentials WHERE parked_since IS NOT NULL") == 1);
        // Five minutes later one of them is tried, and is refused again.
        ledger.query("UPDATE credentials SET probe_at=UTC_TIMESTAMP(6)");
        eventually("one is tried", [&] { return platform.all().size() == tried + 1; });
        ledger.wait_for("state='PARKED'", rows);
        BOOST_TEST(platform.all().back().number == 2);  // the oldest
        // And again, with success.
        {
            const std::lock_guard lock(platform.mutex);
            platform.good_token = "one";
        }
        ledger.query("UPDATE credentials SET probe_at=UTC_TIMESTAMP(6)");
        ledger.wait_for("state='SENT'", rows);
    }
    const auto got = platform.all();
    BOOST_TEST(std::count_if(got.begin(), got.end(), [](const auto& one) { return !one.refused; }) == rows);
}

BOOST_AUTO_TEST_CASE(a_new_token_frees_what_was_parked_for_the_old_one_or_for_none) {
    const Ledger ledger;
    Platform platform;
    platform.good_token = "new";
    ledger.owe(2, 20, 2);
    for (const char* token : {"", "old"}) {
        const Worker worker(ledger.settings(), platform, "before", token);
        ledger.wait_for("state='PARKED'", 10);
        ledger.query("UPDATE credentials SET probe_at=UTC_TIMESTAMP(6)");
        eventually("it was tried", [&] {
            return ledger.query("SELECT 1 FROM credentials WHERE probe_at<=UTC_TIMESTAMP(6)").empty();
        });
    }
    ledger.wait_for("state='PARKED'", 10);
    ledger.query("UPDATE credentials SET probe_at=UTC_TIMESTAMP(6)");
    const Worker worker(ledger.settings(), platform, "after", "new");
    ledger.wait_for("state='SENT'", 10);
}

BOOST_AUTO_TEST_CASE(
    a_platform_that_is_down_gets_one_request_every_few_seconds_and_another_credential_goes_on) {
    const Ledger ledger;
    Platform platform;
    platform.is_down = true;
    constexpr std::int64_t rows = 60;
    ledger.owe(1, 2 * rows - 1, 2);
    const Worker one(ledger.settings(), platform, "one", "one");
    const Worker two(ledger.settings(), platform, "two", "one");
    // No delivery waits for its own time any more: what is held back is held back by the breakers alone.
    const auto hurry = [&] {
        ledger.query(
            "UPDATE deliveries SET next_attempt_at=UTC_TIMESTAMP(6) WHERE state IN ('UNKNOWN','RETRY') "
            "AND next_attempt_at>UTC_TIMESTAMP(6)");
    };
    eventually("posts and look-ups are held back", [&] {
        hurry();
        return ledger.number(
                   "SELECT COUNT(*) FROM credentials WHERE post_probe_at IS NOT NULL AND "
                   "look_probe_at IS NOT NULL") == 1;
    });
    eventually("those that were under way wait as well", [&] {
        hurry();
        return ledger.count("next_attempt_at IS NULL") >= rows - 1;
    });
    const auto begun = Clock::now();
    const std::size_t before = platform.odd_requests();
    ledger.owe(2, 20, 2);
    ledger.owe(1001, 1099, 2);
    eventually("the other credential's posts are out", [&] { return ledger.count("state='SENT'") == 10; });
    eventually("the platform was asked a few times", [&] {
        hurry();
        return platform.odd_requests() >= before + 4;
    });
    // Four probes take at least 7.5 s; two workers without a breaker would have asked hundreds of times.
    const auto took = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begun);
    BOOST_TEST(platform.odd_requests() - before <= 4U + static_cast<std::size_t>(took.count()));
    BOOST_TEST(took.count() >= 3);
    platform.set_down(false);
    eventually("everything is posted", [&] {
        hurry();
        return ledger.count("state='SENT'") == rows + 10 + 50;
    });
    BOOST_TEST(ledger.number("SELECT COUNT(*) FROM credentials WHERE post_probe_at IS NOT NULL OR "
                             "look_probe_at IS NOT NULL") == 0);
    const auto got = platform.all();
    BOOST_TEST(std::count_if(got.begin(), got.end(), [](const auto& post) { return !post.refused; }) ==
               rows + 10 + 50);
}

BOOST_AUTO_TEST_CASE(look_ups_keep_within_a_budget_of_their_own) {
    const Ledger ledger;
    Platform platform;
    platform.look_limits = {{2, 2s}};
    ledger.owe(1, 11, 2);
    ledger.query("UPDATE deliveries SET state='UNKNOWN', attempt=1, intent_at=UTC_TIMESTAMP(6)");
    const Worker one(ledger.settings(), platform, "one", "one");
    const Worker two(ledger.settings(), platform, "two", "one");
    eventually("each was looked for", [&] {
        // Those that were refused come when they are told, at random within some seconds.
        ledger.query("UPDATE deliveries SET next_attempt_at=UTC_TIMESTAMP(6) WHERE lookups=0");
        return ledger.count("lookups>0") == 6;
    });
    const auto looked = platform.look_ups();
    BOOST_REQUIRE(looked.size() >= 6U);
    // Two at once, then one a second: six take four seconds, less the time between a claim and its request.
    BOOST_TEST((looked[5] - looked[0] >= 2s));
}
