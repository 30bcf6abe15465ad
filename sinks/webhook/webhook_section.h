// [webhook] of the configuration.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/config_keys.h"
#include "base/secret.h"

namespace epilogue {

struct WebhookEndpoint {
    std::string url;
    std::vector<Secret> secrets;
    bool operator==(const WebhookEndpoint&) const = default;
};

struct WebhookSection {
    std::vector<Secret> secrets;  ///< of addresses in rows; empty: their posts wait for one
    std::map<std::string, WebhookEndpoint> endpoints;
    bool operator==(const WebhookSection&) const = default;
};

/// The section's keys, with their meaning and their defaults.
ConfigSection webhook_section();

}  // namespace epilogue
