// Requests whose address comes from data, to every spelling of an address that they must not reach: a
// listener stands where the spellings lead, and stays untouched.
#define BOOST_TEST_MODULE egress_guard
#include "base/io/egress_guard.h"

#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "base/io/http.h"
#include "base/text.h"
#include "ops/fake_platform/fake_platform_server.h"

using namespace epilogue;

namespace {

constexpr const char* path = "/webhook/ci";

/// A POST to `host` at the listener's port, led by `allow`.
HttpAnswer send_to(const FakePlatformServer& listener, const std::string& host,
                   const std::vector<std::string>& allow = {}, const std::string& method = "POST") {
    HttpRequest request;
    request.method = method;
    request.url = "http://" + host + ":" + std::to_string(listener.port()) + path;
    request.timeout = std::chrono::milliseconds(2000);
    request.egress = std::make_shared<const EgressRules>(allow);
    return HttpClient().send(request);
}

/// What leads to the listener when nothing guards it.
const std::vector<std::string> loopback{
    "127.0.0.1",  "127.1",        "127.0.1",    "0x7f.1",      "0x7f000001", "0x7F.0x0.0x0.0x1",
    "2130706433", "017700000001", "0177.0.0.1", "0177.0.0.01", "localhost",  "LocalHost",
    "0",          "0.0.0.0",      "0x0",        "127.0x0.0.1"};

/// What leads elsewhere inside, or here where the resolver knows it: nothing may even be tried.
const std::vector<std::string> elsewhere = split(
    "127.0.0.1. localhost. 127.0.0.2 127.255.255.254 [::1] [::] [0:0:0:0:0:0:0:1] "
    "[::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:FFFF:7F00:0001] [::127.0.0.1] 10.0.0.1 "
    "10.255.255.255 0xa000001 012.0.0.1 172.16.0.1 172.31.255.255 192.168.0.1 192.168.255.255 "
    "3232235521 0xc0.0xa8.1 100.64.0.1 100.100.100.200 168.63.129.16 169.254.0.1 "
    "169.254.169.254 169.254.170.2 0xa9fea9fe 2852039166 0251.0376.0251.0376 "
    "0xA9.0xFE.0xA9.0xFE 169.254.43518 [::ffff:169.254.169.254] [::ffff:a9fe:a9fe] "
    "[64:ff9b::a9fe:a9fe] [64:ff9b::7f00:1] [64:ff9b::10.0.0.1] [64:ff9b:1::1] [2002:7f00:1::] "
    "[2002:a9fe:a9fe::1] [2002:a00:1::1] [fe80::1] [fc00::1] [fd00:ec2::254] [fd12:3456::1] "
    "[ff02::1] [2001::1] [2001:db8::1] [3fff::1] [100::1] 192.0.0.192 192.0.2.1 198.18.0.1 "
    "198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255",
    ' ');

/// Refused by the guard; or already by libcurl, where the machine has no IPv6, or does not resolve the name.
bool is_refused(const HttpAnswer& answer) {
    const bool has_no_address = answer.cause.find("resolve") != std::string::npos;
    return answer.outcome == HttpOutcome::not_sent && (answer.is_barred || has_no_address);
}

}  // namespace

BOOST_AUTO_TEST_CASE(no_spelling_of_an_internal_address_is_connected_to) {
    const FakePlatformServer listener;
    std::vector<std::string> all = loopback;
    all.insert(all.end(), elsewhere.begin(), elsewhere.end());
    BOOST_TEST(all.size() >= 60U);
    for (const std::string& host : all) {
        const HttpAnswer answer = send_to(listener, host);
        BOOST_TEST(is_refused(answer), host << ": " << answer.cause);
    }
    BOOST_TEST(listener.log().empty());
}

BOOST_AUTO_TEST_CASE(the_spellings_of_loopback_do_lead_to_the_listener) {
    const FakePlatformServer listener;
    for (const std::string& host : loopback) {
        const HttpAnswer answer = send_to(listener, host, {"127.0.0.0/8", "0.0.0.0", "::1"});
        BOOST_TEST(answer.status == 401, host << ": " << answer.cause);
    }
    BOOST_TEST(listener.log().size() == loopback.size());
}

BOOST_AUTO_TEST_CASE(a_refusal_says_where_the_name_leads_and_what_would_allow_it) {
    const FakePlatformServer listener;
    const HttpAnswer answer = send_to(listener, "localhost");
    BOOST_TEST(answer.cause.starts_with("localhost leads to "), answer.cause);
    BOOST_TEST(
        answer.cause.find("a loopback address: add \"localhost\" to [egress] allow") != std::string::npos,
        answer.cause);
    BOOST_TEST(
        send_to(listener, "0x7f.1").cause.starts_with("127.0.0.1, a loopback address: add \"127.0.0.1\""));
}

BOOST_AUTO_TEST_CASE(what_is_allowed_by_network_name_or_port_is_reached) {
    const FakePlatformServer listener;
    const std::string port = std::to_string(listener.port());
    for (const std::string& entry :
         {std::string("127.0.0.1"), std::string("127.0.0.0/8"), "127.0.0.1:" + port})
        BOOST_TEST(send_to(listener, "127.0.0.1", {entry}).status == 401, entry);
    BOOST_TEST(send_to(listener, "localhost", {"localhost:" + port}).status == 401);
    const auto reached = listener.log().size();
    for (const std::string& entry :
         {std::string("10.0.0.0/8"), std::string("127.0.0.1:1"), std::string("::1")})
        BOOST_TEST(send_to(listener, "127.0.0.1", {entry}).is_barred, entry);
    BOOST_TEST(send_to(listener, "localhost", {"localhost.example"}).is_barred);
    BOOST_TEST(listener.log().size() == reached);
}

BOOST_AUTO_TEST_CASE(a_host_with_an_open_address_that_is_down_is_not_barred_for_another_that_is) {
    HttpRequest request;
    request.method = "POST";
    {
        const FakePlatformServer gone;
        request.url = "http://localhost:" + std::to_string(gone.port()) + path;
    }
    // localhost is ::1, too, where the machine has IPv6.
    request.egress = std::make_shared<const EgressRules>(std::vector<std::string>{"127.0.0.1"});
    const HttpAnswer answer = HttpClient().send(request);
    BOOST_TEST((answer.outcome == HttpOutcome::not_sent));
    BOOST_TEST(!answer.is_barred, answer.cause);
    request.egress = std::make_shared<const EgressRules>();
    BOOST_TEST(HttpClient().send(request).is_barred);
}

BOOST_AUTO_TEST_CASE(a_connection_that_stands_already_is_judged_all_the_same) {
    const FakePlatformServer listener;
    HttpRequest trusted;
    trusted.url = "http://127.0.0.1:" + std::to_string(listener.port()) + path;
    BOOST_TEST(HttpClient().send(trusted).status == 405);
    BOOST_TEST(send_to(listener, "127.0.0.1", {}, "GET").is_barred);
    BOOST_TEST(listener.log().size() == 1U);
    BOOST_TEST(HttpClient().send(trusted).status == 405);
}

BOOST_AUTO_TEST_CASE(a_redirect_to_an_internal_address_is_not_followed) {
    FakePlatformServer front;
    const FakePlatformServer inside;
    front.rules(R"([{"do": "status", "status": 302, "headers": {"location": ")" + inside.url(path) +
                R"("}}])");
    const HttpAnswer answer = send_to(front, "127.0.0.1", {"127.0.0.1:" + std::to_string(front.port())});
    BOOST_TEST(answer.status == 302);
    BOOST_TEST(inside.log().empty());
}
