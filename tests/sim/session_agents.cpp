// The agent servers part of SimTransaction.
#include "tests/sim/session.h"

namespace epilogue::sim {

Result<void> SimTransaction::put_agent_endpoint(const AgentEndpoint& endpoint) {
    TRY_VOID(statement());
    open_->changes.endpoints[endpoint.conversation_id] = endpoint;
    return {};
}

Result<std::optional<AgentEndpoint>> SimTransaction::agent_endpoint(const std::string& conversation_id) {
    TRY_VOID(statement());
    const auto found = database_.endpoints.find(conversation_id);
    return found == database_.endpoints.end() ? std::optional<AgentEndpoint>() : std::optional(found->second);
}

Result<std::vector<std::string>> SimTransaction::with_agent_server(
    const std::vector<std::string>& conversation_ids) {
    TRY_VOID(statement());
    std::vector<std::string> found;
    for (const std::string& id : conversation_ids)
        if (database_.endpoints.contains(id)) found.push_back(id);
    return found;
}

Result<void> SimTransaction::ask_catch_up(const CatchUpRow& row) {
    CatchUpRow fresh = row;
    fresh.attempts = 0;
    fresh.owner.clear();
    return put_catch_up(fresh);
}

Result<std::vector<std::string>> SimTransaction::due_catch_ups(std::size_t limit) {
    TRY_VOID(statement());
    std::vector<std::string> ids;
    for (const auto& [id, row] : database_.catch_ups)
        if (row.next_try_at <= database_.now() && ids.size() < limit) ids.push_back(id);
    return ids;
}

Result<std::optional<CatchUpRow>> SimTransaction::lock_catch_up(const std::string& conversation_id) {
    TRY_VOID(statement());
    TRY_VOID(lock('u', conversation_id));
    const auto changed = open_->changes.catch_ups.find(conversation_id);
    if (changed != open_->changes.catch_ups.end()) return changed->second;
    const auto found = database_.catch_ups.find(conversation_id);
    return found == database_.catch_ups.end() ? std::optional<CatchUpRow>() : std::optional(found->second);
}

Result<void> SimTransaction::put_catch_up(const CatchUpRow& row) {
    TRY_VOID(statement());
    TRY_VOID(lock('u', row.conversation_id));
    open_->changes.catch_ups[row.conversation_id] = row;
    return {};
}

Result<void> SimTransaction::remove_catch_up(const std::string& conversation_id) {
    TRY_VOID(statement());
    TRY_VOID(lock('u', conversation_id));
    open_->changes.catch_ups[conversation_id] = std::nullopt;
    return {};
}

Result<int> SimTransaction::known_partitions(const std::string&) {
    TRY_VOID(statement());
    return database_.partitions.empty() ? 0 : database_.partitions.rbegin()->first + 1;
}

Result<std::optional<int>> SimTransaction::partition_of(const std::string& conversation_id) {
    TRY_VOID(statement());
    const StoredRow* row = conversation(conversation_id);
    return row == nullptr || row->partition < 0 ? std::optional<int>() : std::optional(row->partition);
}

}  // namespace epilogue::sim
