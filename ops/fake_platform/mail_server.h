// A mail server on loopback, in front of the fake platform: each mail is a request to "/email/", and meets
// its rules. One thread a connection; neither TLS nor logins.
#pragma once

#include <memory>

#include "ops/fake_platform/fake_platform.h"

namespace epilogue::fake_platform {

class Listener;

class MailServer {
  public:
    /// Listens on 127.0.0.1, a free port; `platform` outlives it. A recipient is the request
    /// "RCPT /email/ADDRESS", the message's end "POST /email/FIRST-ADDRESS", its header field `recipients`
    /// all of them and its body the message. Answers below 400 are 250, others the reply code, or 550 where
    /// it is none of SMTP's. Throws std::runtime_error when there is no port.
    explicit MailServer(FakePlatform& platform);
    /// Ends every connection, joins every thread: what the platform holds has to be released before.
    ~MailServer();
    MailServer(const MailServer&) = delete;
    MailServer& operator=(const MailServer&) = delete;

    unsigned short port() const;

  private:
    std::unique_ptr<Listener> listener_;
};

}  // namespace epilogue::fake_platform
