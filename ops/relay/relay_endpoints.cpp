#include "ops/relay/relay_endpoints.h"

#include <string_view>
#include <utility>

#include "base/version.h"

namespace epilogue {
namespace {

relay::HttpReply text_reply(unsigned status, std::string body) {
    relay::HttpReply reply;
    reply.status = status;
    reply.body = std::move(body);
    reply.content_type = "text/plain; charset=utf-8";
    return reply;
}

}  // namespace

RelayEndpoints::RelayEndpoints(relay::HttpService& door, RelayEndpointSources sources)
    : door_(door), sources_(std::move(sources)) {}

std::optional<relay::HttpReply> RelayEndpoints::answer_head(const relay::HttpHead& head) {
    const std::string_view path = std::string_view(head.target).substr(0, head.target.find('?'));
    if (head.method != "GET") return door_.answer_head(head);
    if (path == "/metrics") {
        auto reply = text_reply(200, sources_.metrics());
        reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
        return reply;
    }
    // That it is answered at all says that the threads turn.
    if (path == "/healthz" || path == "/health" || path == "/alive") return text_reply(200, "ok\n");
    if (path == "/readyz" || path == "/ready") {
        const std::string missing = sources_.missing();
        return missing.empty() ? text_reply(200, "ready\n") : text_reply(503, missing);
    }
    if (path == "/server_info") {
        relay::HttpReply reply;
        reply.body = std::string(R"({"name":"epilogue","version":")") + version + "\"}\n";
        return reply;
    }
    return door_.answer_head(head);
}

void RelayEndpoints::answer(const relay::HttpHead& head, std::string body,
                            std::function<void(relay::HttpReply)> reply) {
    door_.answer(head, std::move(body), std::move(reply));
}

}  // namespace epilogue
