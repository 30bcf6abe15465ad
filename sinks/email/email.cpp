#include "sinks/email/email.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/mail_server.h"
#include "base/text.h"
#include "sinks/email/email_answers.h"
#include "sinks/email/mail_message.h"
#include "sinks/format/format.h"
#include "sinks/port/remote_post.h"

namespace epilogue {
namespace {

constexpr std::size_t max_body_characters = 64000;
constexpr const char* no_server = "no server: set [email] server and from";

std::string subject_of(const Post& post, const EmailTarget& target) {
    constexpr std::size_t longest_id = 100;
    if (!target.subject.empty()) return target.subject;
    return "Conversation " + std::string(prefix_of(post.conversation_id.text(), longest_id));
}

}  // namespace

EmailSink::EmailSink(EmailSettings settings) : settings_(std::move(settings)) {}

std::string EmailSink::render(const Summary& summary, const DeliveryId&) const {
    return markdown_post(summary, "", max_body_characters);
}

Dialogue<LookupResult> EmailSink::find(Post) {
    if (settings_.on_unknown == EmailUnknown::park)
        co_return forbidden("a mail that may have been taken cannot be looked for ([email] on_unknown)");
    LookupResult lookup;
    lookup.ok = true;
    co_return lookup;
}

Dialogue<Attempt> EmailSink::create(Post post) {
    const auto* target = target_in<EmailTarget>(post.target);
    if (target == nullptr || target->to.empty())
        co_return not_sent(Answer::refused, "the target is no address of mail");
    if (settings_.url.empty()) co_return not_sent(Answer::unauthorised, no_server);
    HttpRequest mail = request();
    for (const std::string& address : target->to) mail.headers.push_back(std::string(mail_to) + address);
    mail.body = message_of(post, *target);
    const auto answer = co_await mail;
    auto attempt = classify_mail(answer);
    if (attempt.answer == Answer::sent) attempt.receipt.remote_id = post.delivery_id.text();
    co_return attempt;
}

Dialogue<bool> EmailSink::remove(Post, Receipt) {
    co_return false;
}

Quota EmailSink::quota(const Target&) const {
    return quota_by_credential({.platform = "email",
                                .token = settings_.password,
                                .budget = settings_.budget,
                                .api_url = settings_.url,
                                .origin = "",
                                .published = "",
                                .setting = "[email] password"});
}

std::vector<Dialogue<TokenStatus>> EmailSink::check_tokens() {
    std::vector<Dialogue<TokenStatus>> checks;
    checks.push_back(check_login());
    return checks;
}

Dialogue<TokenStatus> EmailSink::check_login() const {
    TokenStatus report{.setting = "[email] server"};
    report.in_doubt = settings_.on_unknown == EmailUnknown::park ? InDoubt::parks : InDoubt::sends_again;
    if (settings_.url.empty()) co_return report;
    HttpRequest greeting = request();
    greeting.changes_nothing = true;
    const auto answer = co_await greeting;
    const Attempt attempt = classify_mail(answer);
    report.state = attempt.answer == Answer::sent           ? TokenState::accepted
                   : attempt.answer == Answer::unauthorised ? TokenState::refused
                                                            : TokenState::unreachable;
    report.identity = settings_.user.empty() ? settings_.from.address : settings_.user;
    report.needed = "a user and a password that the server takes";
    report.cause = attempt.cause;
    co_return report;
}

HttpRequest EmailSink::request() const {
    HttpRequest request;
    request.method = mail_method;
    request.url = settings_.url;
    request.headers = {std::string(mail_from) + settings_.from.address};
    request.mail = std::make_shared<const MailServer>(MailServer{.hello = settings_.from.domain(),
                                                                 .must_encrypt = settings_.must_encrypt,
                                                                 .user = settings_.user,
                                                                 .password = settings_.password});
    return request;
}

std::string EmailSink::message_of(const Post& post, const EmailTarget& target) const {
    constexpr std::size_t digits = 32;
    const std::string domain = "@" + settings_.from.domain();
    // No mail has the thread's id: programs put all mails that answer it into one thread all the same.
    return mail_message(
        {.from = settings_.from,
         .to = target.to,
         .subject = subject_of(post, target),
         .id = post.delivery_id.text() + domain,
         .thread_id = "conversation." + sha256_hex(post.conversation_id.text()).substr(0, digits) + domain,
         .date = settings_.now(),
         .body = mail_body(post.body)});
}

}  // namespace epilogue
