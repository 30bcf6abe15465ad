// One mail, one attempt, one total deadline, over SMTP. (base/mail_server.h)
#pragma once

#include <functional>

#include "base/http_message.h"

namespace epilogue {

/// Performs a request of the method mail_method once. Blocking, thread-safe, never throws.
///
/// Answered: by the reply to the message's end, or by the reply that refused something before it.
/// Not sent: no such reply came, and the message's end was not sent: nothing is delivered.
/// Uncertain: the end may have been sent, and its reply did not come. (RFC 1047)
/// A request to stop ends it within a second.
HttpAnswer send_mail(const HttpRequest& request);

/// `http` for requests of HTTP, and send_mail for mails.
std::function<HttpAnswer(const HttpRequest&)> with_mail(std::function<HttpAnswer(const HttpRequest&)> http);

}  // namespace epilogue
