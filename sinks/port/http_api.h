// A platform's HTTP API: its base URL, and what every request to it carries.
#pragma once

#include <string>
#include <vector>

#include "base/http_message.h"

namespace epilogue {

class HttpApi {
  public:
    /// `url` may end in slashes; `headers` go with every request.
    HttpApi(std::string url, std::vector<std::string> headers);

    const std::string& url() const { return url_; }
    /// A request of JSON, or without a body when that is empty; `header` goes with it when it is not empty.
    HttpRequest request(const char* method, std::string url, std::string body = {},
                        const std::string& header = {}) const;

  private:
    const std::string url_;
    const std::vector<std::string> headers_;
};

}  // namespace epilogue
