// The members of a processor's JSON, read with the type that each must have. Parts of decode_processor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "schemas/json_part.h"

namespace epilogue {

/// What the text of a member must look like, and how to say so.
struct TextRule {
    bool (*fits)(std::string_view);
    std::string_view expected;
};

/// One object being read. The first member that is wrong is remembered; from then on the values that are
/// returned mean nothing, and the caller looks at `complaint` once, at the end.
class ProcessorForm {
  public:
    /// `complaint` outlives the form; empty means that all is well.
    ProcessorForm(const JsonPart& object, std::string& complaint) : ProcessorForm(object, complaint, "") {}

    /// The object in a member, which must be there.
    ProcessorForm object(std::string_view name) const;
    /// A text that must be there and fit.
    std::string text(std::string_view name, const TextRule& rule) const;
    /// "" when the member is missing, null or empty; else a text that must fit.
    std::string optional_text(std::string_view name, const TextRule& rule) const;
    /// An integer from 1 on.
    std::int64_t positive(std::string_view name) const;
    /// nullopt when the member is missing or null; else an integer from 1 on.
    std::optional<std::int64_t> optional_positive(std::string_view name) const;
    /// true or false; a missing member is `otherwise`, or wrong when there is none.
    bool flag(std::string_view name, std::optional<bool> otherwise = std::nullopt) const;

    /// The member as it is.
    const JsonPart& member(std::string_view name) const { return object_[name]; }
    /// Remembers that the member is wrong.
    void refuse(std::string_view name, std::string_view expected) const;

  private:
    ProcessorForm(const JsonPart& object, std::string& complaint, std::string path)
        : object_(object), complaint_(complaint), path_(std::move(path)) {}

    const JsonPart& object_;
    std::string& complaint_;
    std::string path_;  ///< "" or "github_view."
};

/// A Slack channel, team or the like: short, printable, without space and slash.
extern const TextRule slack_id_rule;
/// A Slack message's time: digits, a full stop, digits.
extern const TextRule slack_time_rule;
/// "owner/name" of a GitHub repository.
extern const TextRule github_repo_rule;
/// "group/name" of a GitLab project, with any number of groups.
extern const TextRule gitlab_path_rule;
/// A GitLab discussion's id.
extern const TextRule discussion_rule;
/// "issue" or "merge_request".
extern const TextRule gitlab_kind_rule;

}  // namespace epilogue
