// One page of a conversation's log, from any event on: for those who know where they stand.
#pragma once

#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

#include "agent/event.h"
#include "agent/server.h"

namespace epilogue::agent {

/// Events that make no sense are left out.
struct LogPage {
    std::vector<RemoteEvent> events;
    std::string next_page_id;  ///< "": the last page
};

/// At most 100 events from `page_id` on ("": from the first, or the newest). A server that does not know that
/// event begins at the first. A log that the server failed to read is asked for only as AgentServer::logs()
/// lets it. `stop` as in Call.
AgentResult<LogPage> read_log_page(const AgentServer& server, const std::string& conversation_id,
                                   const std::string& page_id, bool newest_first,
                                   const std::stop_token& stop);

/// How many events the log has, those that cannot be read included.
AgentResult<std::size_t> count_log(const AgentServer& server, const std::string& conversation_id,
                                   const std::stop_token& stop);

}  // namespace epilogue::agent
