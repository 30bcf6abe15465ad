// Header fields of a mail (RFC 5322, RFC 2047): whatever the text, it cannot begin another field.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "sinks/email/mail_address.h"

namespace epilogue {

/// `text` as the value of a header field, folded. Short plain ASCII stays as it is; everything else, also
/// what looks like an encoded word, becomes encoded words. Control characters and unseen ones are left out.
std::string header_text(std::string_view text);

/// `Name <address>`, or the address alone.
std::string header_mailbox(const Mailbox& mailbox);

/// The addresses, one a line.
std::string header_addresses(const std::vector<std::string>& addresses);

/// "Tue, 24 Nov 2026 04:10:06 +0000".
std::string header_date(Instant at);

}  // namespace epilogue
