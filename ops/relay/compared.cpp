#include "ops/relay/compared.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "base/io/log.h"
#include "base/stoppable_wait.h"
#include "base/thread_name.h"
#include "ops/relay/followers.h"

namespace epilogue {
namespace {

using Clock = std::chrono::steady_clock;
using relay::Compared;

}  // namespace

/// The follower's positions: those of the conversations that are to be compared just now.
class ComparedWithLogs::Positions final : public relay::Positions {
  public:
    Positions(MysqlRelayPositions& rows, relay::Comparisons& comparisons)
        : rows_(rows), comparisons_(comparisons) {}

    Result<relay::Discovered> discover() override {
        if (!std::exchange(has_begun_, true)) {
            auto lately = rows_.told_lately();
            has_begun_ = lately.has_value();
            if (!lately) return Failure(lately.error());
            for (const auto& conversation : *lately) comparisons_.want(conversation, Clock::now());
        }
        return relay::Discovered{};
    }
    Result<std::vector<relay::Claim>> claim(const std::string& owner, std::size_t limit,
                                            std::chrono::seconds lease) override {
        const auto due = comparisons_.due(limit, Clock::now());
        if (due.empty()) return std::vector<relay::Claim>{};
        std::set<ConversationId> left(due.begin(), due.end());
        auto claims = rows_.claim_to_compare(owner, due, lease);
        if (claims) {
            for (const auto& each : *claims) left.erase(each.conversation_id);
            add_those_to_read(left, *claims);
        }
        for (const auto& each : left)
            comparisons_.over(each, claims ? Compared::impossible : Compared::unanswered, 0, Clock::now());
        return claims;
    }
    Result<std::vector<relay::HeldClaim>> renew(const std::string& owner,
                                                const std::vector<ConversationId>& compared,
                                                std::chrono::seconds lease) override {
        std::vector<relay::HeldClaim> read;
        std::vector<ConversationId> ours;
        for (const auto& each : compared) {
            const auto found = only_read(each);
            if (found)
                read.push_back(*found);
            else
                ours.push_back(each);
        }
        auto held = rows_.renew_compared(owner, ours, lease);
        if (held) held->insert(held->end(), read.begin(), read.end());
        return held;
    }
    Result<std::vector<ConversationId>> advance(const std::string& owner,
                                                const std::vector<relay::PositionUpdate>& updates) override {
        std::vector<relay::PositionUpdate> ours;
        std::ranges::copy_if(updates, std::back_inserter(ours),
                             [this](const auto& each) { return !only_read(each.conversation_id); });
        return rows_.advance(owner, ours);
    }
    void fenced(const ConversationId& conversation) override {
        comparisons_.over(conversation, Compared::interrupted, 0, Clock::now());
    }
    Result<bool> release(const std::string& owner, const relay::PositionUpdate& last,
                         std::chrono::seconds pause) override {
        const auto how = last.moved             ? Compared::interrupted
                         : last.trouble.empty() ? Compared::caught_up
                         : pause.count() > 0    ? Compared::gone
                                                : Compared::unanswered;
        const bool is_ours = !only_read(last.conversation_id);
        {
            const std::lock_guard lock(mutex_);
            only_read_.erase(last.conversation_id);
        }
        // What is missing there is counted by those who follow it.
        comparisons_.over(last.conversation_id, how, is_ours ? last.behind : 0, Clock::now());
        return is_ours ? rows_.release(owner, last, pause) : true;
    }

    /// What is known of one that another relay has, and this one only reads. Thread-safe.
    std::optional<relay::HeldClaim> only_read(const ConversationId& conversation) const {
        const std::lock_guard lock(mutex_);
        const auto found = only_read_.find(conversation);
        if (found == only_read_.end()) return std::nullopt;
        return found->second;
    }

  private:
    /// Of `left` those that another relay has: the follower's position stays as it is, and an end waits only
    /// for what stands between the two. Takes them out of `left`.
    void add_those_to_read(std::set<ConversationId>& left, std::vector<relay::Claim>& claims) {
        if (left.empty()) return;
        auto read = rows_.claims_to_read({left.begin(), left.end()});
        if (!read) {
            log_warn("what waits for a followed conversation goes on", {{"cause", read.error().text}});
            return;
        }
        for (auto& each : *read) {
            left.erase(each.conversation_id);
            if (!comparisons_.has_end(each.conversation_id)) {
                comparisons_.over(each.conversation_id, Compared::followed, 0, Clock::now());
                continue;
            }
            const std::lock_guard lock(mutex_);
            only_read_[each.conversation_id] = {each.conversation_id, each.generation, each.server};
            claims.push_back(std::move(each));
        }
    }

    mutable std::mutex mutex_;
    std::map<ConversationId, relay::HeldClaim> only_read_;
    MysqlRelayPositions& rows_;
    relay::Comparisons& comparisons_;
    bool has_begun_ = false;
};

ComparedWithLogs::ComparedWithLogs(MysqlRelayPositions& positions, relay::Topic& topic,
                                   relay::TopicRecords records, std::function<std::size_t()> max_event_bytes,
                                   ComparedWithLogsRules rules)
    : rules_(std::move(rules)),
      comparisons_(rules_.comparisons),
      positions_(std::make_unique<Positions>(positions, comparisons_)) {
    relay::FollowObserver observer;
    observer.state = rules_.state;
    observer.gap = [this](const relay::GapSeen& gap) {
        // What is brought is counted when it is certain that no webhook brings it.
        if (gap.lost > 0) rules_.missing({gap.lost, 0, gap.lost});
    };
    const auto make = [this, records = std::move(records), max_event_bytes = std::move(max_event_bytes)](
                          const relay::FollowedEvent& event) -> std::optional<relay::TopicRecord> {
        auto made = records.make(door_event_of(event), max_event_bytes());
        auto* const record = std::get_if<relay::MadeRecord>(&made);
        if (record == nullptr || comparisons_.has(event.conversation_id, record->event_id))
            return std::nullopt;
        if (!event.run_over && !positions_->only_read(event.conversation_id))
            comparisons_.brought(event.conversation_id, record->event_id, Clock::now());
        return std::move(record->record);
    };
    follower_ = std::make_unique<relay::Follower>(*positions_, topic, make, rules_.follow, observer);
    counting_ = named_thread("relay missing", [this](const std::stop_token& stop) {
        do {
            comparisons_.release(Clock::now());
            const auto missing = comparisons_.take_missing(Clock::now());
            if (missing.found > 0) rules_.missing(missing);
        } while (wait_or_stop(stop, std::chrono::milliseconds(500)));
    });
}

ComparedWithLogs::~ComparedWithLogs() = default;

void ComparedWithLogs::came(const relay::CameEvent& event) {
    comparisons_.came(event.conversation_id, event.id, event.ends_run, Clock::now());
}

void ComparedWithLogs::before_end(const ConversationId& conversation, std::function<void()> go_on) {
    comparisons_.before_end(conversation, std::move(go_on), Clock::now());
}

void ComparedWithLogs::stop() {
    comparisons_.close();
    follower_->stop();
}

relay::FollowRules rules_to_compare(relay::FollowRules rules) {
    rules.until_caught_up = true;
    rules.give_up_after = std::chrono::seconds(60);
    rules.requests = 4;
    rules.most = 100;
    rules.claimed_at_once = 100;
    // Ends wait for it.
    rules.discover_every = std::chrono::milliseconds(100);
    rules.save_every = std::chrono::milliseconds(100);
    return rules;
}

}  // namespace epilogue
