#define BOOST_TEST_MODULE mail_message
#include "sinks/email/mail_message.h"

#include <algorithm>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "sinks/email/mail_header.h"

using namespace epilogue;

namespace {

const MailMessage hello{.from = {.name = "Epilogue", .address = "epilogue@us.example"},
                        .to = {"ann@there.example", "bob@there.example"},
                        .subject = "Done",
                        .id = "id-1@us.example",
                        .thread_id = "conversation.c@us.example",
                        .date = *parse_instant("2026-11-24T04:10:06Z"),
                        .body = {.text = "Done — at last.\n", .html = "<p>Done</p>\n"}};

}  // namespace

BOOST_AUTO_TEST_CASE(a_mail_word_for_word) {
    BOOST_TEST(mail_message(hello) ==
               "Date: Tue, 24 Nov 2026 04:10:06 +0000\r\n"
               "From: Epilogue\r\n <epilogue@us.example>\r\n"
               "To: ann@there.example,\r\n bob@there.example\r\n"
               "Subject: Done\r\n"
               "Message-ID: <id-1@us.example>\r\n"
               "In-Reply-To: <conversation.c@us.example>\r\n"
               "References: <conversation.c@us.example>\r\n"
               "Auto-Submitted: auto-generated\r\n"
               "MIME-Version: 1.0\r\n"
               "Content-Type: multipart/alternative;\r\n boundary=\"=_id-1\"\r\n"
               "\r\n"
               "--=_id-1\r\n"
               "Content-Type: text/plain; charset=utf-8\r\n"
               "Content-Transfer-Encoding: quoted-printable\r\n"
               "\r\n"
               "Done =E2=80=94 at last.\r\n"
               "\r\n"
               "--=_id-1\r\n"
               "Content-Type: text/html; charset=utf-8\r\n"
               "Content-Transfer-Encoding: quoted-printable\r\n"
               "\r\n"
               "<p>Done</p>\r\n"
               "\r\n"
               "--=_id-1--\r\n");
}

BOOST_AUTO_TEST_CASE(no_line_of_a_body_is_long_or_begins_with_a_dot) {
    BOOST_TEST(quoted_printable("a=b \n.\n..x\n\tend ") == "a=3Db=20\r\n=2E\r\n=2E.x\r\n=09end=20");
    BOOST_TEST(quoted_printable("a\r\n.\r\nb") == "a=0D\r\n=2E=0D\r\nb");
    BOOST_TEST(quoted_printable(std::string(75, 'x') + ".y") == std::string(75, 'x') + "=\r\n=2Ey");
    const auto coded = quoted_printable(std::string(500, '.') + std::string(500, '\xE9'));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = coded.find("\r\n", begin)) != std::string::npos; begin = end + 2) {
        BOOST_TEST(end - begin <= 76U);
        BOOST_TEST(coded[begin] != '.');
    }
}

BOOST_AUTO_TEST_CASE(no_text_begins_another_header_field) {
    for (const std::string& end :
         std::vector<std::string>{"\r\n", "\n", "\r", "\r\n ", "\u2028", "\x0B", std::string(1, '\0')}) {
        auto mail = hello;
        mail.subject = "Done" + end + "Bcc: eve@evil.example" + end + end + "<script>";
        mail.from.name = "We" + end + "Bcc: eve@evil.example";
        const auto text = mail_message(mail);
        const auto header = text.substr(0, text.find("\r\n\r\n") + 2);
        BOOST_TEST(header.find("\nBcc") == std::string::npos, header);
        BOOST_TEST(header.find("\rBcc") == std::string::npos, header);
        std::size_t fields = 0;
        for (std::size_t at = 0; at < header.size(); at = header.find("\r\n", at) + 2)
            fields += header[at] == ' ' ? 0U : 1U;
        BOOST_TEST(fields == 10U, header);
        for (const char c : header) BOOST_TEST((c == '\r' || c == '\n' || (c >= ' ' && c < '\x7f')));
    }
}

BOOST_AUTO_TEST_CASE(what_is_not_plain_becomes_encoded_words) {
    BOOST_TEST(header_text("Done: 1 of 2") == "Done: 1 of 2");
    BOOST_TEST(header_text("Größe") == "=?UTF-8?B?R3LDtsOfZQ==?=");
    BOOST_TEST(header_text("=?UTF-8?Q?evil?=") == "=?UTF-8?B?PT9VVEYtOD9RP2V2aWw/PQ==?=");
    const auto folded = header_text(std::string(60, 'x') + "é" + std::string(60, 'y'));
    for (std::size_t begin = 0; begin < folded.size();) {
        const auto end = std::min(folded.find("\r\n", begin), folded.size());
        BOOST_TEST(end - begin <= 76U);
        begin = end + 2;
    }
    BOOST_TEST(header_mailbox({.name = "", .address = "a@b.example"}) == "a@b.example");
    BOOST_TEST(header_mailbox({.name = "A <eve@evil.example>,", .address = "a@b.example"}) ==
               "=?UTF-8?B?QSA8ZXZlQGV2aWwuZXhhbXBsZT4s?=\r\n <a@b.example>");
}

BOOST_AUTO_TEST_CASE(an_address_can_stand_in_an_envelope_as_it_is) {
    for (const char* good : {"a@b", "ann.lee+x@there.example", "o'neil@xn--bcher-kva.example"})
        BOOST_TEST(is_mail_address(good), good);
    for (const char* bad : {"",           "a",       "@b",    "a@",   "a@b@c",
                            "a b@c",      "a@b c",   "<a@b>", "a@b>", "a@b\r\nRCPT TO:<eve@evil.example",
                            "a@b\n",      "a..b@c",  ".a@b",  "a@.b", "a@b.",
                            "\"a b\"@c",  "a@b,c@d", "a@b;c", "a@bü", "a(c)@b",
                            "a@[1.2.3.4]"})
        BOOST_TEST(!is_mail_address(bad), bad);
    BOOST_TEST(!is_mail_address(std::string(65, 'a') + "@b"));
    BOOST_TEST(!is_mail_address("a@" + std::string(64, 'b')));
    const auto named = mailbox_in("\"Our, bot\" <bot@us.example>");
    BOOST_REQUIRE(named.has_value());
    BOOST_TEST(named->name == "Our, bot");
    BOOST_TEST(named->address == "bot@us.example");
    BOOST_TEST(named->domain() == "us.example");
    BOOST_TEST(!mailbox_in("Bot <bot>").has_value());
}
