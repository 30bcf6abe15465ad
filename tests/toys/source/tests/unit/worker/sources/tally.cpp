#define BOOST_TEST_MODULE tally
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "base/config_keys.h"
#include "sinks/processor.h"
#include "sinks/registry.h"
#include "worker/core/summarise.h"
#include "worker/sources/registry.h"

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

const ConfigSchema& schema() {
    static const ConfigSchema all({.summary = summary_sections(), .sinks = sink_sections()});
    return all;
}

Config loaded() {
    const auto config = load_config(
        std::nullopt, {{"EPILOGUE_SUMMARY_SOURCES", "tally,digest"}, {"EPILOGUE_TALLY_NOUN", "steps"}},
        schema());
    BOOST_REQUIRE_MESSAGE(config.has_value(), (config ? "" : config.error().text));
    return *config;
}

TurnEnd turn_with(int steps, Verdict verdict = Verdict::finished) {
    TurnEnd turn;
    turn.turn_key = TurnKey("t1");
    turn.verdict = verdict;
    turn.status_event = "s1";
    turn.final_message = "The agent's own words.";
    for (int i = 0; i < steps; ++i) note_step(turn.digest, "ls", i + 1);
    return turn;
}

/// The lines of the log that the summary's post becomes.
std::vector<std::string> posted(const Summary& summary) {
    std::vector<std::string> lines;
    const auto sinks = make_sinks({});
    Sink& sink = *sinks.at("log");
    Post post;
    post.delivery_id = DeliveryId("d-1");
    post.target = decode_processor("log", "{}").value().target;
    post.body = sink.render(summary, post.delivery_id);
    auto dialogue = sink.create(post);
    lines.push_back(dialogue.request()->body);
    return lines;
}

}  // namespace

BOOST_AUTO_TEST_CASE(its_words_are_posted_through_the_registry_with_the_settings_of_the_file) {
    const SummaryRules rules = summary_rules(loaded().extensions);
    const MadeSummary made = summarise(turn_with(3), ConversationId("c1"), rules);
    BOOST_TEST(made.source == "tally");
    BOOST_TEST(!made.may_ask);
    const auto lines = posted(made.summary);
    BOOST_REQUIRE(lines.size() == 1U);
    BOOST_TEST(lines[0].find("Ran 3 steps.") != std::string::npos, lines[0]);
    BOOST_TEST(summarise(turn_with(0), ConversationId("c1"), rules).source == "digest");
}

BOOST_AUTO_TEST_CASE(it_is_asked_where_it_may_know_more) {
    const Config config = loaded();
    const MadeSummary made =
        summarise(turn_with(0, Verdict::stuck), ConversationId("c1"), summary_rules(config.extensions));
    BOOST_TEST(made.may_ask);
    const auto sources = make_asking_sources({config.extensions, nullptr});
    BOOST_TEST(sources->server_of(ConversationId("c1")).value() == "tally");
    const FinalMessageReply reply =
        sources->ask({{ConversationId("c1"), TurnKey("t1")}, "s1", true, made.source}, 10s, {});
    BOOST_TEST(reply.words == "No steps in t1.");
    BOOST_TEST(reply.source == "tally");
}

BOOST_AUTO_TEST_CASE(its_name_is_among_those_of_the_setting) {
    BOOST_TEST(example_toml(schema()).find("a list of \"final\", \"tally\", ") != std::string::npos);
    const auto refused = load_config(std::nullopt, {{"EPILOGUE_SUMMARY_SOURCES", "talli"}}, schema());
    BOOST_REQUIRE(!refused.has_value());
    BOOST_TEST(refused.error().text.starts_with(
        "EPILOGUE_SUMMARY_SOURCES: expected a list of \"final\", \"tally\", "));
    BOOST_TEST(refused.error().text.ends_with("got \"talli\""));
}
