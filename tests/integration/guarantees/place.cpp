#include "tests/integration/guarantees/place.h"

#include <algorithm>

#include <fmt/format.h>

#include "ops/fake_platform/platform_api.h"

namespace epilogue::testing {
namespace {

std::int64_t begin_thread(fake_platform::FakePlatform& platform, const Place& place) {
    fake_platform::Comment root;
    root.platform = place.platform;
    root.place = place.path;
    root.author = "somebody";
    root.body = "Could the agent do this?";
    root.thread = place.kind == PlaceKind::gitlab_discussion ? place.thread : "";
    return platform.seed(std::move(root));
}

Place slack(fake_platform::FakePlatform& platform, int number) {
    Place place{.processor = "slack", .platform = "slack", .path = fmt::format("C{}", number)};
    const auto root = begin_thread(platform, place);
    const auto all = platform.visible();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.id == root; });
    place.thread = fake_platform::slack_ts(*found);
    place.processor_json = fmt::format(R"({{"channel": "{}", "thread_ts": "{}"}})", place.path, place.thread);
    place.lists = {fmt::format("channel={}&", place.path)};
    return place;
}

Place github(fake_platform::FakePlatform& platform, int number, bool review) {
    const std::string repo = review ? "octo/reviews" : "octo/issues";
    Place place{.processor = "github", .platform = "github"};
    place.path = fmt::format("{}{}{}", repo, review ? "!" : "#", number);
    place.lists = {fmt::format("{}/issues/{}/comments", repo, number),
                   fmt::format("{}/pulls/{}/comments?", repo, number)};
    std::string thread;
    if (review) {
        place.kind = PlaceKind::github_review;
        place.thread = std::to_string(begin_thread(platform, place));
        thread = ", \"review_comment_id\": " + place.thread;
    }
    place.processor_json = fmt::format(R"({{"repo": "{}", "number": {}{}}})", repo, number, thread);
    return place;
}

Place gitlab(fake_platform::FakePlatform& platform, int number, bool discussion) {
    Place place{.processor = "gitlab", .platform = "gitlab"};
    place.path = fmt::format("4455{}{}", discussion ? "!" : "#", number);
    std::string thread;
    if (discussion) {
        place.kind = PlaceKind::gitlab_discussion;
        place.thread = fmt::format("6a9c1750b37d513a43987b57{:08}", number);
        begin_thread(platform, place);
        thread = fmt::format(R"(, "discussion_id": "{}")", place.thread);
    }
    place.processor_json = fmt::format(R"({{"project": 4455, "iid": {}, "kind": "{}"{}}})", number,
                                       discussion ? "merge_request" : "issue", thread);
    place.lists = {discussion ? "discussions/" + place.thread : fmt::format("issues/{}/notes?", number)};
    return place;
}

}  // namespace

std::string_view name_of(PlaceKind kind) {
    constexpr std::array<std::string_view, kinds.size()> names{
        "Slack", "GitHub comment", "GitHub review reply", "GitLab note", "GitLab discussion"};
    return names.at(static_cast<std::size_t>(kind));
}

Place make_place(fake_platform::FakePlatform& platform, PlaceKind kind, int number) {
    Place place;
    switch (kind) {
        case PlaceKind::slack:
            place = slack(platform, number);
            break;
        case PlaceKind::github_comment:
        case PlaceKind::github_review:
            place = github(platform, number, kind == PlaceKind::github_review);
            break;
        case PlaceKind::gitlab_note:
        case PlaceKind::gitlab_discussion:
            place = gitlab(platform, number, kind == PlaceKind::gitlab_discussion);
            break;
    }
    place.kind = kind;
    return place;
}

bool is_look_up(const fake_platform::LogEntry& entry, const Place& place) {
    if (entry.method != "GET" || !entry.path.starts_with("/" + place.platform + "/")) return false;
    const std::string asked = entry.path + "?" + entry.query;
    return std::any_of(place.lists.begin(), place.lists.end(),
                       [&](const std::string& list) { return asked.find(list) != std::string::npos; });
}

bool removes(const fake_platform::LogEntry& entry, std::int64_t comment) {
    if (entry.method == "DELETE") return entry.path.ends_with("/" + std::to_string(comment));
    return entry.path.ends_with("/chat.delete") &&
           entry.body.find(fmt::format(".{:06}\"", comment)) != std::string::npos;
}

}  // namespace epilogue::testing
