// `epilogue view` as an operator types it: a conversation's history from its id, from the tables, its agent
// server and the topic, and from what is left of them.
#define BOOST_TEST_MODULE view
#include <algorithm>
#include <sstream>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "base/code_point.h"
#include "base/text.h"
#include "tests/agent/fake_agent_server.h"
#include "tests/integration/told_conversation.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"
#include "worker/history/topic_log.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;
using Json = nlohmann::json;

const std::string secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
const std::string uuid = "00000000-0000-0000-0000-0000000000AB";
const std::string id = "000000000000000000000000000000ab";
constexpr const char* nowhere = "127.0.0.1:1";

/// A conversation of two turns, posted, whose server has a third one that the topic never told of.
class ViewEnvironment {
  public:
    ViewEnvironment() {
        script_.user().asks("First words.").user().asks("The key is " + secret + "\x1b[31m and \u202Ered.");
        server_.add(id, script_.log(), script_.status());
        server_.describe(id, R"({"title": "Mend \u001b[31mit"})");
        rig_.add_github(id, "octo/view", 1, "every_turn");
        rig_.publish(script_.records());
        auto worker = rig_.epilogue().worker();
        eventually("both are posted",
                   [&] { return rig_.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'") == 2; });
        worker.process().signal(SIGTERM);
        BOOST_TEST(worker.process().wait(30s).value() == 0);
        script_.user().asks("Third words.").stand_on(server_);
        server_.describe(id, R"({"title": "Mend \u001b[31mit"})");
    }

    Finished view(std::vector<std::string> args) const {
        args.insert(args.begin(), "view");
        return rig_.epilogue().run(args);
    }
    Json document(std::vector<std::string> args) const {
        args.emplace_back("--json");
        const auto done = view(args);
        BOOST_REQUIRE_MESSAGE(done.status == 0, done.err);
        BOOST_TEST(!contains(done.out, secret));
        return Json::parse(done.out);
    }

    const Rig& rig() const { return rig_; }
    FakeAgentServer& server() { return server_; }

  private:
    FakeAgentServer server_{"1.58.0", "agent-key"};
    Rig rig_{"view", 3, {{"agent_server.url", server_.url()}, {"agent_server.session_api_key", "agent-key"}}};
    ConversationScript script_{id};
};
ViewEnvironment& environment() {
    static ViewEnvironment one;
    return one;
}

std::map<std::string, std::string> states_of(const Json& document) {
    std::map<std::string, std::string> states;
    for (const Json& report : document.at("sources")) states[report.at("source")] = report.at("state");
    return states;
}

/// "verdict/from words/from summary/from posts" of each turn.
std::string turns_of(const Json& document) {
    std::string turns;
    const auto said = [](const Json& each) {
        return each.is_null() ? std::string("-") : each.at("from").get<std::string>().substr(0, 1);
    };
    for (const Json& turn : document.at("turns"))
        turns += (turns.empty() ? "" : " ") + said(turn.at("verdict")) + said(turn.at("words")) +
                 said(turn.at("summary")) + std::to_string(turn.at("deliveries").size());
    return turns;
}

}  // namespace

BOOST_AUTO_TEST_CASE(all_is_told_with_where_it_came_from) {
    const Json document = environment().document({id});
    BOOST_TEST((states_of(document) == std::map<std::string, std::string>{
                                           {"tables", "told"}, {"agent_server", "told"}, {"topic", "told"}}));
    BOOST_TEST(document.at("is_incomplete") == false);
    BOOST_TEST(turns_of(document) == "ttt1 ttt1 aaa0");
    BOOST_TEST(document.at("turns").at(2).at("words").at("value") == "Third words.");
    BOOST_TEST(document.at("turns").at(2).at("summary").at("value").at("state") == "made");
    BOOST_TEST(document.at("turns").at(0).at("summary").at("value").at("state") == "frozen");
    BOOST_TEST(document.at("turns").at(0).at("verdict").at("value") == "awaiting_user_input");
    BOOST_TEST((document.at("turns").at(0).at("known_to") == Json{"tables", "agent_server", "topic"}));
    BOOST_TEST(document.at("turns").at(0).at("deliveries").at(0).at("state") == "SENT");
    BOOST_TEST(document.at("title").at("from") == "agent_server");
    BOOST_TEST(document.at("callbacks").size() == 1U);
    const Json& topic = document.at("sources").at(2);
    BOOST_TEST(topic.at("events") == 8);
    BOOST_TEST(topic.at("partitions").size() == 1U);
    BOOST_TEST(topic.at("partitions").at(0).at("partition_id") == document.at("partition_id").at("value"));
}

BOOST_AUTO_TEST_CASE(every_spelling_of_the_id_means_it) {
    for (const std::string& spelling : {id, uuid, std::string("000000000000000000000000000000AB")})
        BOOST_TEST(environment().document({spelling}).at("conversation_id") == id);
}

BOOST_AUTO_TEST_CASE(for_a_person_no_line_is_wide_and_none_acts_on_the_terminal) {
    const auto done = environment().view({id});
    BOOST_TEST(done.status == 0, done.err);
    BOOST_TEST(!contains(done.out, secret));
    BOOST_TEST(!contains(done.out, "\x1b"));
    BOOST_TEST(!contains(done.out, "\u202E"));
    for (const char* part : {"conversation ", "agent_server  told", "Third words.", "octo/view#1", "3 turns"})
        BOOST_TEST(contains(done.out, part), part << " is missing in\n" << done.out);
    std::istringstream lines(done.out);
    for (std::string line; std::getline(lines, line);) {
        BOOST_TEST(epilogue::is_utf8(line));
        BOOST_TEST(epilogue::code_points(line) <= 120U, line);
    }
    const auto newest = environment().view({id, "--limit", "1"});
    BOOST_TEST(contains(newest.out, "2 turns before these: --limit 3"), newest.out);
    BOOST_TEST(!contains(newest.out, "First words."));
}

BOOST_AUTO_TEST_CASE(what_is_away_is_named_and_the_others_tell) {
    auto& environment = ::environment();
    {
        const Json document = environment.document({id, "--set", "database.port=1"});
        BOOST_TEST(states_of(document).at("tables") == "unavailable");
        BOOST_TEST(contains(document.at("sources").at(0).at("why").get<std::string>(), "database"));
        BOOST_TEST(turns_of(document) == "aaa0 aaa0 aaa0");
        BOOST_TEST(document.at("is_incomplete") == true);
    }
    {
        const Json document = environment.document({id, "--set", std::string("kafka.brokers=") + nowhere});
        BOOST_TEST(states_of(document).at("topic") == "unavailable");
        BOOST_TEST(contains(document.at("sources").at(2).at("why").get<std::string>(), nowhere));
        BOOST_TEST(turns_of(document) == "ttt1 ttt1 aaa0");
    }
    {
        const Json document = environment.document({id, "--agent-url", std::string("http://") + nowhere});
        BOOST_TEST(states_of(document).at("agent_server") == "unavailable");
        BOOST_TEST(turns_of(document) == "ttt1 ttt1");
    }
    {
        const Json document = environment.document(
            {id, "--set", "database.port=1", "--agent-url", std::string("http://") + nowhere});
        BOOST_TEST(turns_of(document) == "ttt0 ttt0");
        BOOST_TEST(document.at("turns").at(0).at("words").at("from") == "topic");
    }
    const auto done = environment.view({id, "--set", std::string("kafka.brokers=") + nowhere});
    BOOST_TEST(done.status == 0);
    BOOST_TEST(contains(done.err, "a source is missing"), done.err);
}

BOOST_AUTO_TEST_CASE(a_server_that_refuses_the_key_or_does_not_answer_is_named) {
    auto& environment = ::environment();
    const Json refused =
        environment.document({id, "--agent-url", environment.server().url() + "/", "--topic-seconds", "0"});
    BOOST_TEST(states_of(refused).at("agent_server") == "unavailable");
    BOOST_TEST(contains(refused.at("sources").at(1).at("why").get<std::string>(), "session key"));
    BOOST_TEST(states_of(refused).at("topic") == "not_asked");
}

BOOST_AUTO_TEST_CASE(an_id_that_nobody_knows_is_a_failure_that_says_what_to_do) {
    const auto done = environment().view({"unheard-of"});
    BOOST_TEST(done.status == 1);
    BOOST_TEST(done.out.empty());
    for (const char* part : {"no source knows conversation unheard-of", "callbacks list", "--agent-url"})
        BOOST_TEST(contains(done.err, part), done.err);
    const auto doubtful =
        environment().view({"unheard-of", "--json", "--set", std::string("kafka.brokers=") + nowhere});
    BOOST_TEST(doubtful.status == 69);
    BOOST_TEST(contains(doubtful.err, "topic: unavailable"), doubtful.err);
    BOOST_TEST(environment().view({""}).status == 64);
    BOOST_TEST(environment().view({id, "--agent-url", "no url"}).status == 64);
}

BOOST_AUTO_TEST_CASE(nothing_is_changed) {
    const auto& rig = environment().rig();
    const auto state = [&] {
        return rig.query(
            "SELECT (SELECT GROUP_CONCAT(conversation_id, generation) FROM conversations), (SELECT COUNT(*) "
            "FROM catch_ups), (SELECT GROUP_CONCAT(delivery_id, state, attempt) FROM deliveries)");
    };
    const auto before = state();
    environment().document({id});
    environment().view({"unheard-of"});
    BOOST_TEST((state() == before));
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM conversations WHERE conversation_id='unheard-of'") == 0);
}

BOOST_AUTO_TEST_CASE(the_topic_is_read_for_so_long_and_says_where_it_stopped) {
    const auto& rig = environment().rig();
    const epilogue::KafkaSettings settings{broker_of_this_program().bootstrap(), "view-test", {}, nullptr};
    const epilogue::ConversationId wanted(id);
    const auto read = [&](const epilogue::TopicLimits& limits) {
        auto log = epilogue::read_topic(settings, rig.name(), wanted, {}, limits);
        BOOST_REQUIRE_MESSAGE(log, (log ? "" : log.error().why));
        return *log;
    };
    const auto whole = read({});
    BOOST_TEST(whole.cut == "");
    BOOST_TEST(whole.entries.size() == 8U);
    epilogue::TopicLimits few_records;
    few_records.max_records = 2;
    const auto cut = read(few_records);
    BOOST_TEST(cut.entries.size() == 2U);
    BOOST_TEST(cut.parts.front().to < cut.parts.front().end);
    BOOST_TEST(contains(cut.cut, "up to offset"), cut.cut);
    epilogue::TopicLimits few_events;
    few_events.max_events = 4;
    BOOST_TEST(read(few_events).cut == "4 more events were left out");
    // From a time on that is later than all of it.
    const auto later =
        epilogue::read_topic(settings, rig.name(), wanted, {std::nullopt, epilogue::system_now() + 24h}, {});
    BOOST_TEST(later->entries.empty());
    BOOST_TEST(later->cut == "");
}

BOOST_AUTO_TEST_CASE(records_under_another_spelling_of_its_key_are_found) {
    const auto& rig = environment().rig();
    const std::string dashed = "00000000-0000-0000-0000-0000000000cd";
    ConversationScript script("000000000000000000000000000000cd");
    auto records = script.user().asks("Dashed words.").records();
    for (Record& record : records) record.key = dashed;
    rig.publish(records);
    Json document;
    eventually("its end has settled", [&] {
        document = environment().document({script.id()});
        return turns_of(document) == "ttt0";
    });
    BOOST_TEST(document.at("sources").at(0).at("state") == "unknown");
    BOOST_TEST(document.at("turns").at(0).at("words").at("value") == "Dashed words.");
}
