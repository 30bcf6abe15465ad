// What the integration suites publish: the recordings under new ids and times are still the recordings.
#define BOOST_TEST_MODULE recording_set
#include "tests/integration/recording_set.h"

#include <algorithm>
#include <set>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const Instant now = *parse_instant("2031-02-03T04:05:06.500000Z");

bool names_one_of(const std::string& line, const std::set<std::string>& ids) {
    return std::any_of(ids.begin(), ids.end(),
                       [&](const auto& id) { return line.find(id) != std::string::npos; });
}

std::set<std::string> event_ids(const RecordedConversation& conversation) {
    std::set<std::string> ids;
    for (const std::string& line : conversation.events)
        if (const json event = json::parse(line); event.at("id").is_string())
            ids.insert(event.at("id").get<std::string>());
    return ids;
}

Instant time_of(const std::string& line) {
    return parse_instant(json::parse(line).at("timestamp").get<std::string>()).value();
}

}  // namespace

BOOST_AUTO_TEST_CASE(all_recordings_are_there_with_their_events) {
    BOOST_TEST(recordings().size() == recording_count);
    for (const auto& recording : recordings()) BOOST_TEST(!recording.events.empty(), recording.recording);
}

BOOST_AUTO_TEST_CASE(a_retold_recording_names_no_old_id_and_tells_the_same) {
    for (const auto& original : recordings()) {
        BOOST_TEST_CONTEXT(original.recording) {
            const auto told = with_new_ids(original, now);
            BOOST_REQUIRE(told.events.size() == original.events.size());
            const auto old_ids = event_ids(original);
            BOOST_TEST(event_ids(told).size() == old_ids.size());
            for (std::size_t i = 0; i < told.events.size(); ++i) {
                BOOST_TEST(!names_one_of(told.events[i], old_ids));
                BOOST_TEST(told.events[i].size() == original.events[i].size());
                BOOST_TEST(json::parse(told.events[i]).size() == json::parse(original.events[i]).size());
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(fields_that_name_another_event_still_do) {
    std::size_t found = 0;
    for (const auto& original : recordings()) {
        const auto told = with_new_ids(original, now);
        const auto ids = event_ids(told);
        const auto old_ids = event_ids(original);
        for (std::size_t i = 0; i < told.events.size(); ++i)
            for (const char* name : {"parent_id", "action_id"}) {
                const json before = json::parse(original.events[i]);
                if (!before.contains(name) || !before.at(name).is_string()) continue;
                if (!old_ids.contains(before.at(name).get<std::string>())) continue;
                BOOST_TEST(ids.contains(json::parse(told.events[i]).at(name).get<std::string>()));
                ++found;
            }
    }
    BOOST_TEST(found > 1000U);
}

BOOST_AUTO_TEST_CASE(expected_turns_are_named_by_the_new_ids) {
    for (const auto& original : recordings()) {
        const auto told = with_new_ids(original, now);
        const auto ids = event_ids(told);
        for (std::size_t i = 0; i < told.turns.size(); ++i) {
            const std::string& key = told.turns[i].turn_key;
            BOOST_TEST((key == "start" || ids.empty() || ids.contains(key)), original.recording);
            BOOST_TEST(told.turns[i].words == original.turns[i].words);
        }
        BOOST_TEST(told.open_turn.empty() == original.open_turn.empty());
    }
}

BOOST_AUTO_TEST_CASE(times_keep_their_distances_and_the_newest_is_now) {
    for (const auto& original : recordings()) {
        const auto told = with_new_ids(original, now);
        Instant newest{};
        const auto moved = time_of(told.events[0]) - time_of(original.events[0]);
        for (std::size_t i = 0; i < told.events.size(); ++i) {
            BOOST_TEST((time_of(told.events[i]) - time_of(original.events[i]) == moved));
            newest = std::max(newest, time_of(told.events[i]));
        }
        BOOST_TEST((newest <= now && newest > now - 1s), original.recording);
    }
}

BOOST_AUTO_TEST_CASE(two_tellings_share_no_id) {
    const auto one = with_new_ids(recordings()[20], now);
    const auto two = with_new_ids(recordings()[20], now);
    BOOST_TEST(one.id != two.id);
    BOOST_TEST(one.id.size() == 32U);
    const auto ids = event_ids(one);
    for (const auto& line : two.events) BOOST_TEST(!names_one_of(line, ids));
}

BOOST_AUTO_TEST_CASE(each_mode_reports_its_turns) {
    RecordedConversation told;
    for (const char* mode : {"once", "until_done", "every_turn"}) {
        BOOST_TEST(reported_turns(told, mode).empty());
        BOOST_TEST(final_status(told, mode) == "ACTIVE");
    }
    told.turns = {
        {"a", "awaiting_user_input", "", "", ""}, {"b", "finished", "", "", ""}, {"c", "error", "", "", ""}};
    BOOST_TEST(reported_turns(told, "once").size() == 1U);
    BOOST_TEST(reported_turns(told, "until_done").size() == 2U);
    BOOST_TEST(reported_turns(told, "every_turn").size() == 3U);
    BOOST_TEST(final_status(told, "once") == "COMPLETED");
    BOOST_TEST(final_status(told, "until_done") == "COMPLETED");
    BOOST_TEST(final_status(told, "every_turn") == "ACTIVE");
    told.turns.resize(1);
    BOOST_TEST(reported_turns(told, "until_done").size() == 1U);
    BOOST_TEST(final_status(told, "until_done") == "ACTIVE");
}
