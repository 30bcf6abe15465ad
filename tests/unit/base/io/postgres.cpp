// How the address of a PostgreSQL database is read. Sessions: integration_import.
#define BOOST_TEST_MODULE postgres
#include "base/io/postgres.h"

#include <boost/test/unit_test.hpp>

namespace {

using epilogue::PostgresAddress;
using epilogue::Remedy;

PostgresAddress address(const std::string& url) {
    const auto parsed = PostgresAddress::parse(url);
    if (!parsed) BOOST_FAIL(url + ": " + parsed.error().text);
    return *parsed;
}

std::string refusal(const std::string& url) {
    const auto parsed = PostgresAddress::parse(url);
    if (parsed) return "accepted";
    BOOST_TEST((parsed.error().remedy == Remedy::fatal));
    return parsed.error().text;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_password_is_taken_out_of_the_url) {
    const auto plain = address("postgres://me:s3cret@db.example:5433/openhands?sslmode=require");
    BOOST_TEST(plain.url == "postgres://me@db.example:5433/openhands?sslmode=require");
    BOOST_TEST(plain.password.reveal() == "s3cret");
    const auto escaped = address("postgresql://me:p%40ss%2fw%25@h/d");
    BOOST_TEST(escaped.url == "postgresql://me@h/d");
    BOOST_TEST(escaped.password.reveal() == "p@ss/w%");
    BOOST_TEST(address("postgres://me:a@b@h/d").password.reveal() == "a@b");
    BOOST_TEST(address("postgres://me:a:b@h/d").password.reveal() == "a:b");
}

BOOST_AUTO_TEST_CASE(a_url_without_a_password_stays_as_it_is) {
    for (const char* url :
         {"postgres://me@h:5432/d", "postgres://h/d", "postgres:///d?host=/run/postgresql",
          "postgres://me@one,two/d?target_session_attrs=any", "postgres://me@[::1]:5432/d"}) {
        BOOST_TEST(address(url).url == url);
        BOOST_TEST(address(url).password.empty());
    }
}

BOOST_AUTO_TEST_CASE(what_is_no_url_is_refused_without_showing_the_password) {
    BOOST_TEST(contains(refusal("mysql://me@h/d"), "postgres://"));
    BOOST_TEST(contains(refusal(""), "postgres://"));
    BOOST_TEST(contains(refusal("host=h dbname=d password=s3cret"), "postgres://"));
    BOOST_TEST(contains(refusal("postgres://me@h/d?nonsense=1"), "nonsense"));
    for (const char* url : {"postgres://me:s3cret%zz@h/d", "postgres://me:s3cret@h/d?nonsense=1",
                            "postgres://me@h/d?password=s3cret", "postgres://me:s3cret/w@h/d",
                            "postgres://me:s3cret?w@h/d", "postgres://me:s3cret@h:port:7/d?x"}) {
        const auto text = refusal(url);
        BOOST_TEST(!contains(text, "s3cret"), text);
        BOOST_TEST(text != "accepted", url);
    }
}
