#define BOOST_TEST_MODULE agent_directory
#include "worker/agents/agent_directory.h"

#include <boost/test/unit_test.hpp>

#include "worker/store/agent_endpoint_rows.h"

namespace {

using namespace epilogue;

const std::vector<Secret> keys{Secret(std::string(32, 'k'))};

/// A table of endpoints, and how often it was asked.
struct Table {
    std::map<ConversationId, AgentEndpoint> rows;
    bool is_down = false;
    int asked = 0;

    void add(const std::string& name, const std::string& url, const std::string& key = "") {
        const ConversationId id(name);
        rows[id] = {id, url, key.empty() ? "" : session_key_sealer(keys).seal(Secret(key), id).value()};
    }
    AgentDirectory directory(AgentDirectoryRules rules = {}) {
        return AgentDirectory(
            [this](const ConversationId& id) -> Result<std::optional<AgentEndpoint>> {
                ++asked;
                if (is_down) return retryable("the database is down");
                const auto found = rows.find(id);
                return found == rows.end() ? std::optional<AgentEndpoint>() : std::optional(found->second);
            },
            session_key_sealer(keys), std::move(rules));
    }
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_conversation_has_its_own_server_else_the_default_else_none) {
    Table table;
    table.add("own", "https://agents.example.com/a", "the key");
    table.add("open", "http://127.0.0.1:8000");
    auto directory = table.directory({"http://default:3000", Secret("default key"), {}});
    const auto own = directory.server_of(ConversationId("own")).value();
    BOOST_TEST(own->address().url() == "https://agents.example.com:443/a");
    BOOST_TEST(own->session_key().reveal() == "the key");
    BOOST_TEST(directory.server_of(ConversationId("open")).value()->session_key().empty());
    const auto other = directory.server_of(ConversationId("other")).value();
    BOOST_TEST(other->address().url() == "http://default:3000");
    BOOST_TEST(other->session_key().reveal() == "default key");
    BOOST_TEST(table.directory().server_of(ConversationId("other")).value() == nullptr);
}

BOOST_AUTO_TEST_CASE(an_address_in_a_row_is_judged_and_that_of_the_configuration_is_not) {
    Table table;
    table.add("own", "http://127.0.0.1:1");
    table.add("named", "http://127.0.0.2:1");
    AgentDirectoryRules rules;
    rules.default_url = "http://127.0.0.2:1";
    auto directory = table.directory(rules);
    const auto own = directory.server_of(ConversationId("own")).value();
    BOOST_REQUIRE(own->address().egress != nullptr);
    const auto barred = own->send({.path = "/server_info"});
    BOOST_REQUIRE(!barred);
    BOOST_TEST(barred.error().text.find("add \"127.0.0.1\" to [egress] allow") != std::string::npos,
               barred.error().text);
    for (const char* id : {"named", "other"})
        BOOST_TEST(directory.server_of(ConversationId(id)).value()->address().egress == nullptr, id);
}

BOOST_AUTO_TEST_CASE(one_server_serves_all_who_have_its_address_and_key) {
    Table table;
    table.add("a", "http://one:1", "k");
    table.add("b", "http://one:1", "k");
    table.add("c", "http://one:1", "another");
    auto directory = table.directory();
    BOOST_TEST(directory.server_of(ConversationId("a")).value() ==
               directory.server_of(ConversationId("b")).value());
    BOOST_TEST(directory.server_of(ConversationId("a")).value() !=
               directory.server_of(ConversationId("c")).value());
}

BOOST_AUTO_TEST_CASE(an_address_that_was_changed_is_seen) {
    Table table;
    table.add("a", "http://one:1");
    auto directory = table.directory();
    BOOST_TEST(directory.server_of(ConversationId("a")).value()->address().host == "one");
    table.add("a", "http://two:1");
    BOOST_TEST(directory.server_of(ConversationId("a")).value()->address().host == "two");
}

BOOST_AUTO_TEST_CASE(many_servers_do_not_stay_for_ever) {
    Table table;
    for (int i = 1; i <= 1000; ++i) table.add(std::to_string(i), "http://one:" + std::to_string(i));
    auto directory = table.directory();
    const std::weak_ptr<const agent::AgentServer> first = directory.server_of(ConversationId("1")).value();
    const auto held = directory.server_of(ConversationId("2")).value();
    for (int i = 3; i <= 1000; ++i)
        BOOST_TEST(directory.server_of(ConversationId(std::to_string(i))).value() != nullptr);
    BOOST_TEST(first.expired());
    BOOST_TEST(held->address().port == "2");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_used_is_poison_and_shows_no_secret) {
    Table table;
    table.add("moved", "http://one:1", "the key");
    table.rows[ConversationId("here")] =
        table.rows[ConversationId("moved")];  // a sealed key in the row of another conversation
    table.rows[ConversationId("damaged")] = {ConversationId("damaged"), "http://one:1", "nothing sealed"};
    table.add("no address", "one:1", "");
    auto directory = table.directory({"http://default:3000", Secret(), {}});
    for (const char* id : {"here", "damaged", "no address"}) {
        const auto server = directory.server_of(ConversationId(id));
        BOOST_REQUIRE(!server);
        BOOST_TEST((server.error().remedy == Remedy::poison), id);
        BOOST_TEST(server.error().text.find("the key") == std::string::npos, server.error().text);
    }
    table.is_down = true;
    BOOST_TEST((directory.server_of(ConversationId("moved")).error().remedy == Remedy::retry));
}
