#define BOOST_TEST_MODULE sender_keys
#include "agent/relay/webhook/sender_keys.h"

#include <boost/test/unit_test.hpp>

using namespace epilogue;
using namespace epilogue::relay;

BOOST_AUTO_TEST_CASE(only_a_whole_key_that_is_configured_lets_in) {
    const SenderKeys keys({Secret("first"), Secret("second old")});
    BOOST_TEST(keys.sender_of("first")->number == 0U);
    BOOST_TEST(keys.sender_of("second")->number == 1U);
    BOOST_TEST(keys.sender_of("old")->number == 1U);
    for (const char* wrong : {"", " ", "firs", "first ", "First", "second old"})
        BOOST_TEST(!keys.sender_of(wrong), wrong);
}

BOOST_AUTO_TEST_CASE(without_a_key_nothing_lets_in) {
    BOOST_TEST(SenderKeys({}).empty());
    BOOST_TEST(SenderKeys({Secret(""), Secret("  ")}).empty());
    BOOST_TEST(!SenderKeys({Secret("")}).sender_of(""));
}

BOOST_AUTO_TEST_CASE(the_digest_is_not_the_key) {
    const auto sender = SenderKeys({Secret("first")}).sender_of("first");
    BOOST_TEST(sender->key.size() == 64U);
    BOOST_TEST(sender->key.find("first") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_conversation_is_its_senders_through_a_rotation_of_keys_and_no_other_senders) {
    const SenderKeys before({Secret("a"), Secret("b")});
    const SenderKeys during({Secret("a2 a"), Secret("b")});
    const SenderKeys after({Secret("a2"), Secret("b")});
    const KeyDigest owner = before.sender_of("a")->key;
    BOOST_TEST((before.ownership(*before.sender_of("a"), owner) == Ownership::own));
    BOOST_TEST((before.ownership(*before.sender_of("b"), owner) == Ownership::others));
    BOOST_TEST((during.ownership(*during.sender_of("a"), owner) == Ownership::own));
    BOOST_TEST((during.ownership(*during.sender_of("a2"), owner) == Ownership::inherited));
    BOOST_TEST((during.ownership(*during.sender_of("b"), owner) == Ownership::others));
    BOOST_TEST((after.ownership(*after.sender_of("a2"), owner) == Ownership::inherited));
}
