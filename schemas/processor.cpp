#include "schemas/processor.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "schemas/json_reader.h"
#include "schemas/processor_form.h"

namespace epilogue {
namespace {

using Form = ProcessorForm;

Target slack_short(const Form& form) {
    return SlackTarget{form.text("channel", slack_id_rule), form.optional_text("thread_ts", slack_time_rule),
                       form.optional_text("team_id", slack_id_rule)};
}

/// A thread's parent is thread_ts; without one the message itself starts the thread.
Target slack_upstream(const Form& view) {
    std::string channel = view.text("channel_id", slack_id_rule);
    std::string parent = view.optional_text("thread_ts", slack_time_rule);
    if (parent.empty()) parent = view.text("message_ts", slack_time_rule);
    return SlackTarget{std::move(channel), std::move(parent), view.optional_text("team_id", slack_id_rule)};
}

Target slack_v1(const Form& form) {
    return slack_upstream(form.object("slack_view_data"));
}

Target github_short(const Form& form) {
    return GithubTarget{form.text("repo", github_repo_rule), form.positive("number"),
                        form.optional_positive("review_comment_id"),
                        form.optional_positive("installation_id")};
}

Target github_upstream(const Form& view, bool is_inline) {
    GithubTarget target;
    target.repo = view.text("full_repo_name", github_repo_rule);
    target.number = view.positive("issue_number");
    if (is_inline) target.review_comment_id = view.positive("comment_id");
    target.installation_id = view.optional_positive("installation_id");
    return target;
}

/// Upstream's views carry no type: an inline comment is the one with a file. (Its line may be null.)
Target github_v0(const Form& form) {
    const Form view = form.object("github_view");
    return github_upstream(view, view.member("file_location").is_given());
}

Target github_v1(const Form& form) {
    return github_upstream(form.object("github_view_data"), form.flag("inline_pr_comment", false));
}

Target gitlab_short(const Form& form) {
    const bool is_number = form.member("project").type == JsonPart::Type::number;
    std::string project =
        is_number ? std::to_string(form.positive("project")) : form.text("project", gitlab_path_rule);
    const std::int64_t iid = form.positive("iid");
    const bool merge_request = form.text("kind", gitlab_kind_rule) == "merge_request";
    return GitlabTarget{std::move(project), iid, merge_request,
                        form.optional_text("discussion_id", discussion_rule)};
}

Target gitlab_upstream(const Form& view) {
    std::string project = std::to_string(view.positive("project_id"));
    const std::int64_t iid = view.positive("issue_number");
    const bool merge_request = view.flag("is_mr");
    return GitlabTarget{std::move(project), iid, merge_request,
                        view.optional_text("discussion_id", discussion_rule)};
}

Target gitlab_v0(const Form& form) {
    return gitlab_upstream(form.object("gitlab_view"));
}

Target gitlab_v1(const Form& form) {
    return gitlab_upstream(form.object("gitlab_view_data"));
}

Target log(const Form&) {
    return LogTarget{};
}

/// A processor_type, and the form that goes with it: the one that has `mark`.
struct Shape {
    std::string_view type;
    std::string_view sink;
    std::string_view mark;
    Target (*read)(const Form&);
};

constexpr std::array<Shape, 10> shapes{{
    {"slack", "slack", "channel", slack_short},
    {"SlackCallbackProcessor", "slack", "channel_id", slack_upstream},
    {"SlackV1CallbackProcessor", "slack", "slack_view_data", slack_v1},
    {"github", "github", "repo", github_short},
    {"GithubCallbackProcessor", "github", "github_view", github_v0},
    {"GithubV1CallbackProcessor", "github", "github_view_data", github_v1},
    {"gitlab", "gitlab", "project", gitlab_short},
    {"GitlabCallbackProcessor", "gitlab", "gitlab_view", gitlab_v0},
    {"GitlabV1CallbackProcessor", "gitlab", "gitlab_view_data", gitlab_v1},
    {"log", "log", "", log},
}};

/// The shape that a type names: a short name as it is, a class by the last part of its dotted name.
const Shape* shape_of(std::string_view type) {
    const std::size_t dot = type.rfind('.');
    const bool is_dotted = dot != std::string_view::npos;
    const std::string_view name = is_dotted ? type.substr(dot + 1) : type;
    const auto found = std::find_if(shapes.begin(), shapes.end(), [&](const Shape& shape) {
        const bool is_short_name = shape.type == shape.sink;
        return shape.type == name && !(is_dotted && is_short_name);
    });
    return found == shapes.end() ? nullptr : &*found;
}

/// The shape that the JSON has, whatever of its sink's types the row names; the type's own when it has none.
const Shape& shape_found(const Shape& own, const JsonPart& json) {
    const auto has = [&](const Shape& shape) { return json[shape.mark].type != JsonPart::Type::absent; };
    if (has(own)) return own;
    const auto found = std::find_if(shapes.begin(), shapes.end(),
                                    [&](const Shape& shape) { return shape.sink == own.sink && has(shape); });
    return found == shapes.end() ? own : *found;
}

const WantedPart& wanted_of_processors() {
    static const std::vector<WantedPart> github_view{
        {"full_repo_name"}, {"issue_number"}, {"comment_id"}, {"file_location"}, {"installation_id"}};
    static const std::vector<WantedPart> gitlab_view{
        {"project_id"}, {"issue_number"}, {"is_mr"}, {"discussion_id"}};
    static const WantedPart wanted{
        "",
        {{"channel"},
         {"channel_id"},
         {"message_ts"},
         {"thread_ts"},
         {"team_id"},
         {"slack_view_data", {{"channel_id"}, {"message_ts"}, {"thread_ts"}, {"team_id"}}},
         {"repo"},
         {"number"},
         {"review_comment_id"},
         {"installation_id"},
         {"github_view", github_view},
         {"github_view_data", github_view},
         {"inline_pr_comment"},
         {"project"},
         {"iid"},
         {"kind"},
         {"discussion_id"},
         {"gitlab_view", gitlab_view},
         {"gitlab_view_data", gitlab_view}}};
    return wanted;
}

struct Describe {
    std::string operator()(const SlackTarget& slack) const {
        // "-" keeps a channel without a team apart from a team.
        return (slack.team_id.empty() ? "-" : slack.team_id) + "/" + slack.channel +
               (slack.thread_ts.empty() ? "" : "/" + slack.thread_ts);
    }
    std::string operator()(const GithubTarget& github) const {
        const auto review = github.review_comment_id;
        return lowered(github.repo) + "#" + std::to_string(github.number) +
               (review ? "/r" + std::to_string(*review) : "");
    }
    std::string operator()(const GitlabTarget& gitlab) const {
        return lowered(gitlab.project) + (gitlab.merge_request ? "!" : "#") + std::to_string(gitlab.iid) +
               (gitlab.discussion_id.empty() ? "" : "/" + gitlab.discussion_id);
    }
    std::string operator()(const LogTarget&) const { return ""; }
};

}  // namespace

std::optional<std::string> sink_named(std::string_view processor_type) {
    const Shape* const shape = shape_of(processor_type);
    if (!shape) return std::nullopt;
    return std::string(shape->sink);
}

Result<Processor> decode_processor(std::string_view processor_type, std::string_view processor_json) {
    const Shape* const own = shape_of(processor_type);
    if (!own)
        return poisonous("processor_type: \"" + std::string(prefix_of(processor_type, 100)) +
                         "\" is no processor of ours");
    const auto json = JsonReader().read(processor_json, wanted_of_processors());
    if (!json) return poisonous("processor_json: not usable JSON: " + json.error().detail);
    if (json->type != JsonPart::Type::object) return poisonous("processor_json: expected an object");
    std::string complaint;
    const Form form(*json, complaint);
    Target target = shape_found(*own, *json).read(form);
    if (!complaint.empty()) return poisonous("processor_json: " + complaint);
    return Processor{std::string(own->sink), std::move(target)};
}

std::string describe(const Processor& processor) {
    const std::string place = std::visit(Describe(), processor.target);
    // Decoded targets are far shorter; a hand-made one must not break a column either.
    return std::string(prefix_of(place.empty() ? processor.sink : processor.sink + ":" + place, 512));
}

}  // namespace epilogue
