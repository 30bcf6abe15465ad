// Events that are too large for the topic, made to fit: trimmed, never dropped.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace epilogue::relay {

/// The smallest limit that leaves all that steers of every event whole.
constexpr std::size_t least_event_limit = std::size_t{256} << 10U;
/// A string of at most so many bytes, as it is written, is never cut while longer ones are.
constexpr std::size_t whole_string_bytes = 1024;

/// `event`, a JSON document, in at most `limit` bytes (least_event_limit or more), in time linear in its
/// length. One that fits stays byte for byte as it is. Else its longest strings are cut, all to one length,
/// and end with how long they were; what steers (ids, kinds, statuses, times, the head of the last words) is
/// in short strings or at the head of long ones. Where that is not enough, because there are very many values
/// and not few long ones, arrays lose their tail and objects what does not steer, and say so.
/// Of what is no JSON the result is none either.
std::string trimmed_event(std::string_view event, std::size_t limit);

}  // namespace epilogue::relay
