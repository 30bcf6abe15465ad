// The `topic` sink on a real broker.
#define BOOST_TEST_MODULE outcomes
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/instant.h"
#include "sinks/port/topic_request.h"
#include "tests/support/eventually.h"
#include "tests/support/kafka_records.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"
#include "worker/deliver/topic_client.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;
using epilogue::HttpAnswer;
using epilogue::HttpOutcome;
using epilogue::HttpRequest;
using epilogue::TopicClient;
using epilogue::TopicRecord;
using Json = nlohmann::json;

HttpAnswer answer(TopicClient& client, HttpRequest request, std::chrono::milliseconds timeout = 20s) {
    request.timeout = timeout;
    return client.answer(request);
}

TopicRecord record_to(const std::string& topic, const std::string& key, const std::string& value) {
    return {.topic = topic, .key = key, .delivery_id = "d-" + key, .value = value};
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_turn_is_one_record_under_its_conversations_key) {
    const std::string topic = "outcomes-of-turns";
    broker_of_this_program().create_topic(topic, 3);
    const Rig rig("turns", 1, {{"outcomes.topic", topic}});
    rig.add_callback({"--conversation", "recorded", "--processor", "topic", "--mode", "every_turn"});
    const auto worker = rig.epilogue().worker();
    rig.publish(V0Conversation("recorded")
                    .user("Go.")
                    .agent_finishes("The first is done.")
                    .user("More.")
                    .agent_finishes("The second is done.")
                    .records());
    eventually("both are sent",
               [&] { return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'") == 2; });
    const auto records = read_topic(broker_of_this_program().bootstrap(), topic);
    BOOST_REQUIRE(records.size() == 2U);
    const char* const words[] = {"The first is done.", "The second is done."};
    for (std::size_t i = 0; i < records.size(); ++i) {
        BOOST_TEST(records[i].key.value() == "recorded");
        const Json body = Json::parse(records[i].value.value());
        BOOST_TEST(body.at("type") == "conversation.turn_ended");
        BOOST_TEST(body.at("data").at("conversation") == "recorded");
        BOOST_TEST(body.at("data").at("verdict") == "finished");
        BOOST_TEST(contains(body.at("data").at("summary").at("text").get<std::string>(), words[i]));
        BOOST_TEST(records[i].headers.at("delivery-id") == body.at("data").at("delivery").get<std::string>());
        BOOST_TEST(rig.number("SELECT COUNT(*) FROM deliveries WHERE delivery_id='" +
                              records[i].headers.at("delivery-id") + "'") == 1);
    }
}

BOOST_AUTO_TEST_CASE(a_record_whose_acknowledgement_was_lost_is_found_at_the_topics_end) {
    const std::string topic = "outcomes-lost";
    broker_of_this_program().create_topic(topic, 3);
    TopicClient client({broker_of_this_program().bootstrap(), "the-tests", {}}, 20s);
    const auto before = epilogue::system_now() - 5min;
    const auto search = [&](const TopicRecord& record, epilogue::Instant since) {
        const auto found = answer(client, topic_search(record, since));
        BOOST_TEST((found.outcome == HttpOutcome::answered), found.cause);
        return found.status == epilogue::found_status;
    };
    BOOST_TEST(!search(record_to(topic, "c0", "value"), before));
    for (int i = 0; i < 10; ++i) {
        const auto record = record_to(topic, "c" + std::to_string(i), "value");
        const auto written = answer(client, topic_write(record));
        BOOST_TEST((written.outcome == HttpOutcome::answered), written.cause);
        BOOST_TEST(search(record, before));
    }
    BOOST_TEST(!search(record_to(topic, "c10", "value"), before));
    BOOST_TEST(!search(record_to(topic, "c0", "another"), before));
    BOOST_TEST(!search(record_to(topic, "c0", "value"), epilogue::system_now() + 5min));
    BOOST_TEST(read_topic(broker_of_this_program().bootstrap(), topic).size() == 10U);
}

BOOST_AUTO_TEST_CASE(a_broker_that_is_away_says_nothing_about_the_record) {
    TopicClient client({"127.0.0.1:1", "the-tests", {}}, 2s);
    const auto record = record_to("outcomes-away", "c", "value");
    const auto written = answer(client, topic_write(record), 2s);
    BOOST_TEST((written.outcome == HttpOutcome::uncertain), written.cause);
    BOOST_TEST(!written.cause.empty());
    const auto searched = answer(client, topic_search(record, epilogue::system_now()), 2s);
    BOOST_TEST((searched.outcome == HttpOutcome::uncertain), searched.cause);
    BOOST_TEST((answer(client, topic_write(record), 10ms).outcome == HttpOutcome::not_sent));
}
