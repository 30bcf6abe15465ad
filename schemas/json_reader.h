// Reads a JSON document as Python's json.loads does: all of it is checked, a little of it is kept.
// (docs: schemas/README.md)
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "base/bounded_json.h"
#include "schemas/json_part.h"

namespace epilogue {

/// Why a text is no document for us.
struct JsonFault {
    std::string_view reason;  ///< empty | too_large | too_deep | not_json
    std::string detail;       ///< what and where; never holds the text itself, which may be secret
};

constexpr std::size_t max_json_bytes = std::size_t{16} << 20U;

/// Reads texts one after the other, reusing its buffers. Not thread-safe: one per thread.
class JsonReader {
  public:
    JsonReader();
    ~JsonReader();
    JsonReader(JsonReader&&) noexcept;
    JsonReader& operator=(JsonReader&&) noexcept;

    /// Checks the whole text and returns its value with the wanted members of it; of duplicate keys the last.
    tl::expected<JsonPart, JsonFault> read(std::string_view text, const WantedPart& wanted);
    /// The value of an object's member as it is written, of duplicates the last; empty when there is none.
    /// `object` is one that read() took.
    std::string raw_member(std::string_view object, std::string_view name);

  private:
    struct Buffers;
    std::unique_ptr<Buffers> buffers_;
};

}  // namespace epilogue
