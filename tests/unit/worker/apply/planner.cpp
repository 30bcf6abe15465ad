// What a counted turn makes its conversation's callbacks owe, before anything is written.
#define BOOST_TEST_MODULE planner
#include "worker/apply/planner.h"

#include <boost/test/unit_test.hpp>

#include "worker/sources/registry.h"

namespace {

using namespace epilogue;

const ConversationId conversation{"c1"};

CallbackRow callback(std::int64_t id, Mode mode, const std::string& processor_json) {
    CallbackRow row;
    row.id = {id};
    row.conversation_id = conversation;
    row.options.mode = mode;
    row.processor_type = "github";
    row.processor_json = processor_json;
    return row;
}

CallbackRow usable(std::int64_t id, Mode mode) {
    return callback(id, mode, R"({"repo": "octo/cat", "number": 7})");
}

/// What is owed once the turn `u1` has finished; steps the callbacks.
Plan planned(std::vector<CallbackRow>& callbacks, const std::string& origin = "") {
    TurnEnd turn;
    turn.origin = origin;
    turn.turn_key = TurnKey("u1");
    turn.status_event = "s1";
    std::vector<CallbackRow*> all;
    for (CallbackRow& one : callbacks) all.push_back(&one);
    Plan plan;
    Planner("6ba7b810-9dad-11d1-80b4-00c04fd430c8", summary_rules({})).add(conversation, turn, {}, all, plan);
    return plan;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_callback_that_reports_a_turn_is_written_with_its_new_state) {
    std::vector<CallbackRow> callbacks{usable(1, Mode::once)};
    const Plan plan = planned(callbacks);
    BOOST_TEST(plan.deliveries.size() == 1U);
    BOOST_TEST((plan.changed_callbacks == std::vector<CallbackId>{{1}}));
    BOOST_TEST(name_of(callbacks[0].state.phase) == name_of(Phase::delivering));
    BOOST_TEST(callbacks[0].state.last_turn_key == "u1");
}

BOOST_AUTO_TEST_CASE(a_turn_that_openhands_told_is_known_by_the_status_that_ended_it) {
    std::vector<CallbackRow> callbacks{usable(1, Mode::once), usable(2, Mode::once)};
    callbacks[0].options.told = "s1";
    const Plan plan = planned(callbacks);
    BOOST_REQUIRE(plan.deliveries.size() == 1U);
    BOOST_TEST(plan.deliveries[0].callback_id.value == 2);
    BOOST_TEST(name_of(callbacks[0].state.phase) == name_of(Phase::watching));
}

BOOST_AUTO_TEST_CASE(a_callback_that_cannot_be_read_owes_nothing_and_is_written_in_error) {
    std::vector<CallbackRow> callbacks{callback(1, Mode::every_turn, R"({"repo": 5})")};
    const Plan plan = planned(callbacks);
    BOOST_TEST(plan.deliveries.empty());
    BOOST_TEST(plan.summaries.empty());
    BOOST_TEST((plan.changed_callbacks == std::vector<CallbackId>{{1}}));
    BOOST_TEST(name_of(callbacks[0].state.phase) == name_of(Phase::error));
}

BOOST_AUTO_TEST_CASE(callbacks_of_one_turn_owe_a_post_each_and_share_its_summary) {
    std::vector<CallbackRow> callbacks{usable(1, Mode::once), usable(2, Mode::every_turn)};
    const Plan plan = planned(callbacks);
    BOOST_REQUIRE(plan.deliveries.size() == 2U);
    BOOST_TEST(plan.deliveries[0].id != plan.deliveries[1].id);
    BOOST_TEST(plan.summaries.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_notice_is_a_delivery_of_its_own_beside_the_turns) {
    std::vector<CallbackRow> callbacks{usable(1, Mode::once), usable(2, Mode::once)};
    callbacks[0].options.triggers = {Verdict::finished, Verdict::paused};
    Plan plan;
    const Planner planner("6ba7b810-9dad-11d1-80b4-00c04fd430c8", summary_rules({}));
    planner.add(conversation, Notice{TurnKey("notice:p1"), Verdict::paused, TurnKey("u1"), "", ""}, {},
                {&callbacks[0], &callbacks[1]}, plan);
    BOOST_REQUIRE(plan.deliveries.size() == 1U);
    BOOST_TEST(plan.deliveries[0].callback_id.value == 1);
    BOOST_TEST(plan.deliveries[0].turn_key == "notice:p1");
    BOOST_TEST(name_of(plan.deliveries[0].verdict) == "paused");
    BOOST_TEST(plan.changed_callbacks.empty());
    BOOST_REQUIRE(plan.summaries.size() == 1U);
    BOOST_TEST(!plan.summaries[0].owed);
    const Plan outcome = planned(callbacks);
    BOOST_TEST(outcome.deliveries.size() == 2U);
    BOOST_TEST(outcome.deliveries[0].id != plan.deliveries[0].id);
}

BOOST_AUTO_TEST_CASE(a_callback_that_wants_its_own_threads_turns_is_told_of_no_other) {
    const auto owed = [](const std::string& origin) {
        std::vector<CallbackRow> callbacks{
            callback(1, Mode::once, R"({"repo": "octo/cat", "number": 7, "only_from_here": true})"),
            usable(2, Mode::once)};
        std::vector<std::int64_t> ids;
        for (const DeliveryRow& delivery : planned(callbacks, origin).deliveries)
            ids.push_back(delivery.callback_id.value);
        return ids;
    };
    BOOST_TEST((owed("github:octo/cat#7") == std::vector<std::int64_t>{1, 2}));
    BOOST_TEST((owed("github:octo/cat#8") == std::vector<std::int64_t>{2}));
    BOOST_TEST((owed("") == std::vector<std::int64_t>{2}));
}
