#include "sinks/linear/linear_target.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "sinks/port/text_rules.h"

namespace epilogue {
namespace {

constexpr std::size_t uuid_bytes = 36;
constexpr std::string_view view_member = "linear_view_data";

bool is_uuid(std::string_view text) {
    return text.size() == uuid_bytes && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == '-';
           });
}

constexpr TextRule id_rule{is_uuid, "an issue's UUID"};
constexpr TextRule key_rule{is_issue_key, R"(an issue's key such as "ENG-12")"};
constexpr TextRule workspace_rule{is_site_name, "the name of a workspace"};

LinearTarget read(const ProcessorReader& json) {
    LinearTarget target{json.optional_text("issue_id", id_rule), json.optional_text("issue_key", key_rule),
                        json.optional_text("workspace_name", workspace_rule)};
    if (target.issue().empty()) target.issue_key = json.text("issue_key", key_rule);
    return target;
}

void write(const ProcessorWriter& json, const LinearTarget& target) {
    json.optional_text("issue_id", target.issue_id);
    json.optional_text("issue_key", target.issue_key);
    json.optional_text("workspace_name", target.workspace);
}

LinearTarget read_v1(const ProcessorReader& json) {
    return read(json.object(view_member));
}

void write_v1(const ProcessorWriter& json, const LinearTarget& target) {
    write(json.object(view_member), target);
}

}  // namespace

std::string LinearTarget::describe() const {
    return (workspace.empty() ? "" : lowered(workspace) + "/") + (issue_key.empty() ? issue_id : issue_key);
}

std::vector<ProcessorShape> linear_shapes() {
    return {shape_of("linear", "", read, write), shape_of("LinearCallbackProcessor", "", read, write),
            shape_of("LinearV1CallbackProcessor", view_member, read_v1, write_v1)};
}

std::vector<WantedPart> linear_members() {
    const std::vector<WantedPart> members{{"issue_id"}, {"issue_key"}, {"workspace_name"}};
    std::vector<WantedPart> all = members;
    all.push_back({view_member, members});
    return all;
}

}  // namespace epilogue
