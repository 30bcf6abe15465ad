#define BOOST_TEST_MODULE smtp
#include "base/io/smtp.h"

#include <csignal>
#include <cstdlib>
#include <memory>
#include <stop_token>

#include <boost/test/unit_test.hpp>

#include "base/mail_server.h"
#include "tests/support/certificates.h"
#include "tests/support/eventually.h"
#include "tests/unit/base/io/smtp_server.h"

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;

namespace {

const MailServer in_the_clear{.hello = "us.example", .must_encrypt = false};
const std::string message = "Subject: hello\r\n\r\nDone.\r\n";

HttpRequest mail_to_server(const SmtpServer& server, MailServer how = in_the_clear) {
    HttpRequest request;
    request.method = mail_method;
    request.url = server.url();
    request.headers = {"MAIL FROM: epilogue@us.example", "RCPT TO: ann@there.example",
                       "RCPT TO: bob@there.example"};
    request.body = message;
    request.timeout = 20s;
    request.mail = std::make_shared<const MailServer>(std::move(how));
    return request;
}

HttpRequest greeting_to(const SmtpServer& server, MailServer how = in_the_clear) {
    HttpRequest request = mail_to_server(server, std::move(how));
    request.headers.resize(1);
    request.body.clear();
    return request;
}

std::string name_of(HttpOutcome outcome) {
    if (outcome == HttpOutcome::answered) return "answered";
    return outcome == HttpOutcome::not_sent ? "not sent" : "uncertain";
}

/// What becomes of a mail when `at` is replied to with `reply`: "answered 250 message".
std::string fate(const std::string& at, const std::string& reply) {
    const SmtpServer server({.replies = {{at, reply}}});
    const auto answer = send_mail(mail_to_server(server));
    std::string text = name_of(answer.outcome);
    if (answer.outcome == HttpOutcome::answered) text += " " + std::to_string(answer.status);
    return text + " " + answer.headers.at(mail_phase);
}

/// Certificates of a test, which libcurl trusts when `authority` is the one that signed them.
struct Trust {
    explicit Trust(const std::string& authority = "ca.pem") {
        std::signal(SIGPIPE, SIG_IGN);  // the server's TLS writes to whom has gone
        ::setenv("SSL_CERT_FILE", certificates().path(authority).c_str(), 1);
    }
    ~Trust() { ::unsetenv("SSL_CERT_FILE"); }
    Trust(const Trust&) = delete;
    Trust& operator=(const Trust&) = delete;

    static const Certificates& certificates() {
        static const Certificates made;
        return made;
    }
    static SmtpScript script(std::vector<std::string> offers = {"STARTTLS", "AUTH PLAIN"}) {
        return {.offers = std::move(offers),
                .certificate_path = certificates().path("server.pem"),
                .key_path = certificates().path("server.key")};
    }
};

const MailServer with_login{.hello = "us.example", .must_encrypt = true, .user = "post", .password = "pass"};

}  // namespace

BOOST_AUTO_TEST_CASE(a_mail_is_handed_over_word_for_word_to_each_recipient) {
    const SmtpServer server({});
    const auto answer = send_mail(mail_to_server(server));
    BOOST_TEST(name_of(answer.outcome) == "answered");
    BOOST_TEST(answer.status == 250);
    BOOST_TEST(answer.body == "250 taken\r\n");
    const std::vector<std::string> wanted{"EHLO us.example", "MAIL FROM:<epilogue@us.example>",
                                          "RCPT TO:<ann@there.example>", "RCPT TO:<bob@there.example>",
                                          "DATA"};
    const auto said = server.said();
    BOOST_REQUIRE(said.size() >= wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) BOOST_TEST(said[i] == wanted[i]);
    BOOST_REQUIRE(server.messages().size() == 1U);
    BOOST_TEST(server.messages()[0] + "\r\n" == message);
}

BOOST_AUTO_TEST_CASE(a_refusal_is_an_answer_with_the_phase_it_came_in) {
    BOOST_TEST(fate("hello", "554 no mail from you\r\n") == "answered 554 login");
    BOOST_TEST(fate("hello", "421 too busy\r\n") == "answered 421 login");
    BOOST_TEST(fate("mail", "530 log in first\r\n") == "answered 530 message");
    BOOST_TEST(fate("rcpt", "450 greylisted\r\n") == "answered 450 message");
    BOOST_TEST(fate("rcpt", "550-no such\r\n550 mailbox\r\n") == "answered 550 message");
    BOOST_TEST(fate("data", "451 not now\r\n") == "answered 451 message");
    BOOST_TEST(fate(".", "552 too large\r\n") == "answered 552 message");
    BOOST_TEST(fate(".", "250-taken\r\n250-as\r\n250 17\r\n") == "answered 250 message");
    BOOST_TEST(fate(".", "250 taken\r\n421 and good bye\r\n") == "answered 250 message");
}

BOOST_AUTO_TEST_CASE(the_whole_reply_is_told_and_no_other) {
    const SmtpServer server({.replies = {{"rcpt", "550-no such\r\n550 mailbox\r\n"}}});
    BOOST_TEST(send_mail(mail_to_server(server)).body == "550-no such\r\n550 mailbox\r\n");
}

BOOST_AUTO_TEST_CASE(a_connection_that_ends_before_the_messages_end_has_sent_nothing) {
    for (const char* at : {"hello", "ehlo", "mail", "rcpt", "data"})
        BOOST_TEST(fate(at, drop).starts_with("not sent "), at);
    BOOST_TEST(fate("rcpt", "450-grey\r\n450-") == "not sent message");
    // What was refused before is no answer to what was said since.
    const SmtpServer server({.replies = {{"ehlo", "502 too new\r\n"}, {"helo", drop}}});
    BOOST_TEST(name_of(send_mail(mail_to_server(server)).outcome) == "not sent");
}

BOOST_AUTO_TEST_CASE(a_connection_that_ends_within_a_long_message_has_sent_nothing) {
    const SmtpServer server({.replies = {{"message", drop}}});
    auto request = mail_to_server(server);
    for (int i = 0; i < 200000; ++i)
        request.body += "A line that fills what the kernel keeps of a message.\r\n";
    BOOST_TEST(name_of(send_mail(request).outcome) == "not sent");
    BOOST_TEST(server.messages().empty());
}

BOOST_AUTO_TEST_CASE(a_connection_that_ends_behind_the_messages_end_leaves_it_uncertain) {
    for (const char* reply : {drop, "25", "250-taken\r\n250-as"})
        BOOST_TEST(fate(".", reply) == "uncertain message", reply);
}

BOOST_AUTO_TEST_CASE(a_deadline_and_a_stop_end_a_mail_that_hangs) {
    for (const std::string at : {"ehlo", "."}) {
        const SmtpServer server({.replies = {{at, hang}}});
        auto request = mail_to_server(server);
        request.timeout = 300ms;
        const auto answer = send_mail(request);
        BOOST_TEST(name_of(answer.outcome) == (at == "." ? "uncertain" : "not sent"));
        BOOST_TEST(answer.timed_out);
    }
    const SmtpServer server({.replies = {{".", hang}}});
    auto request = mail_to_server(server);
    std::stop_source stop;
    request.stop = stop.get_token();
    std::jthread stopping([&] {
        static_cast<void>(eventually("the message came", [&] { return !server.messages().empty(); }));
        stop.request_stop();
    });
    const auto answer = send_mail(request);
    BOOST_TEST(name_of(answer.outcome) == "uncertain");
    BOOST_TEST(answer.cause == "stopped");
}

BOOST_AUTO_TEST_CASE(nobody_waits_for_an_answer_to_the_good_bye) {
    const auto begin = std::chrono::steady_clock::now();
    const SmtpServer server({.replies = {{"quit", hang}}});
    BOOST_TEST(send_mail(mail_to_server(server)).status == 250);
    BOOST_TEST(send_mail(greeting_to(server)).status == 250);
    const SmtpServer refusing({.replies = {{"rcpt", "550 no\r\n"}, {"quit", hang}}});
    BOOST_TEST(send_mail(mail_to_server(refusing)).status == 550);
    BOOST_TEST((std::chrono::steady_clock::now() - begin < 10s));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_a_mail_is_not_sent) {
    const SmtpServer server({});
    auto split = mail_to_server(server);
    split.headers[1] += ">\r\nRCPT TO:<eve@there.example";
    BOOST_TEST(send_mail(split).cause == "an address holds a control character");
    auto late = mail_to_server(server);
    late.timeout = 0ms;
    BOOST_TEST(send_mail(late).cause == "no time left");
    auto bare = mail_to_server(server);
    bare.mail.reset();
    BOOST_TEST(name_of(send_mail(bare).outcome) == "not sent");
    BOOST_TEST(server.said().empty());
    auto away = mail_to_server(server);
    away.url = "smtp://127.0.0.1:1";
    BOOST_TEST(name_of(send_mail(away).outcome) == "not sent");
}

BOOST_AUTO_TEST_CASE(login_and_mail_come_after_starttls_alone) {
    const Trust trust;
    const SmtpServer server(Trust::script());
    const auto answer = send_mail(mail_to_server(server, with_login));
    BOOST_TEST(answer.status == 250);
    const auto said = server.said();
    BOOST_REQUIRE(said.size() >= 4U);
    BOOST_TEST(said[1] == "STARTTLS");
    BOOST_TEST(said[3].starts_with("tls AUTH PLAIN"));
    for (std::size_t i = 2; i < said.size(); ++i) BOOST_TEST(said[i].starts_with("tls "), said[i]);
    BOOST_TEST(server.messages().size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_server_may_speak_tls_from_the_first_byte_on) {
    const Trust trust;
    auto script = Trust::script({"AUTH PLAIN"});
    script.is_tls = true;
    const SmtpServer server(script);
    auto request = mail_to_server(server, with_login);
    request.url = server.url("smtps");
    BOOST_TEST(send_mail(request).status == 250);
    BOOST_TEST(server.messages().size() == 1U);
    script.replies = {{".", drop}};
    const SmtpServer dropping(script);
    request.url = dropping.url("smtps");
    BOOST_TEST(name_of(send_mail(request).outcome) == "uncertain");
}

BOOST_AUTO_TEST_CASE(nothing_is_said_to_a_server_that_does_not_encrypt_or_is_not_the_one) {
    {
        const Trust trust;
        const SmtpServer bare(Trust::script({"AUTH PLAIN"}));
        const auto answer = send_mail(mail_to_server(bare, with_login));
        BOOST_TEST(name_of(answer.outcome) == "not sent");
        BOOST_TEST(bare.said() == std::vector<std::string>{"EHLO us.example"},
                   boost::test_tools::per_element());
    }
    const Trust foreign("foreign-ca.pem");
    const SmtpServer stranger(Trust::script());
    const auto answer = send_mail(mail_to_server(stranger, with_login));
    BOOST_TEST(name_of(answer.outcome) == "not sent");
    BOOST_TEST(answer.cause.find("certificate") != std::string::npos, answer.cause);
    for (const auto& line : stranger.said()) BOOST_TEST(!line.starts_with("tls "), line);
}

BOOST_AUTO_TEST_CASE(a_login_that_is_refused_is_told_apart) {
    const Trust trust;
    auto script = Trust::script();
    script.replies = {{"auth", "535 wrong password\r\n"}};
    const SmtpServer server(script);
    const auto refused = send_mail(mail_to_server(server, with_login));
    BOOST_TEST(name_of(refused.outcome) == "answered");
    BOOST_TEST(refused.status == 535);
    BOOST_TEST(refused.headers.at(mail_phase) == phase_login);
    const SmtpServer unknown(Trust::script({"STARTTLS", "AUTH GSSAPI"}));
    const auto none = send_mail(mail_to_server(unknown, with_login));
    BOOST_TEST(none.status == 535);
    BOOST_TEST(none.headers.at(mail_phase) == phase_login);
}

BOOST_AUTO_TEST_CASE(without_a_recipient_the_server_is_only_asked_whether_it_takes_us) {
    const Trust trust;
    const SmtpServer server(Trust::script());
    const auto answer = send_mail(greeting_to(server, with_login));
    BOOST_TEST(name_of(answer.outcome) == "answered");
    BOOST_TEST(answer.status == 250);
    for (const auto& line : server.said()) BOOST_TEST(line.find("MAIL") == std::string::npos, line);
    BOOST_TEST(server.messages().empty());
}

BOOST_AUTO_TEST_CASE(what_is_no_mail_goes_over_http) {
    const auto send = with_mail([](const HttpRequest& request) {
        HttpAnswer answer;
        answer.body = "over http: " + request.method;
        return answer;
    });
    BOOST_TEST(send(HttpRequest()).body == "over http: GET");
    const SmtpServer server({});
    BOOST_TEST(send(mail_to_server(server)).status == 250);
}
