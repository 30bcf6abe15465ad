#include "agent/relay/webhook/http_service.h"

#include "schemas/json_edit.h"

namespace epilogue::relay {

HttpReply http_refusal(unsigned status, const std::string& detail) {
    HttpReply reply;
    reply.status = status;
    reply.body = R"({"detail":)" + json_string(detail) + "}\n";
    return reply;
}

HttpReply http_unavailable(const std::string& detail) {
    HttpReply reply = http_refusal(503, detail);
    reply.headers.emplace_back("Retry-After", "2");
    return reply;
}

}  // namespace epilogue::relay
