#include "sinks/github/github_target.h"

#include "base/text.h"
#include "sinks/port/edited_message.h"
#include "sinks/port/text_rules.h"

namespace epilogue {
namespace {

bool is_repo(std::string_view text) {
    return path_segments(text) == 2;
}

constexpr TextRule repo_rule{is_repo, R"("owner/name")"};

GithubTarget read_short(const ProcessorReader& json) {
    GithubTarget target{json.text("repo", repo_rule), json.positive("number"),
                        json.optional_positive("review_comment_id"),
                        json.optional_positive("installation_id")};
    if (is_update(json)) {
        target.comment_id = json.positive("comment_id");
        target.notify = json.flag(member_notify, false);
    }
    return target;
}

void write_short(const ProcessorWriter& json, const GithubTarget& target) {
    json.text("repo", target.repo);
    json.number("number", target.number);
    json.optional_number("review_comment_id", target.review_comment_id);
    json.optional_number("installation_id", target.installation_id);
    write_update(json, target.comment_id.has_value(), target.notify);
    if (target.comment_id) json.number("comment_id", *target.comment_id);
}

GithubTarget read_view(const ProcessorReader& view, bool is_inline) {
    GithubTarget target;
    target.repo = view.text("full_repo_name", repo_rule);
    target.number = view.positive("issue_number");
    if (is_inline) target.review_comment_id = view.positive("comment_id");
    target.installation_id = view.optional_positive("installation_id");
    return target;
}

void write_view(const ProcessorWriter& view, const GithubTarget& target) {
    view.text("full_repo_name", target.repo);
    view.number("issue_number", target.number);
    if (target.review_comment_id) view.number("comment_id", *target.review_comment_id);
    view.optional_number("installation_id", target.installation_id);
}

/// Upstream's views carry no type: an inline comment is the one with a file. (Its line may be null.)
GithubTarget read_v0(const ProcessorReader& json) {
    const ProcessorReader view = json.object("github_view");
    return read_view(view, view.member("file_location").is_given());
}

void write_v0(const ProcessorWriter& json, const GithubTarget& target) {
    const ProcessorWriter view = json.object("github_view");
    write_view(view, target);
    if (!target.review_comment_id) view.clear("file_location");
}

GithubTarget read_v1(const ProcessorReader& json) {
    return read_view(json.object("github_view_data"), json.flag("inline_pr_comment", false));
}

void write_v1(const ProcessorWriter& json, const GithubTarget& target) {
    write_view(json.object("github_view_data"), target);
    json.flag("inline_pr_comment", target.review_comment_id.has_value());
}

}  // namespace

std::string GithubTarget::describe() const {
    return lowered(repo) + "#" + std::to_string(number) +
           (review_comment_id ? "/r" + std::to_string(*review_comment_id) : "") +
           (comment_id ? "/c" + std::to_string(*comment_id) : "");
}

std::vector<ProcessorShape> github_shapes() {
    return {shape_of("github", "repo", read_short, write_short),
            shape_of("GithubCallbackProcessor", "github_view", read_v0, write_v0),
            shape_of("GithubV1CallbackProcessor", "github_view_data", read_v1, write_v1)};
}

std::vector<WantedPart> github_members() {
    const std::vector<WantedPart> view{
        {"full_repo_name"}, {"issue_number"}, {"comment_id"}, {"file_location"}, {"installation_id"}};
    return {{"repo"},
            {"number"},
            {"review_comment_id"},
            {member_mode_of_post},
            {"comment_id"},
            {member_notify},
            {"installation_id"},
            {"github_view", view},
            {"github_view_data", view},
            {"inline_pr_comment"}};
}

}  // namespace epilogue
