#include "tests/integration/guarantees/window_trial.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>

#include <fmt/format.h>

#include "base/io/http.h"
#include "sinks/github/github_section.h"
#include "sinks/gitlab/gitlab_section.h"
#include "sinks/registry.h"
#include "sinks/slack/slack_section.h"
#include "tests/integration/point_store.h"
#include "tests/support/expect.h"

namespace epilogue::testing {
namespace {

/// What ends a sender in the middle of its work.
struct Died {};

SinkSettings settings_for(const FakePlatformServer& platform) {
    SinkSettings settings;
    const Secret token("a token of the tests");
    settings.sections.edit<GithubSection>() = {.api_url = platform.url("/github"), .token = token};
    settings.sections.edit<GitlabSection>() = {.api_url = platform.url("/gitlab"), .token = token};
    settings.sections.edit<SlackSection>() = {.api_url = platform.url("/slack"), .token = token};
    settings.mac_key = "a key of the tests";
    settings.version = "of the tests";
    return settings;
}

/// Dies at its point: the first transaction claims, the second makes the intent durable, the third records.
OnPoint dying(Death death) {
    const auto fatal = death == Death::before_record ? point::before_begin : point::committed;
    const int which = death == Death::after_claim ? 1 : death == Death::after_intent ? 2 : 3;
    return [fatal, which, seen = 0](const std::string& at, std::int64_t) mutable {
        if (at == fatal && ++seen == which) throw Died();
    };
}

}  // namespace

WindowTrial::WindowTrial(const Database& server, const std::string& database, std::size_t runs,
                         const std::vector<PlaceKind>& kinds_tried)
    : kept_(database + "_kept"), partition_(server, database), sinks_(make_sinks(settings_for(platform_))) {
    // Each run stands for itself: that the same befalls all of them must not look like a platform that is
    // down.
    query(
        "CREATE TRIGGER no_breaker BEFORE UPDATE ON credentials FOR EACH ROW SET NEW.post_failures=0, "
        "NEW.post_since=NULL, NEW.post_probe_at=NULL, NEW.look_failures=0, NEW.look_since=NULL, "
        "NEW.look_probe_at=NULL");
    for (const PlaceKind kind : kinds_tried) {
        for (std::size_t i = 0; i < runs; ++i) {
            const auto number = static_cast<int>(runs_.size()) + 1;
            Run run{make_place(platform_, kind, number), fmt::format("run-{}", number), {}};
            V1Conversation conversation(run.conversation);
            beginnings_.push_back(conversation.user("u1"));
            endings_.push_back(conversation.status("stuck"));
            partition_.add(partition_.store(), run.conversation, run.place.platform,
                           processor_json_of(run.place));
            runs_.push_back(std::move(run));
        }
    }
    expect(partition_.apply(partition_.store(), beginnings_));
}

Result<BatchReport> WindowTrial::end_turns(Store& store) {
    if (!ended_at_) ended_at_ = system_now();
    for (Record& record : endings_) record.at = ended_at_;
    return partition_.apply(store, endings_);
}

void WindowTrial::plan() {
    expect(end_turns(partition_.store()));
    std::map<std::string, std::string> deliveries;
    for (const Row& row : query("SELECT conversation_id, delivery_id FROM deliveries"))
        deliveries[row.at(0).value()] = row.at(1).value();
    for (Run& run : runs_) run.delivery = DeliveryId(deliveries.at(run.conversation));
}

void WindowTrial::read_again() {
    query("DELETE FROM conversations");
    query("UPDATE callback_progress SET turn_key=NULL");
    query("UPDATE partition_progress SET next_offset=0");
    partition_.resume();
    expect(partition_.apply(partition_.store(), beginnings_));
    plan();
}

void WindowTrial::pass(std::chrono::seconds time) {
    const auto make_older = [&](const std::string& table, std::initializer_list<const char*> columns) {
        std::string changes;
        for (const char* column : columns)
            changes += fmt::format("{}{}={}-INTERVAL {} SECOND", changes.empty() ? "" : ", ", column, column,
                                   time.count());
        query("UPDATE " + table + " SET " + changes);
    };
    make_older("deliveries",
               {"created_at", "lease_until", "next_attempt_at", "intent_at", "sent_at", "heal_due_at"});
    make_older("rate_windows", {"open_at", "closed_until", "struck_at", "served_at", "neglected_until"});
    make_older("partition_progress", {"clock_at"});
    if (ended_at_) *ended_at_ -= time;
    platform_.pass(time);
}

Sender WindowTrial::sender(Store& store, std::chrono::milliseconds http_timeout, SenderClock clock) const {
    return {store,
            sinks_,
            {.send = over_http()},
            SenderRules{.owner = "a sender", .http_timeout = http_timeout},
            SenderObserver{},
            std::move(clock)};
}

void WindowTrial::for_each(const Act& act, std::size_t at_once) const {
    std::atomic<std::size_t> next = 0;
    std::vector<std::future<void>> parts;
    for (std::size_t part = 0; part < at_once; ++part)
        parts.push_back(std::async(std::launch::async, [&] {
            for (std::size_t i = next++; i < runs_.size(); i = next++) act(runs_[i]);
        }));
    for (auto& part : parts) part.get();
}

void WindowTrial::deliver(bool impatient) {
    Sender one = sender(partition_.store(), impatient ? std::chrono::seconds{2} : patience);
    constexpr std::size_t crowd = 50;
    for_each([&](const Run& run) { expect(one.deliver(run.delivery)); }, impatient ? crowd : 4);
}

void WindowTrial::deliver_until(Death death) {
    for_each([&](const Run& run) {
        PointStore store(partition_.store(), dying(death));
        try {
            expect(sender(store).deliver(run.delivery));
        } catch (const Died&) {
            return;
        }
        throw std::runtime_error("a sender outlived its death: " + run.conversation);
    });
}

void WindowTrial::settle() {
    constexpr int enough = 8;
    const std::string open = "SELECT COUNT(*) FROM deliveries WHERE state NOT IN ('SENT','FAILED','PARKED')";
    deliver();
    for (int i = 0; i < enough && partition_.number(open) > 0; ++i) {
        pass(std::chrono::seconds{61});
        deliver();
    }
    settled_at_ = platform_.log().size();
}

void WindowTrial::heal() {
    pass(std::chrono::seconds{61});
    Sender one = sender(partition_.store());
    for_each([&](const Run& run) { expect(one.remove_duplicates(run.delivery)); });
}

void WindowTrial::remove_by_hand(std::int64_t comment) {
    removed_by_hand_[comment] = platform_.log().size();
    platform_.remove(comment);
}

std::vector<std::string> WindowTrial::tables() const {
    std::vector<std::string> names;
    for (const Row& row : query("SHOW TABLES")) names.push_back(row.at(0).value());
    return names;
}

void WindowTrial::save() const {
    query("CREATE DATABASE " + kept_);
    for (const std::string& table : tables())
        query("CREATE TABLE " + kept_ + "." + table + " AS SELECT * FROM " + table);
}

void WindowTrial::restore() {
    for (const std::string& table : tables()) {
        query("DELETE FROM " + table);
        query("INSERT INTO " + table + " SELECT * FROM " + kept_ + "." + table);
    }
    partition_.resume();
}

std::set<std::string> WindowTrial::remote_ids() const {
    std::set<std::string> ids;
    for (const Row& row : query("SELECT sink, remote_id FROM deliveries"))
        ids.insert(row.at(0).value() + row.at(1).value_or(""));
    return ids;
}

std::vector<Score> WindowTrial::scores() const {
    std::map<std::string, std::string> states;
    for (const Row& row : query("SELECT delivery_id, state FROM deliveries"))
        states[row.at(0).value()] = row.at(1).value();
    std::set<std::int64_t> visible;
    for (const auto& comment : platform_.visible()) visible.insert(comment.id);
    const auto log = platform_.log();
    std::vector<Score> scores;
    for (const Run& run : runs_) {
        Score& score = scores.emplace_back();
        score.parked = states.at(run.delivery) == "PARKED";
        std::map<std::size_t, int> steps;  // by request: how many more are visible after it
        for (const auto& entry : log) {
            if (is_look_up(entry, run.place) && entry.n <= settled_at_) ++score.looks;
            if (entry.method != "POST" || entry.body.find(run.delivery.text()) == std::string::npos) continue;
            ++score.tried;
            score.made += entry.made.size();
            for (const auto comment : entry.made) {
                ++steps[2 * entry.n];
                if (visible.contains(comment)) {
                    ++score.visible;
                    continue;
                }
                if (const auto by_hand = removed_by_hand_.find(comment); by_hand != removed_by_hand_.end()) {
                    score.by_people = true;
                    --steps[2 * by_hand->second + 1];
                    continue;
                }
                ++score.removed;
                const auto removal = std::find_if(log.begin(), log.end(),
                                                  [&](const auto& one) { return removes(one, comment); });
                if (removal == log.end()) throw std::runtime_error("nobody removed a post that is gone");
                --steps[2 * removal->n];
            }
        }
        int now = 0;
        for (const auto& [request, change] : steps) {
            now += change;
            score.most = std::max(score.most, static_cast<std::size_t>(std::max(now, 0)));
        }
    }
    return scores;
}

struct WindowTrial::Paused::Barrier {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t waiting = 0;
    bool open = false;

    void wait() {
        std::unique_lock lock(mutex);
        ++waiting;
        changed.notify_all();
        changed.wait(lock, [&] { return open; });
    }
    void release() {
        const std::lock_guard lock(mutex);
        open = true;
        changed.notify_all();
    }
};

std::unique_ptr<WindowTrial::Paused> WindowTrial::pause() {
    return std::make_unique<Paused>(*this);
}

WindowTrial::Paused::Paused(WindowTrial& trial) : barrier_(std::make_shared<Barrier>()) {
    for (const Run& run : trial.runs_)
        senders_.push_back(std::async(std::launch::async, [&trial, &run, barrier = barrier_] {
            // The clock is read before the claim, before the work, and last before the request.
            SenderClock clock = system_sender_clock();
            clock.boottime = [read = clock.boottime, barrier, reads = 0]() mutable {
                const auto time = read();
                if (++reads == 3) barrier->wait();
                return time;
            };
            Sender one = trial.sender(trial.partition_.store(), patience, clock);
            expect(one.deliver(run.delivery));
        }));
    std::unique_lock lock(barrier_->mutex);
    barrier_->changed.wait(lock, [&] { return barrier_->waiting == senders_.size(); });
}

WindowTrial::Paused::~Paused() {
    barrier_->release();
}

void WindowTrial::Paused::go_on() {
    barrier_->release();
    for (auto& one : senders_) one.get();
}

}  // namespace epilogue::testing
