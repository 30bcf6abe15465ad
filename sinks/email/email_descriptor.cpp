#include <fmt/format.h>

#include "sinks/email/email.h"
#include "sinks/port/descriptor.h"

namespace epilogue {
namespace {

std::string url_of(const EmailSection& section) {
    constexpr int ports[] = {587, 465, 25};
    if (section.server.empty()) return {};
    const int port = section.port == 0 ? ports[static_cast<int>(section.tls)] : section.port;
    return fmt::format("{}://{}:{}", section.tls == EmailTls::tls ? "smtps" : "smtp", section.server, port);
}

std::unique_ptr<Sink> make_email(const SinkSettings& settings) {
    const auto& section = settings.sections.get<EmailSection>();
    return std::make_unique<EmailSink>(EmailSettings{.url = url_of(section),
                                                     .must_encrypt = section.tls == EmailTls::starttls,
                                                     .user = section.user,
                                                     .password = section.password.reveal(),
                                                     .from = mailbox_in(section.from).value_or(Mailbox{}),
                                                     .on_unknown = section.on_unknown,
                                                     .now = settings.now,
                                                     .budget = section.budget});
}

}  // namespace

const SinkDescriptor& email_sink() {
    static const SinkDescriptor descriptor{
        .name = "email",
        .sections = {email_section()},
        .shapes = email_shapes(),
        .wanted = {"", email_members()},
        .describe = describe_place<EmailTarget>,
        .same = same_place<EmailTarget>,
        .make = make_email,
        .form = R"({"to": "a@b.example" or ["a@b.example", …], "subject"?: "…"})"};
    return descriptor;
}

}  // namespace epilogue
