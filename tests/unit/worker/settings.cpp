#include "worker/settings.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#define BOOST_TEST_MODULE worker_settings
#include <boost/test/unit_test.hpp>

#include "sinks/slack/slack_section.h"
#include "worker/sources/llm_section.h"
#include "worker/sources/summary_section.h"

namespace {

using namespace epilogue;

}  // namespace

BOOST_AUTO_TEST_CASE(each_sender_has_a_database_session_that_is_kept_open_and_others_have_theirs) {
    Config config;
    for (const int senders : {1, 32, 1024}) {
        config.worker.senders = senders;
        // Eight summarisers, eight that ask agent servers, and what sweeps, adopts, removes and counts.
        BOOST_TEST(post_sessions(config) >= static_cast<std::size_t>(senders) + 8 + 8 + 3);
    }
}

BOOST_AUTO_TEST_CASE(a_running_worker_takes_what_it_can_and_names_each_section_that_needs_a_restart) {
    const Config now;
    Config next;
    next.log.level = LogLevel::debug;
    next.worker.api_key = Secret("new");
    next.database.password = Secret("new");
    next.extensions.edit<SlackSection>().api_url = "https://new";
    const Reload taken = reloaded(now, next);
    BOOST_TEST((taken.config == next));
    BOOST_TEST(taken.need_restart.empty());

    const std::vector<std::pair<std::string, std::function<void(Config&)>>> others = {
        {"kafka", [](Config& config) { config.kafka.topic = "new"; }},
        {"database", [](Config& config) { config.database.name = "new"; }},
        {"security", [](Config& config) { config.security.keys = {Secret("new")}; }},
        {"worker", [](Config& config) { config.worker.senders = 7; }},
        {"summary", [](Config& config) { config.extensions.edit<SummarySection>().sources = {"digest"}; }},
        {"llm", [](Config& config) { config.extensions.edit<LlmSection>().models["new"].model = "new"; }},
        {"egress", [](Config& config) { config.egress.allow = {"new"}; }},
        {"agent_server", [](Config& config) { config.agent_server.url = "https://new"; }},
        {"retention", [](Config& config) { config.retention.bodies = std::chrono::days{1}; }},
    };
    for (const auto& [section, change] : others) {
        Config changed;
        change(changed);
        const Reload left = reloaded(now, changed);
        BOOST_TEST((left.config == now), section);
        BOOST_TEST(left.need_restart == std::vector{section}, boost::test_tools::per_element());
    }
}
