#include "sinks/gitlab/gitlab_target.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/text.h"
#include "sinks/port/edited_message.h"
#include "sinks/port/text_rules.h"

namespace epilogue {
namespace {

constexpr std::size_t max_path_bytes = 300;
constexpr std::size_t max_id_bytes = 64;

bool is_path(std::string_view text) {
    return text.size() <= max_path_bytes && path_segments(text) >= 2;
}

bool is_discussion(std::string_view text) {
    return !text.empty() && text.size() <= max_id_bytes &&
           std::all_of(text.begin(), text.end(), is_letter_or_digit);
}

bool is_kind(std::string_view text) {
    return text == "issue" || text == "merge_request";
}

constexpr TextRule path_rule{is_path, R"(a positive integer or "group/name")"};
constexpr TextRule discussion_rule{is_discussion, "a discussion's id, letters and digits"};
constexpr TextRule kind_rule{is_kind, R"("issue" or "merge_request")"};

/// The project's id; nullopt when it is named by its path.
std::optional<std::int64_t> number_of(std::string_view project) {
    std::int64_t number = 0;
    const auto [end, fault] = std::from_chars(project.data(), project.data() + project.size(), number);
    if (fault != std::errc() || end != project.data() + project.size()) return std::nullopt;
    return number;
}

GitlabTarget read_short(const ProcessorReader& json) {
    const bool is_number = json.member("project").type == JsonPart::Type::number;
    std::string project =
        is_number ? std::to_string(json.positive("project")) : json.text("project", path_rule);
    const std::int64_t iid = json.positive("iid");
    const bool merge_request = json.text("kind", kind_rule) == "merge_request";
    GitlabTarget target{std::move(project), iid, merge_request,
                        json.optional_text("discussion_id", discussion_rule)};
    if (is_update(json)) {
        target.note_id = json.positive("note_id");
        target.notify = json.flag(member_notify, false);
    }
    return target;
}

void write_short(const ProcessorWriter& json, const GitlabTarget& target) {
    if (const auto number = number_of(target.project))
        json.number("project", *number);
    else
        json.text("project", target.project);
    json.number("iid", target.iid);
    json.text("kind", target.merge_request ? "merge_request" : "issue");
    json.optional_text("discussion_id", target.discussion_id);
    write_update(json, target.note_id.has_value(), target.notify);
    if (target.note_id) json.number("note_id", *target.note_id);
}

GitlabTarget read_view(const ProcessorReader& view) {
    std::string project = std::to_string(view.positive("project_id"));
    const std::int64_t iid = view.positive("issue_number");
    const bool merge_request = view.flag("is_mr");
    GitlabTarget target{std::move(project), iid, merge_request,
                        view.optional_text("discussion_id", discussion_rule)};
    // It chooses a token and is no address, so a name that is no path makes no row unreadable.
    if (const auto path = view.member("full_repo_name").string_or_empty(); is_path(path)) target.path = path;
    return target;
}

/// Upstream posts to a project by its id; the path beside it says whose token that takes.
void write_view(const ProcessorWriter& view, const GitlabTarget& target) {
    if (const auto number = number_of(target.project)) view.number("project_id", *number);
    view.number("issue_number", target.iid);
    view.flag("is_mr", target.merge_request);
    view.optional_text("discussion_id", target.discussion_id);
    if (!target.path.empty()) view.text("full_repo_name", target.path);
}

GitlabTarget read_v0(const ProcessorReader& json) {
    return read_view(json.object("gitlab_view"));
}

void write_v0(const ProcessorWriter& json, const GitlabTarget& target) {
    write_view(json.object("gitlab_view"), target);
}

GitlabTarget read_v1(const ProcessorReader& json) {
    return read_view(json.object("gitlab_view_data"));
}

void write_v1(const ProcessorWriter& json, const GitlabTarget& target) {
    write_view(json.object("gitlab_view_data"), target);
}

}  // namespace

std::string GitlabTarget::describe() const {
    return lowered(project) + (merge_request ? "!" : "#") + std::to_string(iid) +
           (discussion_id.empty() ? "" : "/" + discussion_id) +
           (note_id ? "/n" + std::to_string(*note_id) : "");
}

std::vector<ProcessorShape> gitlab_shapes() {
    return {shape_of("gitlab", "project", read_short, write_short),
            shape_of("GitlabCallbackProcessor", "gitlab_view", read_v0, write_v0),
            shape_of("GitlabV1CallbackProcessor", "gitlab_view_data", read_v1, write_v1)};
}

std::vector<WantedPart> gitlab_members() {
    const std::vector<WantedPart> view{
        {"project_id"}, {"issue_number"}, {"is_mr"}, {"discussion_id"}, {"full_repo_name"}};
    return {{"project"},
            {"iid"},
            {"kind"},
            {"discussion_id"},
            {member_mode_of_post},
            {"note_id"},
            {member_notify},
            {"gitlab_view", view},
            {"gitlab_view_data", view}};
}

}  // namespace epilogue
