#define BOOST_TEST_MODULE egress
#include "base/egress.h"

#include <boost/test/unit_test.hpp>

using namespace epilogue;

namespace {

std::string_view objection(const std::string& text) {
    const auto address = parse_ip_address(text);
    BOOST_REQUIRE_MESSAGE(address.has_value(), text);
    return objection_to(*address);
}

bool allows(const std::string& entry, const std::string& address) {
    return EgressRules({entry}).objection(parse_ip_address(address).value()).empty();
}

}  // namespace

BOOST_AUTO_TEST_CASE(addresses_of_the_internet_are_public) {
    for (const char* address :
         {"1.1.1.1",           "8.8.8.8",         "9.255.255.255",  "11.0.0.0",         "100.63.255.255",
          "100.128.0.0",       "126.255.255.255", "128.0.0.1",      "168.63.129.15",    "169.253.255.255",
          "169.255.0.0",       "172.15.255.255",  "172.32.0.0",     "192.0.1.0",        "192.167.255.255",
          "192.169.0.0",       "198.17.255.255",  "198.20.0.0",     "223.255.255.255",  "2606:4700::1111",
          "2a00:1450:4001::1", "2001:200::1",     "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1"})
        BOOST_TEST(objection(address) == "", address);
}

BOOST_AUTO_TEST_CASE(addresses_of_networks_machines_and_clouds_are_not) {
    for (const char* address : {"0.0.0.0",
                                "0.1.2.3",
                                "10.0.0.1",
                                "10.255.255.255",
                                "100.64.0.1",
                                "100.100.100.200",
                                "100.127.255.255",
                                "127.0.0.1",
                                "127.255.255.254",
                                "168.63.129.16",
                                "169.254.0.1",
                                "169.254.169.254",
                                "169.254.170.2",
                                "172.16.0.1",
                                "172.31.255.255",
                                "192.0.0.1",
                                "192.0.0.192",
                                "192.0.2.1",
                                "192.88.99.1",
                                "192.168.0.1",
                                "192.168.255.255",
                                "198.18.0.1",
                                "198.19.255.255",
                                "198.51.100.7",
                                "203.0.113.7",
                                "224.0.0.1",
                                "239.255.255.255",
                                "240.0.0.1",
                                "255.255.255.255",
                                "::",
                                "::1",
                                "::2",
                                "::127.0.0.1",
                                "::ffff:0:127.0.0.1",
                                "100::1",
                                "fe80::1",
                                "febf::1",
                                "fec0::1",
                                "fc00::1",
                                "fd00:ec2::254",
                                "fdff::1",
                                "ff02::1",
                                "ff0e::1",
                                "2001::1",
                                "2001:1ff::1",
                                "2001:db8::1",
                                "3fff::1",
                                "4000::1",
                                "5f00::1",
                                "64:ff9b:1::1"})
        BOOST_TEST(objection(address) != "", address);
}

BOOST_AUTO_TEST_CASE(ipv4_in_ipv6_is_judged_as_what_it_carries) {
    for (const char* address :
         {"::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
          "::ffff:a9fe:a9fe", "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b::192.168.1.1",
          "2002:7f00:1::", "2002:a00:1::1", "2002:a9fe:a9fe::1", "2002:c0a8:101::"})
        BOOST_TEST(objection(address) != "", address);
    BOOST_TEST(objection("::ffff:127.0.0.1") == objection("127.0.0.1"));
    BOOST_TEST(objection("64:ff9b::169.254.169.254") == objection("169.254.169.254"));
}

BOOST_AUTO_TEST_CASE(only_one_spelling_is_an_address) {
    for (const char* text : {"", "127.1", "0x7f.0.0.1", "2130706433", "127.0.0.1.", "127.0.0.1:80",
                             " 127.0.0.1", "[::1]", "::1%lo", "1.2.3.4.5", "::ffff:1.2.3", "localhost"})
        BOOST_TEST(!parse_ip_address(text).has_value(), text);
}

BOOST_AUTO_TEST_CASE(an_entry_is_a_network_an_address_or_a_host) {
    for (const char* entry :
         {"10.0.0.0/8", "10.1.2.3", "fd00::/8", "::1", "0.0.0.0/0", "::/0", "hooks.internal",
          "Hooks.Internal", "hooks.internal:8443", "localhost:80", "127.0.0.1:8000", "[::1]:8000", "[::1]"})
        BOOST_TEST(EgressRules::is_entry(entry), entry);
    for (const char* entry :
         {"", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "::/129", "http://hooks.internal",
          "hooks.internal/path", "*.internal", "host:", "host:port", "host:65536", "a b", "[nonsense]:1"})
        BOOST_TEST(!EgressRules::is_entry(entry), entry);
}

BOOST_AUTO_TEST_CASE(a_network_that_is_allowed_is_allowed_in_every_spelling) {
    BOOST_TEST(allows("10.0.0.0/8", "10.255.0.1"));
    BOOST_TEST(allows("10.0.0.0/8", "::ffff:10.1.2.3"));
    BOOST_TEST(allows("10.0.0.0/8", "64:ff9b::10.1.2.3"));
    BOOST_TEST(allows("10.0.0.0/9", "10.127.255.255"));
    BOOST_TEST(!allows("10.0.0.0/9", "10.128.0.0"));
    BOOST_TEST(!allows("10.0.0.0/8", "11.0.0.1") == !objection("11.0.0.1").empty());
    BOOST_TEST(allows("fd12::/16", "fd12:1::1"));
    BOOST_TEST(!allows("fd12::/16", "fd13::1"));
    BOOST_TEST(allows("192.168.1.7", "192.168.1.7"));
    BOOST_TEST(!allows("192.168.1.7", "192.168.1.8"));
    BOOST_TEST(!allows("hooks.internal", "10.0.0.1"));
}

BOOST_AUTO_TEST_CASE(a_host_is_allowed_by_its_name_and_where_one_is_given_its_port) {
    const EgressRules rules({"Hooks.internal", "ci.internal:8443", "[::1]:8000"});
    BOOST_TEST(rules.allows_host("hooks.internal", 80));
    BOOST_TEST(rules.allows_host("hooks.internal", 9000));
    BOOST_TEST(rules.allows_host("ci.internal", 8443));
    BOOST_TEST(!rules.allows_host("ci.internal", 443));
    BOOST_TEST(rules.allows_host("[::1]", 8000));
    BOOST_TEST(!rules.allows_host("evil-hooks.internal", 80));
    BOOST_TEST(!rules.allows_host("hooks.internal.evil.example", 80));
    BOOST_TEST(!EgressRules().allows_host("hooks.internal", 80));
}
