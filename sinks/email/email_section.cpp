#include "sinks/email/email_section.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "sinks/email/mail_address.h"
#include "sinks/port/text_rules.h"

namespace epilogue {
namespace {

/// As any_text, for texts that fit or are empty.
ConfigKind fitting_text(std::string EmailSection::*field, std::string expected,
                        bool (*fits)(std::string_view)) {
    const ConfigPlace<std::string> at = place(field);
    ConfigKind kind = any_text(at);
    kind.expected = std::move(expected);
    kind.read = [at, fits, read = kind.read, wanted = kind.expected](Config& config,
                                                                     const ConfigValue& value) -> Problem {
        if (auto problem = read(config, value)) return problem;
        const std::string& text = at(config);
        if (!text.empty() && !fits(text)) return Complaint("expected " + wanted);
        return {};
    };
    return kind;
}

bool is_host(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return is_letter_or_digit(c) || c == '.' || c == '-'; });
}

bool is_mailbox(std::string_view text) {
    return mailbox_in(text).has_value();
}

std::optional<SettingProblem> contradiction_of(const Config& config) {
    const auto& email = config.extensions.get<EmailSection>();
    if (!email.server.empty() && email.from.empty())
        return SettingProblem{"from", "is missing: the address that mails come from"};
    if (email.user.empty() != email.password.empty())
        return SettingProblem{"user", "user and password go together"};
    if (email.tls == EmailTls::off && !email.user.empty())
        return SettingProblem{"tls", "is \"off\", and a password is not sent in the clear"};
    return {};
}

template <class Choice>
ConfigKind chosen(Choice EmailSection::*field, std::vector<std::string_view> names) {
    return one_of(std::move(names), 0, [field](Config& config, std::size_t position) {
        config.extensions.edit<EmailSection>().*field = static_cast<Choice>(position);
    });
}

}  // namespace

ConfigSection email_section() {
    return {
        "email",
        "Posts by mail, through an SMTP server.",
        {
            {"server", fitting_text(&EmailSection::server, "a host's name or IPv4 address", is_host),
             "Host of the server that sends our mail. \"\": none, and posts wait."},
            {"port", number(place(&EmailSection::port), 0, 65535),
             "0: 587 with tls = \"starttls\", 465 with \"tls\", 25 with \"off\"."},
            {"tls", chosen(&EmailSection::tls, {"starttls", "tls", "off"}),
             "\"starttls\": encrypted before anything is said, or not at all; \"tls\": from the first byte "
             "on; \"off\": in the clear, without a login."},
            {"user", any_text(place(&EmailSection::user)), "Login; \"\": the server asks for none."},
            {"password", secret(place(&EmailSection::password)), "Goes with user."},
            {"from",
             fitting_text(&EmailSection::from, "\"a@b.example\" or \"Name <a@b.example>\"", is_mailbox),
             "The sender: \"epilogue@example.com\" or \"Name <epilogue@example.com>\". Its domain is that of "
             "our Message-IDs, too."},
            {"on_unknown", chosen(&EmailSection::on_unknown, {"park", "again"}),
             "When the connection is lost after a mail's end: \"park\": an operator decides, so that "
             "nobody gets it twice; \"again\": it is sent again, under the same Message-ID."},
            {"budget", budget(place(&EmailSection::budget)),
             "Mails with this login, of all workers together. \"auto\": no limit of our own."},
        },
        nullptr,
        contradiction_of};
}

}  // namespace epilogue
