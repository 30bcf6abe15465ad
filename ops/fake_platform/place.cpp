#include "ops/fake_platform/place.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/ids.h"
#include "ops/fake_platform/platform_api.h"

namespace epilogue::fake_platform {

std::string processor_json_of(const Place& place) {
    const std::size_t mark = place.path.find_first_of("#!");
    const std::string project = place.path.substr(0, mark);
    const auto with_thread = [&](const char* field) {
        return place.thread.empty() ? "" : fmt::format(R"(, "{}": "{}")", field, place.thread);
    };
    if (place.platform == "slack")
        return fmt::format(R"({{"channel": "{}"{}}})", project, with_thread("thread_ts"));
    const std::string number = place.path.substr(mark + 1);
    if (place.platform == "github")
        return fmt::format(R"({{"repo": "{}", "number": {}{}}})", project, number,
                           place.thread.empty() ? "" : R"(, "review_comment_id": )" + place.thread);
    return fmt::format(R"({{"project": "{}", "iid": {}, "kind": "{}"{}}})", project, number,
                       place.path[mark] == '!' ? "merge_request" : "issue", with_thread("discussion_id"));
}

std::string begin_thread(FakePlatform& platform, const Place& place, const std::string& text) {
    Comment first;
    first.platform = place.platform;
    first.place = place.path;
    first.author = "ada";
    first.body = text;
    constexpr std::size_t id_digits = 40;
    if (place.platform == "gitlab") first.thread = sha256_hex(place.path).substr(0, id_digits);
    const std::int64_t id = platform.seed(first);
    if (place.platform == "gitlab") return first.thread;
    if (place.platform == "github") return std::to_string(id);
    const auto all = platform.visible();
    const auto made = std::find_if(all.begin(), all.end(), [&](const Comment& one) { return one.id == id; });
    return slack_ts(*made);
}

}  // namespace epilogue::fake_platform
