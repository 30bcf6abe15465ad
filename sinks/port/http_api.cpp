#include "sinks/port/http_api.h"

#include <utility>

namespace epilogue {
namespace {

constexpr std::size_t max_page_bytes = std::size_t{64} << 20U;  ///< 100 posts of 65,536 characters, escaped

std::string without_slashes(std::string url) {
    while (url.ends_with('/')) url.pop_back();
    return url;
}

}  // namespace

Transport over_http() {
    return [http = HttpClient()](const HttpRequest& request) { return http.send(request); };
}

HttpApi::HttpApi(std::string url, std::vector<std::string> headers, std::chrono::milliseconds timeout,
                 Transport transport)
    : url_(without_slashes(std::move(url))),
      headers_(std::move(headers)),
      timeout_(timeout),
      transport_(std::move(transport)) {}

Deadline HttpApi::deadline() const {
    return std::chrono::steady_clock::now() + timeout_;
}

HttpAnswer HttpApi::send(const char* method, const std::string& url, Deadline until, std::string body,
                         const std::string& header) const {
    HttpRequest request;
    request.method = method;
    request.url = url;
    request.headers = headers_;
    if (!header.empty()) request.headers.push_back(header);
    if (!body.empty()) request.headers.emplace_back("Content-Type: application/json; charset=utf-8");
    request.body = std::move(body);
    request.timeout =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    request.max_answer_bytes = max_page_bytes;
    return transport_(request);
}

}  // namespace epilogue
