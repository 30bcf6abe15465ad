#include "agent/relay/webhook/comparisons.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace epilogue::relay {
namespace {

/// One that is under way for so long has come to nothing.
constexpr std::chrono::minutes longest_comparison{30};

std::size_t hash_of(const std::string& event) {
    return std::hash<std::string>()(event);
}

}  // namespace

void Comparisons::make_due(const ConversationId& conversation, Told& told, Time when) {
    if (told.due) due_.erase({*told.due, conversation});
    told.due = when;
    due_.insert({when, conversation});
}

void Comparisons::forget_if_done(const ConversationId& conversation) {
    const auto found = told_.find(conversation);
    if (found == told_.end()) return;
    const Told& told = found->second;
    const bool is_in_use = told.due || told.compared_since || !told.ends.empty() || told.impossible_until;
    if (!is_in_use && told.brought.empty()) told_.erase(found);
}

void Comparisons::came(const ConversationId& conversation, const std::string& event, bool ends_run,
                       Time now) {
    const std::lock_guard lock(mutex_);
    Told& told = told_[conversation];
    if (told.came.size() >= rules_.most_ids) told.earlier = std::exchange(told.came, {});
    told.came.insert(hash_of(event));
    told.brought.erase(hash_of(event));  // it was under way
    const bool is_soon = told.due && *told.due <= now + rules_.after_end;
    if (!is_soon) make_due(conversation, told, now + (ends_run ? rules_.after_end : rules_.quiet));
}

void Comparisons::want(const ConversationId& conversation, Time now) {
    const std::lock_guard lock(mutex_);
    make_due(conversation, told_[conversation], now);
}

void Comparisons::before_end(const ConversationId& conversation, std::function<void()> go_on, Time now) {
    {
        const std::lock_guard lock(mutex_);
        Told& told = told_[conversation];
        const bool is_possible = !told.impossible_until || *told.impossible_until <= now;
        if (is_possible && !is_closed_) {
            told.ends.push_back({now, std::move(go_on)});
            with_ends_.insert(conversation);
            if (!told.compared_since) make_due(conversation, told, now);
            return;
        }
    }
    go_on();
}

void Comparisons::release(Time now) {
    std::vector<WaitingEnd> over;
    {
        const std::lock_guard lock(mutex_);
        for (auto each = with_ends_.begin(); each != with_ends_.end();) {
            auto& ends = told_.at(*each).ends;
            const auto waits = std::partition(ends.begin(), ends.end(), [&](const auto& end) {
                return !is_closed_ && now - end.since < rules_.end_waits;
            });
            over.insert(over.end(), std::move_iterator(waits), std::move_iterator(ends.end()));
            ends.erase(waits, ends.end());
            each = ends.empty() ? with_ends_.erase(each) : std::next(each);
        }
    }
    for (const auto& end : over) end.go_on();
}

void Comparisons::close() {
    {
        const std::lock_guard lock(mutex_);
        is_closed_ = true;
    }
    release({});
}

std::vector<Comparisons::WaitingEnd> Comparisons::take_ends(const ConversationId& conversation, Told& told,
                                                            Compared how, std::optional<Time> compared_since,
                                                            Time now) {
    const auto is_over = [&](const WaitingEnd& end) {
        if (how == Compared::followed) return false;  // it came since
        // A comparison that had begun before an end came may have read the log before that, too.
        return how != Compared::caught_up || (compared_since && end.since <= *compared_since);
    };
    const auto newer = std::stable_partition(told.ends.begin(), told.ends.end(), is_over);
    std::vector<WaitingEnd> over(std::move_iterator(told.ends.begin()), std::move_iterator(newer));
    told.ends.erase(told.ends.begin(), newer);
    if (told.ends.empty())
        with_ends_.erase(conversation);
    else
        make_due(conversation, told, now);
    return over;
}

std::vector<ConversationId> Comparisons::due(std::size_t limit, Time now) {
    const std::lock_guard lock(mutex_);
    std::vector<ConversationId> conversations;
    while (conversations.size() < limit && !due_.empty() && due_.begin()->first <= now) {
        const ConversationId conversation = due_.begin()->second;
        due_.erase(due_.begin());
        Told& told = told_.at(conversation);
        told.due.reset();
        if (told.compared_since && now - *told.compared_since < longest_comparison) {
            make_due(conversation, told, now + rules_.quiet);
            continue;
        }
        told.earlier.merge(told.came);
        told.came.clear();
        told.compared_since = now;
        conversations.push_back(conversation);
    }
    return conversations;
}

bool Comparisons::has_end(const ConversationId& conversation) const {
    const std::lock_guard lock(mutex_);
    return with_ends_.contains(conversation);
}

bool Comparisons::has(const ConversationId& conversation, const std::string& event) const {
    const std::lock_guard lock(mutex_);
    const auto found = told_.find(conversation);
    if (found == told_.end()) return false;
    return found->second.came.contains(hash_of(event)) || found->second.earlier.contains(hash_of(event));
}

void Comparisons::brought(const ConversationId& conversation, const std::string& event, Time now) {
    const std::lock_guard lock(mutex_);
    Told& told = told_[conversation];
    told.brought.insert(hash_of(event));
    told.brought_at = now;
}

void Comparisons::over(const ConversationId& conversation, Compared how, std::int64_t behind, Time now) {
    std::vector<WaitingEnd> ends;
    {
        const std::lock_guard lock(mutex_);
        Told& told = told_[conversation];
        const auto compared_since = std::exchange(told.compared_since, std::nullopt);
        if (how == Compared::interrupted) {
            make_due(conversation, told, now);
            return;
        }
        told.impossible_until.reset();
        if (how == Compared::impossible) told.impossible_until = now + rules_.impossible_for;
        ends = take_ends(conversation, told, how, compared_since, now);
        if (how == Compared::unanswered && ++told.tries < rules_.most_tries) {
            if (!told.due) make_due(conversation, told, now + rules_.again * told.tries);
        } else {
            told.tries = 0;
            told.earlier.clear();
            if (how == Compared::unanswered || how == Compared::gone) {
                missing_.found += behind;
                missing_.lost += behind;
            }
            forget_if_done(conversation);
        }
    }
    for (const auto& end : ends) end.go_on();
}

MissingEvents Comparisons::take_missing(Time now) {
    const std::lock_guard lock(mutex_);
    std::vector<ConversationId> counted;
    for (auto& [conversation, told] : told_) {
        if (told.impossible_until && *told.impossible_until <= now) {
            told.impossible_until.reset();
            counted.push_back(conversation);
        }
        if (told.brought.empty() || now - told.brought_at < rules_.quiet) continue;
        missing_.found += static_cast<std::int64_t>(told.brought.size());
        missing_.filled += static_cast<std::int64_t>(told.brought.size());
        told.brought.clear();
        counted.push_back(conversation);
    }
    for (const auto& each : counted) forget_if_done(each);
    return std::exchange(missing_, {});
}

}  // namespace epilogue::relay
