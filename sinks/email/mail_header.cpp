#include "sinks/email/mail_header.h"

#include <algorithm>
#include <chrono>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "sinks/format/strip_unsafe.h"
#include "sinks/port/base64.h"

namespace epilogue {
namespace {

constexpr std::size_t longest_plain = 60;    ///< with the field's name in front of it on one line
constexpr std::size_t bytes_of_a_word = 42;  ///< 56 as base64; an encoded word has 75 at most
constexpr std::string_view fold = "\r\n ";

/// On one line, without anything unseen.
std::string one_liner(std::string_view text) {
    std::string line = without_unseen(text);
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c >= 0 && c < ' '; }, ' ');
    return std::string(trimmed(line));
}

bool is_plain(std::string_view line) {
    return line.size() <= longest_plain && line.find("=?") == std::string_view::npos &&
           std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c < '\x7f'; });
}

/// Each word holds whole code points.
std::string encoded(std::string_view line) {
    std::string words;
    while (!line.empty()) {
        const std::string_view part = prefix_of(line, bytes_of_a_word);
        words += fmt::format("{}=?UTF-8?B?{}?=", words.empty() ? "" : fold, base64_of(part));
        line.remove_prefix(part.size());
    }
    return words;
}

}  // namespace

std::string header_text(std::string_view text) {
    const std::string line = one_liner(text);
    return is_plain(line) ? line : encoded(line);
}

std::string header_mailbox(const Mailbox& mailbox) {
    const std::string name = one_liner(mailbox.name);
    if (name.empty()) return mailbox.address;
    const bool is_word = is_plain(name) && name.find_first_of("()<>[]:;@\\,.\"") == std::string::npos;
    return fmt::format("{}{}<{}>", is_word ? name : encoded(name), fold, mailbox.address);
}

std::string header_addresses(const std::vector<std::string>& addresses) {
    return fmt::format("{}", fmt::join(addresses, "," + std::string(fold)));
}

std::string header_date(Instant at) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count();
    return fmt::format("{:%a, %d %b %Y %H:%M:%S} +0000", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

}  // namespace epilogue
