// An HTTP/1.1 server for many clients on few threads: no thread a connection, every wait with an end.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "agent/relay/webhook/http_service.h"
#include "base/result.h"

namespace epilogue::relay {

struct HttpServerRules {
    std::string host;
    unsigned short port = 0;  ///< 0: a free one
    int threads = 2;
    std::size_t connections = 4096;          ///< at the same time; more are closed at once
    std::size_t max_body_bytes = 0;          ///< of all requests that are being read or answered, together
    std::chrono::milliseconds idle{75'000};  ///< a connection without a request
    std::chrono::milliseconds head_within{5'000};  ///< from its first byte
    std::chrono::milliseconds body_within{20'000};
    std::chrono::milliseconds taken_within{10'000};  ///< an answer, by its client
    /// Told of each answer.
    std::function<void(unsigned status)> answered = [](auto) {};
};

/// Keep-alive; bodies have a Content-Length. Serves until it is drained or destroyed.
class HttpServer {
  public:
    /// `service` outlives it. Errors: Remedy::fatal when the address cannot be had.
    static Result<std::unique_ptr<HttpServer>> listen(HttpServerRules rules, HttpService& service);
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    /// The port it listens on, also when it was asked for a free one.
    unsigned short port() const;
    /// Takes no connection any more, closes those without a request, and waits until the others have their
    /// answer; true when all of them had it `within` that time.
    bool drain(std::chrono::milliseconds within);

  private:
    class Loop;
    explicit HttpServer(std::unique_ptr<Loop> loop);
    std::unique_ptr<Loop> loop_;
};

}  // namespace epilogue::relay
