// The operator's endpoints (contract §7) on one HTTP server: /metrics, /healthz, /readyz and OpenHands' names
// for them, the API of callbacks, and /openapi.json, which describes all of it.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"

namespace epilogue {

class CallbackApi;

struct EndpointSources {
    std::function<std::string()> metrics;  ///< Prometheus text
    std::function<std::string()> missing;  ///< empty: ready
    std::function<std::string()> history;  ///< what happened and is over: lines, may be none
    std::function<bool()> turning;         ///< the loop turns
    CallbackApi* api = nullptr;            ///< what answers under /api/; outlives the endpoints
};

/// Serves on threads of its own until destroyed.
class HttpEndpoints {
  public:
    /// Listens on host:port; port 0 takes a free one. Fatal when the address cannot be had.
    static Result<std::unique_ptr<HttpEndpoints>> listen(const std::string& host, int port,
                                                         EndpointSources sources);
    ~HttpEndpoints();
    HttpEndpoints(const HttpEndpoints&) = delete;
    HttpEndpoints& operator=(const HttpEndpoints&) = delete;

    /// The port it listens on, also when it was asked for a free one.
    int port() const;

  private:
    struct Server;
    explicit HttpEndpoints(std::unique_ptr<Server> server);
    std::unique_ptr<Server> server_;
};

}  // namespace epilogue
