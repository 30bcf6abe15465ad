// One HTTP request, one attempt, one total deadline. No retry, no redirect, no proxy from the environment.
#pragma once

#include <functional>

#include "base/http_message.h"

namespace epilogue {

/// Blocking; keeps connections per calling thread. Thread-safe.
class HttpClient {
  public:
    HttpClient();
    /// Performs `request` once. Never throws.
    HttpAnswer send(const HttpRequest& request) const;
};

/// HttpClient::send as a function: the network. Thread-safe.
std::function<HttpAnswer(const HttpRequest&)> over_http();

}  // namespace epilogue
