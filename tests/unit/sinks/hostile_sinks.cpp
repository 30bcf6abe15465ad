#define BOOST_TEST_MODULE hostile_sinks
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/io/http.h"
#include "ops/fake_platform/fake_platform_server.h"
#include "sinks/format/marker.h"
#include "sinks/github/github_section.h"
#include "sinks/github/github_target.h"
#include "sinks/gitlab/gitlab_section.h"
#include "sinks/gitlab/gitlab_target.h"
#include "sinks/jira/wiki_markup.h"
#include "sinks/registry.h"
#include "sinks/slack/mrkdwn.h"
#include "sinks/slack/slack_section.h"
#include "sinks/slack/slack_target.h"
#include "tests/unit/sinks/growth.h"
#include "tests/unit/sinks/hostile.h"
#include "tests/unit/sinks/sink_calls.h"

using namespace epilogue;

namespace {

const DeliveryId id{"2b4e1c9a-0d5f-5a53-9c55-0a7c3f6f1b11"};

struct Place {
    std::string sink;
    Target target;
};

const std::vector<Place>& places() {
    static const std::vector<Place> all{
        {"github",
         GithubTarget{.repo = "octo/cat", .number = 7, .review_comment_id = {}, .installation_id = {}}},
        {"gitlab", GitlabTarget{.project = "4455", .iid = 7, .merge_request = false, .discussion_id = {}}},
        {"slack", SlackTarget{.channel = "C1", .thread_ts = "1763715600.000100", .team_id = {}}},
    };
    return all;
}

SinkSettings settings_for(const FakePlatformServer& platform) {
    SinkSettings settings;
    settings.sections.edit<GithubSection>().api_url = platform.url("/github");
    settings.sections.edit<GithubSection>().token = Secret("token");
    settings.sections.edit<GitlabSection>().api_url = platform.url("/gitlab");
    settings.sections.edit<GitlabSection>().token = Secret("token");
    settings.sections.edit<SlackSection>().api_url = platform.url("/slack");
    settings.sections.edit<SlackSection>().token = Secret("token");
    settings.mac_key = "key";
    settings.version = "0.1.0";
    return settings;
}

/// That the time for a post of each sink grows with the length of its words.
void check_every_sink(const std::vector<std::string>& pieces, std::size_t bytes) {
    SinkSettings settings;
    settings.mac_key = "key";
    settings.version = "0.1.0";
    for (const auto& [name, sink] : make_sinks(settings)) {
        BOOST_TEST_INFO_SCOPE(name);
        for (const auto& piece : pieces)
            growth::check_linear(piece, bytes, [&sink = *sink](const std::string& text) {
                sink.render({.headline = "**Finished**", .final_message = text, .facts = {}, .link = {}}, id);
            });
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(no_sink_posts_anything_that_is_alive) {
    FakePlatformServer platform;
    const auto sinks = make_sinks(settings_for(platform));
    for (const auto& place : places()) {
        const sink_test::SinkCalls sink(*sinks.at(place.sink), {.send = over_http()},
                                        std::chrono::seconds{20});
        for (const auto& [kind, words, absent] : hostile::cases()) {
            platform.reset();
            Post post{.delivery_id = id,
                      .conversation_id = ConversationId("c"),
                      .target = place.target,
                      .body = {},
                      .intent_at = system_now()};
            post.body = sink.render(
                {.headline = "**Finished**", .final_message = words, .facts = words, .link = {}}, id);
            BOOST_TEST_INFO_SCOPE(place.sink << ", " << kind << ": " << words.substr(0, 200));
            BOOST_TEST(name_of(sink.create(post).answer) == "sent");
            const auto visible = platform.visible();
            BOOST_REQUIRE(visible.size() == 1U);
            // GitLab's stand-in takes out every line that it would run.
            BOOST_TEST(visible[0].body == post.body);
            BOOST_TEST(hostile::alive_in_markdown(visible[0].body) == "");
            for (const auto& part : absent)
                BOOST_TEST(hostile::visible(visible[0].body).find(part) == std::string::npos, part);
            const auto sent = nlohmann::json::parse(platform.log().at(0).body);
            BOOST_TEST(hostile::alive_in_mrkdwn(sent.value("text", "")) == "");
            BOOST_TEST(sink.find(post).found.size() == 1U);
        }
    }
}

BOOST_AUTO_TEST_CASE(every_sink_makes_posts_in_time_that_grows_with_the_length) {
    constexpr std::size_t bytes = 2000;  // four times as much is cut by no platform
    check_every_sink(growth::pieces(), bytes);
}

BOOST_AUTO_TEST_CASE(every_sink_cuts_what_is_too_long_in_time_that_grows_with_the_length) {
    constexpr std::size_t bytes = 100'000;  // more than any platform takes
    check_every_sink({"![a](b)\n\n", "<i>\n\n", "[", "token=", "|a|b|\n|-|-|\n", "``` a\n```\n"}, bytes);
}

BOOST_AUTO_TEST_CASE(slacks_and_jiras_markup_is_made_in_time_that_grows_with_the_length) {
    constexpr std::size_t bytes = 8000;
    for (const auto& piece : growth::pieces()) {
        growth::check_linear(piece, bytes, [](const std::string& text) { mrkdwn(text); });
        growth::check_linear(piece, bytes, [](const std::string& text) { wiki_markup(text); });
    }
}
