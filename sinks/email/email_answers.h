// What a mail server's replies mean for a post. Pure.
#pragma once

#include <string>

#include "base/http_message.h"
#include "sinks/port/sink.h"

namespace epilogue {

/// Code and words of a reply in a line for people, or why there was none.
std::string mail_cause(const HttpAnswer& answer);

/// What the answer to a mail means (base/mail_server.h). Before the message's end every failure is a definite
/// no.
Attempt classify_mail(const HttpAnswer& answer);

}  // namespace epilogue
