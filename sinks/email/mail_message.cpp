#include "sinks/email/mail_message.h"

#include <fmt/format.h>

#include "base/text.h"
#include "sinks/email/mail_header.h"

namespace epilogue {
namespace {

/// One of the two forms, behind the boundary.
std::string part(const std::string& boundary, std::string_view type, std::string_view text) {
    return fmt::format(
        "--{}\r\nContent-Type: {}; charset=utf-8\r\nContent-Transfer-Encoding: "
        "quoted-printable\r\n\r\n{}\r\n",
        boundary, type, quoted_printable(text));
}

}  // namespace

std::string quoted_printable(std::string_view text) {
    constexpr std::size_t longest_line = 75;  // and the sign that it goes on
    std::string result;
    std::size_t column = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\n') {
            result += "\r\n";
            column = 0;
            continue;
        }
        const bool ends_line = i + 1 == text.size() || text[i + 1] == '\n';
        const bool begins_line = column == 0 || column == longest_line;
        const bool is_plain =
            (c > ' ' && c < '\x7f' && c != '=' && !(c == '.' && begins_line)) || (c == ' ' && !ends_line);
        const std::string sign = is_plain ? std::string(1, c) : "=" + to_hex(std::string_view(&c, 1));
        if (column + sign.size() > longest_line) {
            result += "=\r\n";
            column = 0;
        }
        for (const char each : sign)
            result += each >= 'a' && each <= 'f' && !is_plain ? static_cast<char>(each - 'a' + 'A') : each;
        column += sign.size();
    }
    return result;
}

std::string mail_message(const MailMessage& message) {
    // No line of quoted-printable has "=_".
    const std::string boundary = "=_" + message.id.substr(0, message.id.find('@'));
    std::string text;
    const auto field = [&](std::string_view name, std::string_view value) {
        text += fmt::format("{}: {}\r\n", name, value);
    };
    field("Date", header_date(message.date));
    field("From", header_mailbox(message.from));
    field("To", header_addresses(message.to));
    field("Subject", header_text(message.subject));
    field("Message-ID", "<" + message.id + ">");
    field("In-Reply-To", "<" + message.thread_id + ">");
    field("References", "<" + message.thread_id + ">");
    field("Auto-Submitted", "auto-generated");  // RFC 3834: no absence note answers it
    field("MIME-Version", "1.0");
    field("Content-Type", "multipart/alternative;\r\n boundary=\"" + boundary + "\"");
    text += "\r\n";
    text += part(boundary, "text/plain", message.body.text);
    text += part(boundary, "text/html", message.body.html);
    return text + "--" + boundary + "--\r\n";
}

}  // namespace epilogue
