// The quick way through a JSON document: most are plain JSON, which simdjson checks as a whole.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "schemas/json_part.h"

namespace epilogue {

/// Reads texts one after the other, reusing its buffers. Not thread-safe.
class JsonTree {
  public:
    JsonTree();
    ~JsonTree();
    JsonTree(JsonTree&&) noexcept;
    JsonTree& operator=(JsonTree&&) noexcept;

    /// Fills `part` with the wanted members; behind `text` there are as many bytes as simdjson may read over
    /// its end. False, and `part` is worth nothing, where this is not to be decided here: the text is long,
    /// deep or no plain JSON, or holds something that the tree does not give back as it was written.
    bool read(std::string_view text, const WantedPart& wanted, JsonPart& part);

  private:
    struct Parser;
    std::unique_ptr<Parser> parser_;
};

}  // namespace epilogue
