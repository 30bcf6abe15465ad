#include "agent/relay/webhook/comparisons.h"

#include <functional>

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
    if (!told.due && !told.compared_since && told.brought.empty()) told_.erase(found);
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
    const std::lock_guard lock(mutex_);
    Told& told = told_[conversation];
    told.compared_since.reset();
    const bool is_to_be_tried = how == Compared::unanswered && ++told.tries < rules_.most_tries;
    if (is_to_be_tried) {
        if (!told.due) make_due(conversation, told, now + rules_.again * told.tries);
        return;
    }
    told.tries = 0;
    told.earlier.clear();
    if (how == Compared::unanswered || how == Compared::gone) {
        missing_.found += behind;
        missing_.lost += behind;
    }
    forget_if_done(conversation);
}

MissingEvents Comparisons::take_missing(Time now) {
    const std::lock_guard lock(mutex_);
    std::vector<ConversationId> counted;
    for (auto& [conversation, told] : told_) {
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
