// [email] of the configuration.
#pragma once

#include <string>

#include "base/config_keys.h"
#include "base/secret.h"

namespace epilogue {

enum class EmailTls { starttls, tls, off };
/// What becomes of a mail that the server may have taken or not.
enum class EmailUnknown { park, again };

struct EmailSection {
    std::string server;  ///< host; empty: none is set, its posts wait for one
    int port = 0;        ///< 0: by `tls`
    EmailTls tls = EmailTls::starttls;
    std::string user;  ///< empty: no login
    Secret password;
    std::string from;  ///< as mailbox_in() reads it
    EmailUnknown on_unknown = EmailUnknown::park;
    std::string budget = "auto";
    bool operator==(const EmailSection&) const = default;
};

/// The section's keys, with their meaning and their defaults.
ConfigSection email_section();

}  // namespace epilogue
