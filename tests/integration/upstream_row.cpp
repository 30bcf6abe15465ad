#include "tests/integration/upstream_row.h"

#include <chrono>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace epilogue::testing {
namespace {

using Json = nlohmann::json;

std::vector<Json> read_shapes() {
    std::ifstream file(std::string(EPILOGUE_SOURCE_DIR) + "/tests/data/recordings/processor_json.jsonl");
    std::vector<Json> shapes;
    for (std::string line; std::getline(file, line);) {
        auto shape = Json::parse(line);
        const auto text = shape.dump();
        if (text.find("_view\"") != std::string::npos || text.find("_view_data\"") != std::string::npos ||
            text.find("slack_user_id") != std::string::npos)
            if (text.find("linear_view") == std::string::npos) shapes.push_back(std::move(shape));
    }
    if (shapes.size() != upstream_shapes) throw std::runtime_error("other shapes than known");
    return shapes;
}

std::int64_t seed(const FakePlatformProcess& platform, const std::string& place, const std::string& thread) {
    const Json comment{{"platform", "github"}, {"place", place}, {"body", "Why?"}, {"thread", thread}};
    return platform.control("POST", "/comments", comment, std::chrono::seconds{60}).at("id");
}

void lead_to_slack(Json& view, std::size_t number, UpstreamRow& row) {
    view["channel_id"] = row.path = fmt::format("C{:08}", number);
    row.platform = "slack";
    const bool in_thread = view.at("thread_ts").is_string();
    row.thread = (in_thread ? view.at("thread_ts") : view.at("message_ts")).get<std::string>();
}

void lead_to_github(const FakePlatformProcess& platform, Json& view, bool review, std::size_t number,
                    UpstreamRow& row) {
    const auto repo = view.at("full_repo_name").get<std::string>();
    view["issue_number"] = number;
    row.platform = "github";
    row.path = fmt::format("{}{}{}", repo, review ? "!" : "#", number);
    if (!review) return;
    const auto root = seed(platform, row.path, "");
    view["comment_id"] = seed(platform, row.path, std::to_string(root));
    row.thread = std::to_string(root);
}

void lead_to_gitlab(const FakePlatformProcess& platform, Json& view, std::size_t number, UpstreamRow& row) {
    view["issue_number"] = number;
    row.platform = "gitlab";
    row.path = fmt::format("{}{}{}", view.at("project_id").get<int>(),
                           view.at("is_mr").get<bool>() ? "!" : "#", number);
    if (!view.contains("discussion_id")) return;
    row.thread = fmt::format("6a9c1750b37d513a43987b574953fceb{:08x}", number);
    view["discussion_id"] = row.thread;
    const Json note{{"platform", "gitlab"}, {"place", row.path}, {"body", "Why?"}, {"thread", row.thread}};
    platform.control("POST", "/comments", note, std::chrono::seconds{60});
}

}  // namespace

UpstreamRow upstream_row(const FakePlatformProcess& platform, std::size_t number) {
    static const std::vector<Json> shapes = read_shapes();
    const Json& shape = shapes.at(number % upstream_shapes);
    Json json = shape.at("processor_json");
    UpstreamRow row;
    row.note = shape.at("_note");
    // The second generation keeps the class beside the other fields, and has no column for it.
    row.processor_type =
        shape.at("processor_type").is_string() ? shape.at("processor_type") : json.at("kind");
    for (const char* view : {"github_view", "github_view_data"})
        if (json.contains(view)) {
            const bool review =
                json[view].contains("file_location") || json.value("inline_pr_comment", false);
            lead_to_github(platform, json[view], review, number, row);
        }
    for (const char* view : {"gitlab_view", "gitlab_view_data"})
        if (json.contains(view)) lead_to_gitlab(platform, json[view], number, row);
    if (json.contains("slack_view_data")) lead_to_slack(json["slack_view_data"], number, row);
    if (json.contains("slack_user_id")) lead_to_slack(json, number, row);
    row.processor_json = json.dump();
    return row;
}

}  // namespace epilogue::testing
