#include "agent/relay/trimmed_event.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "schemas/json_spans.h"

namespace epilogue::relay {
namespace {

/// Room for mark_of() any size, with quotes and a comma.
constexpr std::size_t mark_room = 64;

std::string mark_of(std::size_t bytes) {
    return "[trimmed: was " + std::to_string(bytes) + " bytes]";
}

// --- Long strings ---------------------------------------------------------------------------------------

/// What stands between the quotes of a string that is a value.
struct LongString {
    std::size_t begin = 0;
    std::size_t size = 0;
};

std::vector<LongString> long_strings(std::string_view text) {
    std::vector<LongString> found;
    std::size_t at = text.find('"');
    while (at != std::string_view::npos) {
        const std::size_t end = end_of_json_string(text, at);
        const std::size_t next = skip_json_blanks(text, end);
        const bool is_name = next < text.size() && text[next] == ':';
        if (!is_name && end - at > whole_string_bytes + 2) found.push_back({at + 1, end - at - 2});
        at = text.find('"', end);
    }
    return found;
}

/// How many bytes go when all strings are cut to `length`, at least.
std::size_t saved_by(const std::vector<LongString>& strings, std::size_t length) {
    std::size_t saved = 0;
    for (const LongString& string : strings)
        if (string.size > length + mark_room) saved += string.size - length - mark_room;
    return saved;
}

/// The greatest length to which strings have to be cut so that `excess` bytes go; whole_string_bytes when
/// that is not enough.
std::size_t length_to_save(const std::vector<LongString>& strings, std::size_t excess) {
    std::size_t enough = whole_string_bytes;
    std::size_t too_long = enough + 1;
    for (const LongString& string : strings) too_long = std::max(too_long, string.size);
    while (enough + 1 < too_long) {
        const std::size_t middle = enough + (too_long - enough) / 2;
        (saved_by(strings, middle) >= excess ? enough : too_long) = middle;
    }
    return enough;
}

bool is_surrogate_escape(std::string_view text, char first_low, char first_high) {
    const auto lower = [](char c) { return static_cast<char>(c | 0x20); };
    return text.size() >= 6 && text[0] == '\\' && text[1] == 'u' && lower(text[2]) == 'd' &&
           lower(text[3]) >= first_low && lower(text[3]) <= first_high;
}

/// Bytes of the character that `text` begins with, as JSON writes it inside a string: an escape, or UTF-8.
std::size_t character_size(std::string_view text) {
    if (text[0] == '\\') {
        if (text.size() < 2 || text[1] != 'u') return 2;
        const bool is_pair = is_surrogate_escape(text, '8', 'b') && text.size() >= 12 &&
                             is_surrogate_escape(text.substr(6), 'c', 'f');
        return is_pair ? 12 : 6;
    }
    std::size_t size = 1;
    while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) ++size;
    return size;
}

/// The head of a string, whole characters of at most `length` bytes.
std::string_view head_of(std::string_view string, std::size_t length) {
    std::size_t at = 0;
    while (at < string.size()) {
        const std::size_t size = character_size(string.substr(at));
        if (at + size > length) break;
        at += size;
    }
    return string.substr(0, at);
}

std::string with_long_strings_cut(std::string_view text, std::size_t limit) {
    const auto strings = long_strings(text);
    const std::size_t length = length_to_save(strings, text.size() - limit);
    std::string result;
    result.reserve(std::min(text.size(), limit + mark_room));
    std::size_t done = 0;
    for (const LongString& string : strings) {
        if (string.size <= length + mark_room) continue;
        const std::string_view head = head_of(text.substr(string.begin, string.size), length);
        result += text.substr(done, string.begin - done);
        result += head;
        result += " " + mark_of(string.size);
        done = string.begin + string.size;
    }
    return result += text.substr(done);
}

// --- Very many values -----------------------------------------------------------------------------------

/// Members that the worker reads (schemas/decode.cpp): they are kept before all others.
constexpr auto steering = std::to_array<std::string_view>(
    {"kind",      "id",     "timestamp", "source",         "key",           "value",     "execution_status",
     "active",    "status", "iteration", "max_iterations", "tool_name",     "action_id", "hook_event_type",
     "blocked",   "code",   "detail",    "error",          "llm_message",   "action",    "observation",
     "content",   "type",   "text",      "message",        "final_thought", "command",   "is_input",
     "exit_code", "path",   "is_error",  "cause",          "args",          "extras",    "agent_state",
     "reason",    "name",   "metadata",  "hook_config",    "stop",          "hooks"});
/// Above that a member is cut, too, and does not take the room of others.
constexpr std::size_t small_member = 2 * whole_string_bytes;
constexpr int deepest = 4;

/// The place in `steering` of a name with its quotes; nullopt when it does not steer.
std::optional<std::size_t> steering_place(std::string_view quoted) {
    const auto* const found = std::ranges::find(steering, quoted.substr(1, quoted.size() - 2));
    if (found == steering.end()) return std::nullopt;
    return static_cast<std::size_t>(found - steering.begin());
}

std::string shrunk(std::string_view value, std::size_t room, int depth);

std::string shrunk_array(std::string_view array, std::size_t room, int depth) {
    const auto elements = json_elements(array);
    if (!elements || room < 2 * mark_room) return '"' + mark_of(array.size()) + '"';
    std::string result = "[";
    room -= mark_room;
    for (const std::string_view element : *elements) {
        const bool fits = element.size() + 1 <= room;
        if (!fits && room < 2 * mark_room) break;
        const std::string kept = fits ? std::string(element) : shrunk(element, room - 1, depth - 1);
        result += kept + ",";
        room -= kept.size() + 1;
        if (!fits) break;
    }
    return result + '"' + mark_of(array.size()) + "\"]";
}

/// Which members of an object are kept, in what form.
class KeptMembers {
  public:
    KeptMembers(const std::vector<JsonMember>& members, std::size_t room, int depth)
        : members_(members), kept_(members.size()), room_(room), depth_(depth) {}

    /// Of duplicates the last is the one that counts.
    void keep_steering() {
        std::array<bool, steering.size()> is_seen{};
        std::vector<std::size_t> large;
        for (std::size_t i = members_.size(); i-- > 0;) {
            const auto place = steering_place(members_[i].name);
            if (!place || std::exchange(is_seen[*place], true)) continue;
            if (!keep_small(i)) large.push_back(i);
        }
        std::size_t left = large.size();
        for (const std::size_t i : large) keep_shrunk(i, room_ / left--);
    }
    void keep_small_others() {
        for (std::size_t i = 0; i < members_.size(); ++i)
            if (!kept_[i] && !steering_place(members_[i].name)) keep_small(i);
    }
    std::string text() const {
        std::string result = "{";
        for (std::size_t i = 0; i < members_.size(); ++i)
            if (kept_[i]) result.append(members_[i].name) += ":" + *kept_[i] + ",";
        return result;
    }

  private:
    static std::size_t cost(const JsonMember& member, std::size_t value) {
        return member.name.size() + value + 2;
    }
    bool keep_small(std::size_t i) {
        const std::size_t size = cost(members_[i], members_[i].value.size());
        if (size > small_member || size > room_) return false;
        keep(i, std::string(members_[i].value));
        return true;
    }
    void keep_shrunk(std::size_t i, std::size_t share) {
        if (share < cost(members_[i], 2 * mark_room)) return;
        keep(i, shrunk(members_[i].value, share - cost(members_[i], 0), depth_ - 1));
    }
    void keep(std::size_t i, std::string value) {
        room_ -= cost(members_[i], value.size());
        kept_[i] = std::move(value);
    }

    const std::vector<JsonMember>& members_;
    std::vector<std::optional<std::string>> kept_;
    std::size_t room_;
    const int depth_;
};

std::string shrunk_object(std::string_view object, std::size_t room, int depth) {
    const auto members = json_members(object);
    if (!members || room < 2 * mark_room) return '"' + mark_of(object.size()) + '"';
    KeptMembers kept(*members, room - 2 * mark_room, depth);
    kept.keep_steering();
    kept.keep_small_others();
    return kept.text() + R"("epilogue_trimmed":")" + mark_of(object.size()) + "\"}";
}

/// `value` in at most `room` bytes, which are at least mark_room.
std::string shrunk(std::string_view value, std::size_t room, int depth) {
    if (value.size() <= room) return std::string(value);
    if (depth > 0 && value[0] == '[') return shrunk_array(value, room, depth);
    if (depth > 0 && value[0] == '{') return shrunk_object(value, room, depth);
    return '"' + mark_of(value.size()) + '"';
}

}  // namespace

std::string trimmed_event(std::string_view event, std::size_t limit) {
    if (event.size() <= limit) return std::string(event);
    const std::string cut = with_long_strings_cut(event, limit);
    if (cut.size() <= limit) return cut;
    const std::size_t begin = skip_json_blanks(cut, 0);
    return shrunk(std::string_view(cut).substr(begin), limit, deepest);
}

}  // namespace epilogue::relay
