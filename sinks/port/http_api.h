// A platform's HTTP API: its base URL, what every request carries, one deadline for all requests of a call.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/io/http.h"
#include "sinks/port/sink.h"

namespace epilogue {

/// When all requests of one call must be over.
using Deadline = std::chrono::steady_clock::time_point;

/// Performs one request; as HttpClient::send. Thread-safe.
using Transport = std::function<HttpAnswer(const HttpRequest&)>;
/// The network.
Transport over_http();

class HttpApi {
  public:
    /// `url` may end in slashes; `headers` go with every request; `timeout` is the total of one call.
    HttpApi(std::string url, std::vector<std::string> headers, std::chrono::milliseconds timeout,
            Transport transport = over_http());

    const std::string& url() const { return url_; }
    /// The end of a call that begins now.
    Deadline deadline() const;
    /// One request of JSON, or without a body when that is empty; `header` goes with it when it is not empty.
    HttpAnswer send(const char* method, const std::string& url, Deadline until, std::string body = {},
                    const std::string& header = {}) const;

  private:
    const std::string url_;
    const std::vector<std::string> headers_;
    const std::chrono::milliseconds timeout_;
    const Transport transport_;
};

}  // namespace epilogue
