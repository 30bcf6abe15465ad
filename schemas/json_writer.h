// Writes the small JSON documents that are stored and read again by us: one pass, one buffer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace epilogue {

/// Takes names and values in the order in which they stand in the document, and sees to commas, quotes and
/// escapes; that names and brackets match is the caller's part. Texts are UTF-8.
class JsonWriter {
  public:
    void begin_object() { open('{'); }
    void end_object() { text_ += '}'; }
    void begin_array() { open('['); }
    void end_array() { text_ += ']'; }

    /// Of the value that comes next.
    void name(std::string_view name);

    /// An element of an array, the value after a name, or the whole document.
    void text(std::string_view value);
    void number(std::int64_t value);
    void flag(bool value);
    void null();

    /// A member of an object: its name and its value.
    void text(std::string_view name, std::string_view value);
    void number(std::string_view name, std::int64_t value);
    void flag(std::string_view name, bool value);

    /// The document; the writer is empty again.
    std::string take();

  private:
    void open(char bracket);
    void separate();
    void quote(std::string_view text);

    std::string text_;
};

}  // namespace epilogue
