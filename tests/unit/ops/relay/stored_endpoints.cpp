#define BOOST_TEST_MODULE stored_endpoints
#include "ops/relay/stored_endpoints.h"

#include <vector>

#include <boost/test/unit_test.hpp>

using namespace epilogue;

namespace {

relay::AppConversation at(const std::string& url, const std::string& key, const std::string& id = "one") {
    relay::AppConversation conversation;
    conversation.id = ConversationId(id);
    conversation.agent_url = url;
    conversation.session_key = Secret(key);
    return conversation;
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_address_is_stored_once_and_again_when_it_or_its_key_is_another_one) {
    std::vector<std::string> saved;
    bool is_away = false;
    StoredEndpoints endpoints([&](const relay::AppConversation& each) -> Result<void> {
        if (is_away) return retryable("the database is away");
        saved.push_back(each.id.text() + " " + each.agent_url + " " + each.session_key.reveal());
        return {};
    });
    for (int i = 0; i < 2; ++i) endpoints.note(at("http://a", "k1"));
    endpoints.note(at("http://a", "k1", "two"));
    // A sandbox that was started anew at the same address has another key.
    for (int i = 0; i < 2; ++i) endpoints.note(at("http://a", "k2"));
    endpoints.note(at("http://b", "k2"));
    is_away = true;
    endpoints.note(at("http://c", "k2"));
    is_away = false;
    endpoints.note(at("http://c", "k2"));
    BOOST_TEST(saved == (std::vector<std::string>{"one http://a k1", "two http://a k1", "one http://a k2",
                                                  "one http://b k2", "one http://c k2"}),
               boost::test_tools::per_element());
}
