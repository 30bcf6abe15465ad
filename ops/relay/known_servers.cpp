#include "ops/relay/known_servers.h"

#include <map>

#include "agent/relay/webhook/sender_keys.h"

namespace epilogue {

std::vector<MysqlRelayPositions::KnownServer> known_servers(const Config& config) {
    std::vector<MysqlRelayPositions::KnownServer> servers;
    std::map<relay::KeyDigest, int> with_that_key;
    for (const auto& each : config.relay.servers) {
        const auto digest = each.key.empty() ? "" : relay::digest_of_key(each.key.reveal());
        servers.push_back({each.url, each.key, each.all, digest});
        ++with_that_key[digest];
    }
    for (auto& each : servers)
        if (with_that_key[each.sender] > 1) each.sender.clear();
    return servers;
}

Secret known_key(const Config& config, const std::string& url) {
    for (const auto& each : config.relay.servers)
        if (relay::is_same_server(each.url, url)) return each.key;
    return relay::is_same_server(config.agent_server.url, url) ? config.agent_server.session_api_key
                                                               : Secret();
}

}  // namespace epilogue
