#include "agent/relay/webhook/webhook_path.h"

#include <algorithm>

#include "base/text.h"
#include "schemas/decode.h"

namespace epilogue::relay {
namespace {

constexpr std::string_view files_at = "/event-webhook/";

std::optional<unsigned> hex_digit(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    c = static_cast<char>(c | 0x20);
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    return std::nullopt;
}

std::string percent_decoded(std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
        const auto low = high ? hex_digit(text[i + 2]) : std::nullopt;
        if (low) {
            result += static_cast<char>(static_cast<unsigned char>(*high << 4U | *low));
            i += 2;
        } else {
            result += text[i];
        }
    }
    return result;
}

bool is_conversation_id(std::string_view id) {
    const auto is_printable = [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F; };
    return key_fault(id).empty() && std::ranges::all_of(id, is_printable);
}

}  // namespace

std::optional<ConversationId> conversation_of_file(std::string_view path) {
    while (path.starts_with('/')) path.remove_prefix(1);
    constexpr std::string_view start = "sessions/";
    constexpr std::string_view events = "/events/";
    constexpr std::string_view end = ".json";
    if (!path.starts_with(start) || !path.ends_with(end)) return std::nullopt;
    path.remove_prefix(start.size());
    path.remove_suffix(end.size());
    const std::size_t behind_id = path.find('/');
    if (behind_id == std::string_view::npos || !path.substr(behind_id).starts_with(events))
        return std::nullopt;
    const std::string_view number = path.substr(behind_id + events.size());
    const std::string_view id = path.substr(0, behind_id);
    if (!integer_in(number) || !is_conversation_id(id)) return std::nullopt;
    return normalise_conversation_id(id);
}

std::optional<WebhookSubject> webhook_subject(std::string_view target) {
    std::string_view path = target.substr(0, target.find_first_of("?#"));
    while (path.ends_with('/')) path.remove_suffix(1);
    if (const auto found = path.find(files_at); found != std::string_view::npos) {
        const std::string file = percent_decoded(path.substr(found + files_at.size()));
        if (file == "batch") return FileBatch{};
        return OneFile{file};
    }
    if (path.ends_with("/conversations")) return ConversationInfo{};
    constexpr std::string_view events = "/events/";
    const std::size_t last = path.rfind('/');
    if (last == std::string_view::npos || !path.substr(0, last + 1).ends_with(events)) return std::nullopt;
    const std::string id = percent_decoded(path.substr(last + 1));
    if (!is_conversation_id(id)) return BadConversationId{};
    return EventsOf{normalise_conversation_id(id)};
}

}  // namespace epilogue::relay
