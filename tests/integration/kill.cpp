// What is left when a worker ends, in the worst moment or in good order: nothing lost, nothing twice.
#define BOOST_TEST_MODULE kill
#include <algorithm>
#include <chrono>
#include <iostream>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "tests/support/eventually.h"
#include "tests/support/rig.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;

/// Two turns each: a question, then the end.
std::vector<V0Conversation> scripts_of_two_turns(int count) {
    std::vector<V0Conversation> conversations;
    for (int i = 0; i < count; ++i) {
        V0Conversation& conversation = conversations.emplace_back("killed-" + std::to_string(i));
        conversation.user("Go on.").agent_asks("Which of the two, in " + conversation.id() + "?");
        conversation.user("The first.").agent_finishes("All done in " + conversation.id() + ".");
    }
    return conversations;
}

/// Each of the platforms in turn. Returns the place of the posts, as the fake platform names it.
std::string add_somewhere(const Rig& rig, const V0Conversation& conversation, std::size_t number) {
    const auto add = [&](const std::string& processor, const nlohmann::json& json) {
        rig.add_callback({"--conversation", conversation.id(), "--processor", processor, "--mode",
                          "until_done", "--processor-json", json.dump()});
    };
    const auto text = std::to_string(number);
    switch (number % 3) {
        case 0:
            add("github", {{"repo", "octo/killed"}, {"number", number}});
            return "octo/killed#" + text;
        case 1:
            add("gitlab", {{"project", 4455}, {"iid", number}, {"kind", "merge_request"}});
            return "4455!" + text;
        default:
            add("slack", {{"channel", "C" + text}});
            return "C" + text;
    }
}

/// How often each place shows a comment with these words.
std::map<std::string, int> visible_with(const FakePlatformProcess& platform, const std::string& words) {
    std::map<std::string, int> times;
    for (const auto& comment : platform.visible())
        if (comment.body.find(words) != std::string::npos) ++times[comment.path];
    return times;
}

const std::string unsent = "SELECT COUNT(*) FROM deliveries WHERE state<>'SENT'";

}  // namespace

BOOST_AUTO_TEST_CASE(twenty_kills_with_a_request_open_leave_one_visible_comment_for_each_turn) {
    constexpr int kills = 20;
    constexpr int conversations = 24;
    constexpr std::int64_t turns = 2 * conversations;
    // One post at a time, so that each round meets one delivery; dead members leave the group soon.
    const Rig rig(
        "killed", 3,
        {{"worker.senders", 1},
         {"worker.lease_s", 10},
         {"worker.http_timeout_s", 4},
         {"worker.batch_max_records", 50},
         {"kafka.properties", std::map<std::string, std::string>{{"session.timeout.ms", "6000"},
                                                                 {"heartbeat.interval.ms", "1000"}}}});
    const FakePlatformProcess& platform = rig.platform();
    const auto scripts = scripts_of_two_turns(conversations);
    std::vector<std::string> places;
    for (const V0Conversation& conversation : scripts)
        places.push_back(add_somewhere(rig, conversation, places.size() + 1));
    rig.publish(records_of(scripts));

    for (int i = 0; i < kills; ++i) {
        const bool applied = i % 2 == 0;
        platform.rules({{{"do", applied ? "apply_then_hang" : "hang"}, {"method", "POST"}}});
        auto worker = rig.epilogue().start_worker();
        try {
            platform.wait_for("held_total", static_cast<std::size_t>(i) + 1, 60s);
        } catch (const GaveUp&) {
            BOOST_FAIL("kill " << i + 1 << " found no open request; the worker says\n"
                               << worker.process().err());
        }
        worker.process().kill9();
    }
    platform.rules(nlohmann::json::array());
    const auto counts = platform.counts();
    std::cout << "killed with a request open: " << counts.at("held_total")
              << ", of them after it was applied: " << counts.at("held_applied_total") << std::endl;
    BOOST_TEST(counts.at("held_total") >= 20U);
    BOOST_TEST(counts.at("held_applied_total") >= 10U);

    // What was cut off is looked for when its lease is over; what is not seen then is looked for twice more
    // before it is posted again. This platform shows at once what it took: the pauses between are skipped.
    const auto worker = rig.epilogue().worker();
    eventually("every turn of every conversation is SENT", [&] {
        rig.hurry_look_ups();
        return rig.number("SELECT COUNT(*) FROM deliveries") == turns && rig.number(unsent) == 0;
    });
    const auto questions = visible_with(platform, "Which of the two, in killed-");
    const auto ends = visible_with(platform, "All done in killed-");
    for (std::size_t i = 0; i < scripts.size(); ++i) {
        const std::string& place = places[i];
        BOOST_TEST_CONTEXT(place) {
            BOOST_TEST((questions.contains(place) && questions.at(place) == 1));
            BOOST_TEST((ends.contains(place) && ends.at(place) == 1));
            BOOST_TEST(visible_with(platform, "Which of the two, in " + scripts[i].id() + "?").size() == 1U);
        }
    }
    const auto after = platform.counts();
    std::cout << "turns: " << turns << ", posts tried: " << after.at("attempts")
              << ", visible: " << after.at("visible") << ", look-ups: " << after.at("lookups") << std::endl;
    BOOST_TEST(after.at("visible") == static_cast<std::size_t>(turns));
    // What was applied is found and never tried again; what was not is tried once more.
    const auto lost = counts.at("held_total") - counts.at("held_applied_total");
    BOOST_TEST(after.at("attempts") == static_cast<std::size_t>(turns) + lost);
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM conversation_callbacks WHERE status='COMPLETED'") ==
               conversations);
    BOOST_TEST(rig.number("SELECT COUNT(DISTINCT remote_id) FROM deliveries") == turns);
    BOOST_TEST((rig.stored() == rig.ends()));
}

BOOST_AUTO_TEST_CASE(a_worker_that_is_told_to_end_ends_in_time_and_leaves_the_rest_to_the_next) {
    constexpr int conversations = 40;
    constexpr std::int64_t turns = 2 * conversations;
    const Rig rig("drained", 3,
                  {{"worker.senders", 4}, {"worker.drain_s", 10}, {"worker.batch_max_records", 20}});
    const FakePlatformProcess& platform = rig.platform();
    platform.rules({{{"do", "delay"}, {"ms", 200}, {"method", "POST"}, {"times", -1}}});
    const auto scripts = scripts_of_two_turns(conversations);
    for (std::size_t i = 0; i < scripts.size(); ++i)
        rig.add_github(scripts[i].id(), "octo/drained", static_cast<std::int64_t>(i) + 1, "every_turn");
    const auto half = scripts.begin() + conversations / 2;
    const auto began = std::chrono::steady_clock::now();
    rig.publish(records_of({scripts.begin(), half}));
    {
        auto worker = rig.epilogue().worker();
        platform.wait_for("attempts", 6, 30s);
        rig.publish(records_of({half, scripts.end()}));
        worker.process().signal(SIGTERM);
        const auto status = worker.process().wait(10s);
        BOOST_REQUIRE(status.has_value());
        BOOST_TEST(*status == 0, worker.process().err());
    }
    BOOST_TEST((rig.committed() == rig.stored()));
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM deliveries WHERE state NOT IN ('PLANNED','SENT')") == 0);
    const auto sent = rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'");
    BOOST_TEST(static_cast<std::size_t>(sent) == platform.counts().at("attempts"));
    BOOST_TEST(sent < turns);

    const auto next = rig.epilogue().worker();
    eventually("the next worker has sent the rest", [&] {
        return rig.number("SELECT COUNT(*) FROM deliveries") == turns && rig.number(unsent) == 0;
    });
    const auto counts = platform.counts();
    BOOST_TEST(counts.at("attempts") == static_cast<std::size_t>(turns));
    BOOST_TEST(counts.at("visible") == static_cast<std::size_t>(turns));
    // Nothing was in doubt. Later than that, posts are looked for because they are overdue, and for
    // duplicates.
    if (std::chrono::steady_clock::now() - began < 60s) BOOST_TEST(counts.at("lookups") == 0U);
    eventually("the offsets have followed", [&] { return rig.committed() == rig.ends(); });
    BOOST_TEST((rig.stored() == rig.ends()));
}
