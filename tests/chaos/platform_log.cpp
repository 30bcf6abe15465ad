#include "tests/chaos/platform_log.h"

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace epilogue::testing {
namespace {

/// Of "/github/repos/OWNER/REPO/issues/7/comments".
std::string place_of(const std::string& path) {
    const auto at = split(path, '/');
    if (at.size() != 7 || at[0] != "github" || at[6] != "comments") return "";
    return "github:" + at[2] + "/" + at[3] + "#" + at[5];
}

}  // namespace

std::string delivery_id_in(const std::string& body) {
    constexpr std::string_view mark = "<!-- epilogue:1 id=";
    constexpr std::size_t uuid_length = 36;
    const auto at = body.rfind(mark);
    return at == std::string::npos ? "" : body.substr(at + mark.size(), uuid_length);
}

std::vector<PlatformRequest> requests_of(const nlohmann::json& log) {
    std::vector<PlatformRequest> requests;
    for (const auto& entry : log)
        requests.push_back({.n = entry.at("n"),
                            .at = parse_instant(entry.at("time").get<std::string>()).value(),
                            .method = entry.at("method"),
                            .place = place_of(entry.at("path")),
                            .delivery_id = delivery_id_in(entry.at("body")),
                            .applied = entry.at("applied"),
                            .held = entry.at("held"),
                            .status = entry.at("status").is_null() ? 0 : entry.at("status").get<int>()});
    return requests;
}

}  // namespace epilogue::testing
