#define BOOST_TEST_MODULE base
#include <boost/test/unit_test.hpp>
#include <pthread.h>

#include "base/ids.h"
#include "base/instant.h"
#include "base/text.h"
#include "base/thread_name.h"

using namespace epilogue;

BOOST_AUTO_TEST_CASE(uuids_mean_the_same_with_and_without_dashes_and_in_either_case) {
    const std::string bare = "cb3cc4fde550476e97c6e542f1e6da9b";
    BOOST_TEST(normalise_conversation_id("CB3CC4FD-E550-476E-97C6-E542F1E6DA9B") == bare);
    BOOST_TEST(normalise_conversation_id("CB3CC4FDE550476E97C6E542F1E6DA9B") == bare);
    BOOST_TEST(normalise_conversation_id("Team-Alpha") == "Team-Alpha");
    BOOST_TEST(normalise_conversation_id("GB3CC4FD-E550-476E-97C6-E542F1E6DA9B") ==
               "GB3CC4FD-E550-476E-97C6-E542F1E6DA9B");
}

BOOST_AUTO_TEST_CASE(uuid_v5_follows_rfc_4122) {
    // The example of Python's documentation: uuid5(NAMESPACE_DNS, 'python.org').
    BOOST_TEST(uuid_v5("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "python.org") ==
               "886313e1-3b8a-5372-9b90-0c9aee199e5d");
    BOOST_CHECK_THROW(uuid_v5("nonsense", "x"), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(digests_equal_the_published_vectors) {
    BOOST_TEST(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    // RFC 4231, test case 2.
    BOOST_TEST(hmac_sha256_hex("Jefe", "what do ya want for nothing?") ==
               "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    BOOST_TEST(crc32_of("123456789") == 0xCBF43926U);
}

BOOST_AUTO_TEST_CASE(instants_are_read_and_written_to_the_microsecond) {
    const auto at = parse_instant("2026-11-21T08:13:42.407602");
    BOOST_REQUIRE(at.has_value());
    BOOST_TEST(to_iso(*at) == "2026-11-21T08:13:42.407602Z");
    BOOST_TEST(to_sql(*at) == "2026-11-21 08:13:42.407602");
    BOOST_TEST(to_iso(*parse_instant("2026-11-21 10:13:42+02:00")) == "2026-11-21T08:13:42.000000Z");
    BOOST_TEST(to_iso(*parse_instant("2026-11-21T08:13:42.1234567Z")) == "2026-11-21T08:13:42.123456Z");
}

BOOST_AUTO_TEST_CASE(what_is_no_time_is_refused) {
    for (const char* text :
         {"", "2026-11-21", "2026-13-01T00:00:00", "2026-02-30T00:00:00", "2026-11-21T25:00:00",
          "2026-11-21T08:13:42.", "2026-11-21T08:13:42 tomorrow", "-026-11-21T08:13:42"})
        BOOST_TEST(!parse_instant(text).has_value(), text);
}

BOOST_AUTO_TEST_CASE(only_well_formed_utf8_passes) {
    for (const std::string_view good : {"", "plain", "ü€🚀", "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"})
        BOOST_TEST(is_utf8(good));
    for (const std::string_view bad :
         {"\x80", "\xC0\xAF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xC3", "\xF0\x9F\x9A"})
        BOOST_TEST(!is_utf8(bad), to_hex(bad));
}

BOOST_AUTO_TEST_CASE(a_cut_never_ends_inside_a_code_point) {
    BOOST_TEST(prefix_of("a🚀b", 1) == "a");
    BOOST_TEST(prefix_of("a🚀b", 4) == "a");
    BOOST_TEST(prefix_of("a🚀b", 5) == "a🚀");
    BOOST_TEST(prefix_of("abc", 10) == "abc");
    BOOST_TEST(code_points("a🚀b") == 3U);
}

BOOST_AUTO_TEST_CASE(splitting_trims_and_drops_empty_parts) {
    const auto parts = split(" finished, error ,,", ',');
    BOOST_REQUIRE(parts.size() == 2U);
    BOOST_TEST(parts[0] == "finished");
    BOOST_TEST(parts[1] == "error");
    BOOST_TEST(replaced("a@b@", "@", "(at)") == "a(at)b(at)");
}

BOOST_AUTO_TEST_CASE(a_thread_bears_its_name_and_hands_it_on) {
    std::string own(16, '\0');
    std::string inherited = own;
    const auto name_into = [](std::string& name) {
        pthread_getname_np(pthread_self(), name.data(), name.size());
    };
    named_thread("fifteen letters", [&](const auto&) {
        name_into(own);
        std::thread([&] { name_into(inherited); }).join();
    }).join();
    BOOST_TEST(own.c_str() == "fifteen letters");
    BOOST_TEST(inherited.c_str() == "fifteen letters");
}
