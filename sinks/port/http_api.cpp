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

HttpApi::HttpApi(std::string url, std::vector<std::string> headers)
    : url_(without_slashes(std::move(url))), headers_(std::move(headers)) {}

HttpRequest HttpApi::request(const char* method, std::string url, std::string body,
                             const std::string& header) const {
    HttpRequest request;
    request.method = method;
    request.url = std::move(url);
    request.headers = headers_;
    if (!header.empty()) request.headers.push_back(header);
    if (!body.empty()) request.headers.emplace_back("Content-Type: application/json; charset=utf-8");
    request.body = std::move(body);
    request.max_answer_bytes = max_page_bytes;
    return request;
}

}  // namespace epilogue
