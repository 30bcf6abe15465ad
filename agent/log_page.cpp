#include "agent/log_page.h"

#include "agent/address.h"
#include "agent/answers.h"

namespace epilogue::agent {
namespace {

constexpr int page_size = 100;  // more is refused, by old servers with a 500

std::string path_of(const std::string& conversation_id, const char* tail) {
    return "/api/conversations/" + percent_encoded(conversation_id) + tail;
}

}  // namespace

AgentResult<LogPage> read_log_page(const AgentServer& server, const std::string& conversation_id,
                                   const std::string& page_id, bool newest_first,
                                   const std::stop_token& stop) {
    std::string path = path_of(conversation_id, "/events/search") + page_query(page_size, page_id);
    if (newest_first) path += "&sort_order=TIMESTAMP_DESC";
    return server.logs().pass<AgentResult<LogPage>>(
        conversation_id, [&] { return log_page_in(server.send({.path = path, .stop = stop})); });
}

AgentResult<std::size_t> count_log(const AgentServer& server, const std::string& conversation_id,
                                   const std::stop_token& stop) {
    return count_in(server.send({.path = path_of(conversation_id, "/events/count"), .stop = stop}));
}

}  // namespace epilogue::agent
