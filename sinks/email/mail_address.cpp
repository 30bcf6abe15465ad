#include "sinks/email/mail_address.h"

#include <algorithm>

#include "base/text.h"
#include "sinks/port/text_rules.h"

namespace epilogue {
namespace {

constexpr std::size_t max_address_bytes = 254;
constexpr std::size_t max_local_bytes = 64;
constexpr std::size_t max_label_bytes = 63;

/// Words with `extra` signs in them, and a dot between each two.
bool is_dotted(std::string_view text, std::string_view extra, std::size_t max_word) {
    while (true) {
        const std::string_view word = text.substr(0, text.find('.'));
        const bool is_word =
            !word.empty() && word.size() <= max_word && std::all_of(word.begin(), word.end(), [&](char c) {
                return is_letter_or_digit(c) || extra.find(c) != std::string_view::npos;
            });
        if (!is_word) return false;
        if (word.size() == text.size()) return true;
        text.remove_prefix(word.size() + 1);
    }
}

}  // namespace

bool is_mail_address(std::string_view text) {
    const std::size_t at = text.find('@');
    return at != std::string_view::npos && text.size() <= max_address_bytes && at <= max_local_bytes &&
           is_dotted(text.substr(0, at), "!#$%&'*+/=?^_`{|}~-", max_local_bytes) &&
           is_dotted(text.substr(at + 1), "-", max_label_bytes);
}

std::optional<Mailbox> mailbox_in(std::string_view text) {
    text = trimmed(text);
    Mailbox mailbox{.name = {}, .address = std::string(text)};
    const std::size_t open = text.find('<');
    if (open != std::string_view::npos && text.ends_with('>')) {
        std::string_view name = trimmed(text.substr(0, open));
        if (name.size() > 1 && name.starts_with('"') && name.ends_with('"'))
            name = name.substr(1, name.size() - 2);
        mailbox.name = std::string(name);
        mailbox.address = std::string(text.substr(open + 1, text.size() - open - 2));
    }
    if (!is_mail_address(mailbox.address) || !is_utf8(mailbox.name)) return std::nullopt;
    return mailbox;
}

}  // namespace epilogue
