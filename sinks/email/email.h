// The `email` processor: the outcome as a mail, in plain text and HTML. (sinks.md §2.3)
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/instant.h"
#include "sinks/email/email_section.h"
#include "sinks/email/email_target.h"
#include "sinks/email/mail_address.h"
#include "sinks/port/sink.h"

namespace epilogue {

struct EmailSettings {
    std::string url;  ///< smtp://HOST:PORT or smtps://HOST:PORT; empty: every mail is unauthorised, without a
                      ///< request
    bool must_encrypt = true;  ///< by STARTTLS
    std::string user;
    std::string password;
    Mailbox from;
    EmailUnknown on_unknown = EmailUnknown::park;
    std::function<Instant()> now = system_now;  ///< the mails' dates
    std::string budget = "auto";                ///< [email] budget
};

/// Its requests are mails (base/mail_server.h). A mail that was taken cannot be looked at, so this sink is at
/// most once or, with EmailUnknown::again, at least once: then under the same Message-ID, by which some
/// receivers drop repeats.
class EmailSink final : public Sink {
  public:
    explicit EmailSink(EmailSettings settings);

    /// The Markdown of which a mail's two forms are made.
    std::string render(const Summary& summary, const DeliveryId& delivery_id) const override;
    /// Makes no request. EmailUnknown::park: forbidden; again: nothing is found.
    Dialogue<LookupResult> find(Post post) override;
    /// One mail to all recipients: none gets it when the server refuses one of them.
    Dialogue<Attempt> create(Post post) override;
    /// False: what was taken stays.
    Dialogue<bool> remove(Post post, Receipt duplicate) override;
    /// All mails count together, by login.
    Quota quota(const Target& target) const override;
    /// Connects and logs in, and hands nothing over.
    std::vector<Dialogue<TokenStatus>> check_tokens() override;
    DuplicateCheck duplicate_check() const override { return DuplicateCheck::never; }

  private:
    /// A request without a recipient yet.
    HttpRequest request() const;
    std::string message_of(const Post& post, const EmailTarget& target) const;
    Dialogue<TokenStatus> check_login() const;

    const EmailSettings settings_;
};

}  // namespace epilogue
