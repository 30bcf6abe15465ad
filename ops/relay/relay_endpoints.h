// What the relay's one port serves: to operators metrics and health, to agent servers the webhook door.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "agent/relay/webhook/http_service.h"

namespace epilogue {

struct RelayEndpointSources {
    std::function<std::string()> metrics;  ///< Prometheus' text
    std::function<std::string()> missing;  ///< a line for each thing that is; empty: ready
};

/// Metrics and health need no key; a webhook needs one.
class RelayEndpoints final : public relay::HttpService {
  public:
    /// `door` outlives it.
    RelayEndpoints(relay::HttpService& door, RelayEndpointSources sources);

    std::optional<relay::HttpReply> answer_head(const relay::HttpHead& head) override;
    void answer(const relay::HttpHead& head, std::string body,
                std::function<void(relay::HttpReply)> reply) override;

  private:
    relay::HttpService& door_;
    const RelayEndpointSources sources_;
};

}  // namespace epilogue
