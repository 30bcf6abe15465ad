#include "agent/relay/follow/once_positions.h"

namespace epilogue::relay {

OncePositions::OncePositions(const std::vector<ConversationId>& conversations, const std::string& server,
                             const Secret& session_key)
    : server_(server), session_key_(session_key) {
    for (const ConversationId& each : conversations) rows_.emplace(each, Row{});
}

OncePositions::Progress OncePositions::progress() const {
    const std::lock_guard lock(mutex_);
    Progress progress;
    progress.conversations = rows_.size();
    for (const auto& [id, row] : rows_) {
        if (row.is_over) ++progress.over;
        if (row.is_over && !row.trouble.empty()) progress.failures.push_back(id.text() + ": " + row.trouble);
        if (!row.is_over && !row.trouble.empty()) progress.trouble = row.trouble;
        progress.behind += row.is_over ? 0 : row.behind;
    }
    return progress;
}

Result<std::vector<Claim>> OncePositions::claim(const std::string&, std::size_t limit, std::chrono::seconds) {
    const std::lock_guard lock(mutex_);
    std::vector<Claim> claims;
    for (auto& [id, row] : rows_) {
        if (claims.size() == limit) break;
        if (row.is_claimed) continue;
        row.is_claimed = true;
        claims.push_back({id, server_, session_key_, {}, 1});
    }
    return claims;
}

Result<std::vector<HeldClaim>> OncePositions::renew(const std::string&,
                                                    const std::vector<ConversationId>& followed,
                                                    std::chrono::seconds) {
    std::vector<HeldClaim> held;
    for (const ConversationId& id : followed) held.push_back({id, 1, server_});
    return held;
}

Result<std::vector<ConversationId>> OncePositions::advance(const std::string&,
                                                           const std::vector<PositionUpdate>& updates) {
    const std::lock_guard lock(mutex_);
    for (const PositionUpdate& update : updates) {
        Row& row = rows_[update.conversation_id];
        row.behind = update.behind;
        row.trouble = update.trouble;
    }
    return std::vector<ConversationId>{};
}

Result<bool> OncePositions::release(const std::string&, const PositionUpdate& last, std::chrono::seconds) {
    const std::lock_guard lock(mutex_);
    Row& row = rows_[last.conversation_id];
    row.is_over = true;
    row.trouble = last.trouble;
    return true;
}

}  // namespace epilogue::relay
