// The members of a processor's JSON, read with the type that each must have: with it a sink reads its
// targets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "schemas/json_part.h"

namespace epilogue {

/// What the text of a member must look like, and how to say so.
struct TextRule {
    bool (*fits)(std::string_view);
    std::string_view expected;
};

/// One object being read. The first member that is wrong is remembered; from then on the values that are
/// returned mean nothing, and the caller looks at `complaint` once, at the end.
class ProcessorReader {
  public:
    /// `complaint` outlives the reader; empty means that all is well.
    ProcessorReader(const JsonPart& object, std::string& complaint)
        : ProcessorReader(object, complaint, "") {}

    /// The object in a member, which must be there.
    ProcessorReader object(std::string_view name) const;
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
    ProcessorReader(const JsonPart& object, std::string& complaint, std::string path)
        : object_(object), complaint_(complaint), path_(std::move(path)) {}

    const JsonPart& object_;
    std::string& complaint_;
    std::string path_;  ///< "" or "github_view."
};

}  // namespace epilogue
