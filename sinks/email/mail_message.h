// A whole mail as bytes: header, plain text, HTML. (RFC 5322, RFC 2045)
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "sinks/email/mail_address.h"
#include "sinks/email/mail_body.h"

namespace epilogue {

struct MailMessage {
    Mailbox from;
    std::vector<std::string> to;  ///< addresses
    std::string subject;          ///< any text
    std::string id;               ///< Message-ID without its brackets
    std::string thread_id;        ///< the same of what it answers, of which there need be no mail
    Instant date;
    MailBody body;
};

/// Lines end with CRLF and have 78 bytes at most; all of it is ASCII.
std::string mail_message(const MailMessage& message);

/// `text` in quoted-printable, its lines ended with CRLF. None begins with a dot, so that no server can take
/// one for the message's end.
std::string quoted_printable(std::string_view text);

}  // namespace epilogue
