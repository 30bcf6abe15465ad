// Addresses of mail, as this program takes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace epilogue {

/// True for LOCAL@DOMAIN in plain ASCII: no quotes, comments, blanks or line ends, so that it can stand in an
/// envelope and in a header as it is. An international domain is written as "xn--…".
bool is_mail_address(std::string_view text);

/// A sender: "a@b.example", or "Name <a@b.example>".
struct Mailbox {
    std::string name;  ///< may be empty, and any text
    std::string address;

    /// What stands behind the at sign.
    std::string domain() const { return address.substr(address.find('@') + 1); }
};

/// nullopt when the text is none.
std::optional<Mailbox> mailbox_in(std::string_view text);

}  // namespace epilogue
