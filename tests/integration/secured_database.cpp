// [database] tls, with a server that has a certificate: which server the client accepts, and which user it
// presents.
#define BOOST_TEST_MODULE secured_database
#include <boost/test/unit_test.hpp>

#include "tests/support/certificates.h"
#include "tests/support/database.h"
#include "tests/support/epilogue.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;

/// A server with a certificate for 127.0.0.1.
struct SecuredDatabase {
    Certificates certificates;
    Database server{
        chosen_database(),
        {"--ssl-ca=" + certificates.path("ca.pem"), "--ssl-cert=" + certificates.path("server.pem"),
         "--ssl-key=" + certificates.path("server.key")}};
    SecuredDatabase() { server.create_database("secured"); }
};
SecuredDatabase& secured() {
    static SecuredDatabase one;
    return one;
}

std::string path(const std::string& file) {
    return secured().certificates.path(file);
}

Finished migrate(const Settings& more) {
    return Epilogue(merged({settings_for(secured().server, "secured"), more})).run({"migrate"});
}

void check_refused(const Settings& more, const std::string& reason) {
    const auto done = migrate(more);
    BOOST_TEST(done.status == 69, done.out + done.err);
    BOOST_TEST(contains(done.err, reason), done.err);
}

BOOST_AUTO_TEST_CASE(a_server_whose_certificate_is_of_our_authority_is_believed) {
    const auto done = migrate({{"database.tls", "verified"}, {"database.tls_ca", path("ca.pem")}});
    BOOST_TEST(done.status == 0, done.err);
}

BOOST_AUTO_TEST_CASE(a_server_of_another_authority_is_refused) {
    check_refused({{"database.tls", "verified"}, {"database.tls_ca", path("foreign-ca.pem")}}, "certificate");
    check_refused({{"database.tls", "verified"}}, "certificate");  // the system's authorities do not know it
    BOOST_TEST(migrate({{"database.tls", "required"}}).status == 0);  // encrypted, that is all
}

BOOST_AUTO_TEST_CASE(a_server_without_tls_is_refused) {
    Database plain(chosen_database(), {"--skip-ssl"});
    plain.create_database("plain");
    for (const char* tls : {"required", "verified"}) {
        const auto done =
            Epilogue(merged({settings_for(plain, "plain"), {{"database.tls", tls}}})).run({"migrate"});
        BOOST_TEST(done.status == 69, done.out + done.err);
        BOOST_TEST(contains(done.err, "TLS"), done.err);
    }
}

BOOST_AUTO_TEST_CASE(an_account_that_wants_a_certificate_is_reached_with_ours) {
    const auto& server = secured().server;
    server.query("CREATE USER known@'127.0.0.1' IDENTIFIED BY 'known-s' REQUIRE X509");
    server.query("GRANT ALL ON secured.* TO known@'127.0.0.1'");
    const Settings account{{"database.user", "known"},
                           {"database.password", "known-s"},
                           {"database.tls", "verified"},
                           {"database.tls_ca", path("ca.pem")}};
    check_refused(account, "denied");
    const auto done = migrate(merged(
        {account,
         {{"database.tls_certificate", path("client.pem")}, {"database.tls_key", path("client.key")}}}));
    BOOST_TEST(done.status == 0, done.err);
}

BOOST_AUTO_TEST_CASE(files_that_have_no_effect_are_named_before_anything_is_asked) {
    const auto refused = [](const Settings& more, const std::string& reason) {
        const auto done = migrate(more);
        BOOST_TEST(done.status == 78);
        BOOST_TEST(contains(done.err, reason), done.err);
    };
    refused({{"database.tls", "required"}, {"database.tls_ca", path("ca.pem")}}, "tls_ca");
    refused({{"database.tls", "required"}, {"database.tls_key", path("client.key")}}, "go together");
}

}  // namespace
