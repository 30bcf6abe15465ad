#include "tests/sim/places.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "ops/fake_platform/http_messages.h"

namespace epilogue::sim {
namespace {

/// Path and query behind "http://sim".
std::string target_of(const HttpRequest& request) {
    return request.url.substr(request.url.find('/', std::string_view("http://").size()));
}

std::string path_of(const HttpRequest& request) {
    const std::string target = target_of(request);
    return target.substr(0, target.find('?'));
}

std::string channel_in(const HttpRequest& request) {
    if (request.method == "POST") return nlohmann::json::parse(request.body).value("channel", "");
    const std::string target = target_of(request);
    return fake_platform::parameters_of(
        target.substr(std::min(target.size(), target.find('?') + 1)))["channel"];
}

}  // namespace

Place place_of(std::int64_t number) {
    if (number % 2 != 0)
        return {"github", fmt::format(R"({{"repo":"o/r","number":{}}})", number),
                fmt::format("github:o/r#{}", number)};
    if (number % 4 != 0)
        return {"gitlab", fmt::format(R"({{"project":4455,"iid":{},"kind":"issue"}})", number),
                fmt::format("gitlab:4455#{}", number)};
    const bool in_thread = number % 8 != 0;
    return {"slack",
            fmt::format(R"({{"channel":"C{}"{}}})", number,
                        in_thread ? R"(,"thread_ts":"1760000000.000100")" : ""),
            fmt::format("slack:C{}", number)};
}

Asked asked_by(const HttpRequest& request) {
    const std::string path = path_of(request);
    if (request.method == "DELETE" || path.ends_with("chat.delete")) return Asked::removal;
    for (const char* end : {"/access_tokens", "/installation", "/app"})
        if (path.ends_with(end)) return Asked::account;
    if (request.method == "POST") return Asked::post;
    return path.ends_with("/user") || path.ends_with("auth.test") ? Asked::account : Asked::look_up;
}

std::string platform_of(const HttpRequest& request) {
    const std::string path = path_of(request);
    return path.substr(1, path.find('/', 1) - 1);
}

std::int64_t number_in(const HttpRequest& request) {
    const std::string platform = platform_of(request);
    const auto segments = split(path_of(request), '/');
    const bool asks_account = asked_by(request) == Asked::account;
    if (platform == "github") return asks_account ? 1 : fake_platform::number_of(segments.at(5)).value();
    if (platform == "gitlab") return asks_account ? 2 : fake_platform::number_of(segments.at(4)).value();
    return asks_account ? 4 : fake_platform::number_of(channel_in(request).substr(1)).value();
}

}  // namespace epilogue::sim
