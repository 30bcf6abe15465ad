// From the bytes of a Kafka record to an Event. (contract §3, docs: schemas/README.md)
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "base/record.h"
#include "schemas/event.h"

namespace epilogue {

/// A valid event that holds nothing for us: an unknown kind, or one without a usable id.
struct IgnoredEvent {};

/// A value that can never be used; `reason` is what dead_letters.reason says.
struct Poison {
    std::string reason;  ///< empty | too_large | not_json | too_deep | not_an_object | neither_v0_nor_v1
    std::string detail;  ///< where and what, for people
};

using Decoded = std::variant<Event, IgnoredEvent, Poison>;

constexpr std::size_t max_event_bytes = std::size_t{16} << 20U;
constexpr std::size_t max_event_depth = 1024;

/// Decodes values one after the other, reusing its buffers. Not thread-safe: one per thread.
class Decoder {
  public:
    Decoder();
    ~Decoder();
    Decoder(Decoder&&) noexcept;
    Decoder& operator=(Decoder&&) noexcept;

    /// Decodes one record value. The whole document is checked, as Python's json.loads would check it
    /// (numbers of any size, NaN and Infinity, last of duplicate keys wins; lone surrogates become U+FFFD).
    /// `marks`: what the record's headers say of it.
    Decoded decode(std::string_view value, const RecordMarks& marks = {});

  private:
    struct Parser;
    std::unique_ptr<Parser> parser_;
};

/// Why a record's key cannot be used: no_key | key_empty | key_too_long | key_not_utf8; empty when it can.
/// `key` is nullptr data for a record without key.
std::string_view key_fault(std::string_view key);

}  // namespace epilogue
