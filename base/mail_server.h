// A mail on its way to a server, as a request beside those of HTTP (base/http_message.h): its URL is
// smtp://HOST:PORT, or smtps://HOST:PORT for TLS from the first byte on; its header fields are the envelope,
// its body the message. Without a recipient nothing is handed over: the server is only asked whether it takes
// us. Who makes the request is elsewhere (base/io/smtp.h).
#pragma once

#include <string>
#include <string_view>

namespace epilogue {

/// The method of such a request.
inline constexpr std::string_view mail_method = "SMTP";
/// Its header fields, each with one address behind it.
inline constexpr std::string_view mail_from = "MAIL FROM: ";
inline constexpr std::string_view mail_to = "RCPT TO: ";

/// What is beside the request, for it is shown to people: HttpRequest::mail.
struct MailServer {
    std::string hello;         ///< the host name that we introduce ourselves by
    bool must_encrypt = true;  ///< by STARTTLS, before the login; smtps:// is encrypted anyway
    std::string user = {};     ///< empty: no login
    std::string password = {};
};

/// How far such a request came, in an answer's header field mail_phase. The answer's status is the server's
/// last reply code, its body that reply. It is `not_sent` as long as the end of the message was not: a server
/// delivers nothing before.
inline constexpr const char* mail_phase = "phase";
inline constexpr std::string_view phase_login = "login";      ///< greeting, TLS and login
inline constexpr std::string_view phase_message = "message";  ///< sender, recipients, message

}  // namespace epilogue
