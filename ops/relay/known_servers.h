// The agent servers that the configuration names: [[relay.servers]] and [agent_server].
#pragma once

#include <string>
#include <vector>

#include "base/config.h"
#include "base/secret.h"
#include "worker/mysql/relay_position_rows.h"

namespace epilogue {

std::vector<MysqlRelayPositions::KnownServer> known_servers(const Config& config);

/// The session key that it has for a server of that address; empty: none.
Secret known_key(const Config& config, const std::string& url);

}  // namespace epilogue
