#define BOOST_TEST_MODULE sealed
#include "base/sealed.h"

#include <boost/test/unit_test.hpp>

namespace {

using namespace epilogue;

const Secret old_key(std::string(32, 'o'));
const Secret new_key_of_all(std::string(100, 'n'));
const Secret secret("session-key-1");

std::string text_or_error(const Result<Secret>& opened) {
    return opened ? opened->reveal() : "error: " + opened.error().text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_sealed_opens_and_shows_nothing) {
    const Sealer sealer({old_key}, "test");
    for (const std::string& plain :
         {std::string("session-key-1"), std::string(), std::string("a\0b", 3), std::string(5000, 'x')}) {
        const auto sealed = sealer.seal(Secret(plain), "c1");
        BOOST_REQUIRE(sealed.has_value());
        BOOST_TEST((plain.empty() || sealed->find(plain) == std::string::npos));
        BOOST_TEST(text_or_error(sealer.open(*sealed, "c1")) == plain);
    }
}

BOOST_AUTO_TEST_CASE(the_same_secret_is_never_sealed_the_same) {
    const Sealer sealer({old_key}, "test");
    BOOST_TEST(sealer.seal(secret, "c1").value() != sealer.seal(secret, "c1").value());
}

BOOST_AUTO_TEST_CASE(the_first_key_seals_and_all_of_them_open) {
    const std::string before = Sealer({old_key}, "test").seal(secret, "c1").value();
    const Sealer rotated({new_key_of_all, old_key}, "test");
    BOOST_TEST(text_or_error(rotated.open(before, "c1")) == secret.reveal());
    const std::string after = rotated.seal(secret, "c1").value();
    BOOST_TEST(text_or_error(Sealer({new_key_of_all}, "test").open(after, "c1")) == secret.reveal());
    BOOST_TEST(text_or_error(Sealer({old_key}, "test").open(after, "c1")) ==
               "error: none of [security] keys opens a sealed secret");
}

BOOST_AUTO_TEST_CASE(it_opens_neither_elsewhere_nor_for_another_purpose_nor_changed) {
    const Sealer sealer({old_key}, "test");
    const std::string sealed = sealer.seal(secret, "c1").value();
    BOOST_TEST(!sealer.open(sealed, "c2").has_value());
    BOOST_TEST(!Sealer({old_key}, "another").open(sealed, "c1").has_value());
    for (std::size_t place = 0; place < sealed.size(); ++place) {
        std::string changed = sealed;
        changed[place] = changed[place] == 'A' ? 'B' : 'A';
        BOOST_TEST(!sealer.open(changed, "c1").has_value(), place);
        BOOST_TEST(!sealer.open(sealed.substr(0, place), "c1").has_value(), place);
    }
}

BOOST_AUTO_TEST_CASE(without_keys_nothing_is_sealed_and_the_error_says_what_is_missing) {
    const Sealer none({}, "test");
    BOOST_TEST(!none.has_key());
    const auto sealed = none.seal(secret, "c1");
    BOOST_REQUIRE(!sealed.has_value());
    BOOST_TEST(sealed.error().text.starts_with("[security] keys is empty"));
    BOOST_TEST(!none.open(Sealer({old_key}, "test").seal(secret, "c1").value(), "c1").has_value());
}
