// Writes changed members back into a processor's JSON; what is not changed stays byte for byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schemas/json_part.h"

namespace epilogue {

/// One object being written. Each call compares with what the member says now and changes it only when it
/// says something else. A change that cannot be made (its object is missing) is left out: encode_processor
/// reads the result again and refuses one that does not say what it should.
class ProcessorWriter {
  public:
    /// `object` is what was read of `document`; both outlive the writer, and `document` is changed in place.
    ProcessorWriter(const JsonPart& object, std::string& document) : ProcessorWriter(object, document, {}) {}

    /// The writer of the object in a member.
    ProcessorWriter object(std::string_view name) const;

    void text(std::string_view name, std::string_view value) const;
    /// "" becomes null where something is given, and nothing where nothing is.
    void optional_text(std::string_view name, std::string_view value) const;
    /// A list of texts; one alone may stand without its list.
    void texts(std::string_view name, const std::vector<std::string>& values) const;
    void number(std::string_view name, std::int64_t value) const;
    /// nullopt becomes null where something is given, and nothing where nothing is.
    void optional_number(std::string_view name, std::optional<std::int64_t> value) const;
    /// A member that is missing means false.
    void flag(std::string_view name, bool value) const;
    /// Null where something is given.
    void clear(std::string_view name) const;

    /// The member as it was read.
    const JsonPart& member(std::string_view name) const { return object_[name]; }

  private:
    ProcessorWriter(const JsonPart& object, std::string& document, std::vector<std::string> path)
        : object_(object), document_(document), path_(std::move(path)) {}
    void put(std::string_view name, std::string_view json) const;

    const JsonPart& object_;
    std::string& document_;
    std::vector<std::string> path_;  // names of the objects around it, from the outermost inwards
};

}  // namespace epilogue
