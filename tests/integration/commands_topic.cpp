// `epilogue topic create`.
#define BOOST_TEST_MODULE commands_topic
#include <boost/test/unit_test.hpp>

#include "base/io/kafka_topic.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;
using epilogue::TopicFacts;

std::optional<TopicFacts> facts_of(const std::string& topic) {
    const auto asked = epilogue::topic_facts({broker_of_this_program().bootstrap(), "the-tests", {}},
                                             {topic, "", ""}, std::chrono::seconds(10));
    return asked ? *asked : std::nullopt;
}

/// What the broker says of a topic, when each of so many partitions has a leader.
TopicFacts facts_of(const std::string& topic, std::size_t partitions) {
    return *eventually("the topic has its partitions", [&] {
        auto facts = facts_of(topic);
        return facts && facts->partitions.size() == partitions ? facts : std::nullopt;
    });
}

Epilogue epilogue_on(const std::string& topic, const Settings& more = {}) {
    return Epilogue(merged({settings_for(broker_of_this_program(), topic, "g"), more}));
}

BOOST_AUTO_TEST_CASE(a_topic_is_made_that_takes_an_agents_largest_event) {
    const auto done = epilogue_on("made").run({"topic", "create"});
    BOOST_TEST(done.status == 0, done.err);
    BOOST_TEST(contains(done.out, "made: made (partitions: 12, kept for 30 days"), done.out);
    const auto topic = facts_of("made", 12);
    BOOST_TEST(topic.config.at("max.message.bytes") == "20971520");
    BOOST_TEST(topic.config.at("retention.ms") == "2592000000");
    BOOST_TEST(topic.config.at("cleanup.policy") == "delete");
}

BOOST_AUTO_TEST_CASE(partitions_size_and_retention_are_the_users_to_say) {
    const auto done = epilogue_on("as-told", {{"kafka.dead_letter_topic", "letters-as-told"}})
                          .run({"topic", "create", "--partitions", "3", "--replicas", "1", "--retention-days",
                                "7", "--max-bytes", "2000000"});
    BOOST_TEST(done.status == 0, done.err);
    for (const char* name : {"as-told", "letters-as-told"}) {
        const auto topic = facts_of(name, 3);
        BOOST_TEST(topic.config.at("max.message.bytes") == "2000000");
        BOOST_TEST(topic.config.at("retention.ms") == "604800000");
    }
}

BOOST_AUTO_TEST_CASE(the_topic_of_outcomes_is_made_too_where_one_is_named) {
    const auto done = epilogue_on("with-outcomes", {{"outcomes.topic", "the-outcomes"}})
                          .run({"topic", "create", "--partitions", "2", "--retention-days", "7"});
    BOOST_TEST(done.status == 0, done.err);
    for (const char* name : {"with-outcomes", "the-outcomes"})
        BOOST_TEST(facts_of(name, 2).config.at("retention.ms") == "604800000");
}

BOOST_AUTO_TEST_CASE(a_topic_that_is_there_stays_as_it_is) {
    broker_of_this_program().create_topic("there", 2);
    const auto done = epilogue_on("there").run({"topic", "create", "--partitions", "5"});
    BOOST_TEST(done.status == 0, done.err);
    BOOST_TEST(contains(done.out, "there: is there already"), done.out);
    (void)facts_of("there", 2);
}

BOOST_AUTO_TEST_CASE(what_the_broker_refuses_is_said_with_its_reason) {
    const auto replicas = epilogue_on("too-many").run({"topic", "create", "--replicas", "7"});
    BOOST_TEST(replicas.status == 1);
    BOOST_TEST(contains(replicas.err, "too-many"), replicas.err);
    BOOST_TEST(contains(replicas.err, "replication factor"), replicas.err);
    BOOST_TEST(!facts_of("too-many").has_value());
    BOOST_TEST(epilogue_on("none").run({"topic", "create", "--partitions", "0"}).status == 64);
    const Epilogue lonely(Settings{{"kafka.brokers", std::string("127.0.0.1:9")}});
    const auto unreachable = lonely.run({"topic", "create"});
    BOOST_TEST(unreachable.status == 69);
    BOOST_TEST(contains(unreachable.err, "127.0.0.1:9"), unreachable.err);
}

}  // namespace
