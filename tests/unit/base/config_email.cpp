#define BOOST_TEST_MODULE config_email
#include <boost/test/unit_test.hpp>

#include "config_fixture.h"
#include "sinks/email/email_section.h"

using namespace epilogue;

BOOST_AUTO_TEST_CASE(every_key_of_email_is_read_from_a_file) {
    const Config config = loaded(R"([email]
server = "mail.us.example"
port = 2525
tls = "tls"
user = "bot"
password = "pass"
from = "Epilogue <epilogue@us.example>"
on_unknown = "again"
budget = "9/min"
)");
    const EmailSection expected{.server = "mail.us.example",
                                .port = 2525,
                                .tls = EmailTls::tls,
                                .user = "bot",
                                .password = Secret("pass"),
                                .from = "Epilogue <epilogue@us.example>",
                                .on_unknown = EmailUnknown::again,
                                .budget = "9/min"};
    BOOST_TEST((config.extensions.get<EmailSection>() == expected));
}

BOOST_AUTO_TEST_CASE(a_mail_server_needs_a_sender_and_a_login_is_encrypted) {
    const auto refused = [](const std::string& keys) { return refusal("[email]\n" + keys); };
    BOOST_TEST(refused("server = \"m\"").find("from") != std::string::npos);
    BOOST_TEST(refused("server = \"m\"\nfrom = \"a\"").find("expected \"a@b.example\"") != std::string::npos);
    BOOST_TEST(refused("server = \"m/x\"\nfrom = \"a@b\"").find("expected a host's name") !=
               std::string::npos);
    BOOST_TEST(refused("server = \"m\"\nfrom = \"a@b\"\nuser = \"u\"").find("user and password") !=
               std::string::npos);
    const auto clear =
        refused("server = \"m\"\nfrom = \"a@b\"\nuser = \"u\"\npassword = \"hunter2\"\ntls = \"off\"");
    BOOST_TEST(clear.find("a password is not sent in the clear") != std::string::npos, clear);
    BOOST_TEST(clear.find("hunter2") == std::string::npos);
}
