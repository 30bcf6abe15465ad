// What an agent server's answers hold, and how its pages are asked for. For this library's own files only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "agent/json.h"
#include "agent/log_page.h"
#include "agent/server.h"

namespace epilogue::agent {

/// Why an answer is of no use. `body`: the answer, where it may be one that is not parsed.
AgentFailure senseless(std::string_view what, std::string_view body = {});

/// "?limit=100&page_id=…". `page_id` "": the first page.
std::string page_query(int limit, const std::string& page_id);

/// The answer as {"items": […], "next_page_id": …}; `server_error` when it is something else.
AgentResult<Json> page_in(const AgentResult<Answer>& answer);

/// The same of a log.
AgentResult<LogPage> log_page_in(const AgentResult<Answer>& answer);

/// The answer as a number; `server_error` when it is none.
AgentResult<std::size_t> count_in(const AgentResult<Answer>& answer);

}  // namespace epilogue::agent
