// What our tables keep of one conversation, read for a person or a program that asks by its id.
#pragma once

#include "base/ids.h"
#include "worker/history/history.h"
#include "worker/mysql/mysql_store.h"

namespace epilogue {

constexpr std::size_t max_kept_rows = 1000;

/// All of it, as it was last committed: of summaries and deliveries the newest max_kept_rows. nullopt when no
/// table has the conversation. Locks and changes nothing. Errors: the database's.
Result<std::optional<KeptConversation>> read_kept(MysqlStore& store, const ConversationId& id);

}  // namespace epilogue
