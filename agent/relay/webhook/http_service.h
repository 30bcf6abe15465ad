// What an HTTP server serves: requests and answers as values.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace epilogue::relay {

struct HttpHead {
    std::string method;
    std::string target;
    std::string key;          ///< of Authorization: Bearer, else X-Session-API-Key; "": none
    std::string traceparent;  ///< "": none
};

struct HttpReply {
    unsigned status = 200;
    std::string body{};
    std::string content_type = "application/json";
    std::vector<std::pair<std::string, std::string>> headers{};
};

/// {"detail": "…"}
HttpReply http_refusal(unsigned status, const std::string& detail);
/// 503, to be asked again.
HttpReply http_unavailable(const std::string& detail);

/// Thread-safe.
class HttpService {
  public:
    HttpService() = default;
    HttpService(const HttpService&) = delete;
    HttpService& operator=(const HttpService&) = delete;
    virtual ~HttpService() = default;

    /// The answer to a request whose body is not wanted; nullopt: answer() is to be called with the body.
    virtual std::optional<HttpReply> answer_head(const HttpHead& head) = 0;
    /// Calls `reply` once, on any thread.
    virtual void answer(const HttpHead& head, std::string body, std::function<void(HttpReply)> reply) = 0;
};

}  // namespace epilogue::relay
