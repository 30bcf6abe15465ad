// Keeps one transfer from connecting to where its request may not lead. For base/io's HTTP clients.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <curl/curl.h>

#include "base/egress.h"
#include "base/http_message.h"

namespace epilogue {

/// Lives as long as the transfer. libcurl asks it for each socket, when the name is resolved: what is judged
/// is the address that is connected to, at every attempt.
class EgressGuard {
  public:
    explicit EgressGuard(const HttpRequest& request);
    EgressGuard(const EgressGuard&) = delete;
    EgressGuard& operator=(const EgressGuard&) = delete;

    /// Sets the handle's options; false when libcurl did not take one. A request without rules changes none.
    bool install(CURL* easy);
    /// Why no address of the host was connected to, and what would allow it; "" when one of them may be.
    std::string_view refusal() const { return has_open_address_ ? std::string_view() : refusal_; }

  private:
    static curl_socket_t open_socket(void* context, curlsocktype purpose, curl_sockaddr* address);
    std::string refusal_of(const curl_sockaddr& address) const;

    const HttpRequest& request_;
    std::string host_;
    bool is_host_allowed_ = false;
    std::string refusal_;
    bool has_open_address_ = false;
};

}  // namespace epilogue
