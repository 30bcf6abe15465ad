#define BOOST_TEST_MODULE topic_record
#include "agent/relay/topic_record.h"

#include <map>

#include <boost/test/unit_test.hpp>

#include "agent/relay/trimmed_event.h"
#include "schemas/decode.h"

using namespace epilogue;
using namespace epilogue::relay;

namespace {

constexpr std::size_t limit = std::size_t{1} << 20U;

RecordOrNot made_of(std::string_view json, FullState full_state = FullState::by_status) {
    DoorEvent event;
    event.conversation_id = ConversationId("c");
    event.json = json;
    event.full_state = full_state;
    return TopicRecords({"StreamingDeltaEvent", "LLMCompletionLogEvent"}).make(event, limit);
}

MadeRecord record_of(std::string_view json, FullState full_state = FullState::by_status) {
    auto made = made_of(json, full_state);
    BOOST_REQUIRE(std::holds_alternative<MadeRecord>(made));
    return std::get<MadeRecord>(std::move(made));
}

std::map<std::string, std::string> headers_of(const MadeRecord& made) {
    return {made.record.headers.begin(), made.record.headers.end()};
}

std::string full_state_saying(const std::string& status) {
    return R"({"id": "s1", "key": "full_state", "timestamp": "2026-11-21T08:13:42", "source": "environment",)"
           R"( "value": {"agent": {"llm": {"api_key": "***"}}, "stats": {"usage": [1, 2, 3]},)"
           R"( "hook_config": {"stop": [{"hooks": [{"command": "x"}]}]}, "execution_status": ")" +
           status + R"("}, "kind": "ConversationStateUpdateEvent"})";
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_event_stays_byte_for_byte_as_it_came_and_says_by_which_door) {
    const std::string json = R"( {"kind" : "MessageEvent", "id":"e1","text":"ü\u0000"} )";
    const MadeRecord made = record_of(json);
    BOOST_TEST(made.record.value == json);
    BOOST_TEST(made.record.conversation_id == ConversationId("c"));
    BOOST_TEST(!made.is_trimmed);
    BOOST_TEST((headers_of(made) == std::map<std::string, std::string>{{"source", "webhook"}}));
}

BOOST_AUTO_TEST_CASE(what_the_door_knows_is_in_the_headers) {
    DoorEvent event;
    event.conversation_id = ConversationId("c");
    event.json = R"({"kind": "PauseEvent", "id": "e"})";
    event.door = Door::follower;
    event.seq = 17;
    event.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const auto made = TopicRecords({}).make(event, limit);
    const std::map<std::string, std::string> expected{
        {"source", "follower"}, {"seq", "17"}, {"traceparent", event.traceparent}};
    BOOST_TEST((headers_of(std::get<MadeRecord>(made)) == expected));
}

BOOST_AUTO_TEST_CASE(kinds_that_are_to_be_left_out_make_no_record) {
    for (const char* kind : {"StreamingDeltaEvent", "LLMCompletionLogEvent"}) {
        const auto made = made_of(R"({"id": "e", "kind": ")" + std::string(kind) + R"("})");
        BOOST_TEST((std::get<LeftOut>(made) == LeftOut::unwanted_kind), kind);
    }
    record_of(R"({"id": "e", "kind": "AKindThatIsNotKnownYet"})");
}

BOOST_AUTO_TEST_CASE(a_snapshot_makes_a_record_only_where_it_ends_a_run) {
    for (const char* status : {"finished", "error", "stuck", "paused", "waiting_for_confirmation"})
        BOOST_TEST(headers_of(record_of(full_state_saying(status))).at("run_over") == "1", status);
    for (const char* status : {"idle", "running", "deleting", ""})
        BOOST_TEST((std::get<LeftOut>(made_of(full_state_saying(status))) == LeftOut::snapshot), status);
}

BOOST_AUTO_TEST_CASE(a_door_that_knows_what_a_snapshot_means_is_believed) {
    const auto begins = made_of(full_state_saying("finished"), FullState::begins_subscription);
    BOOST_TEST((std::get<LeftOut>(begins) == LeftOut::snapshot));
    BOOST_TEST(headers_of(record_of(full_state_saying("idle"), FullState::ends_run)).at("run_over") == "1");
}

BOOST_AUTO_TEST_CASE(the_end_of_a_run_is_trimmed_to_what_the_worker_reads_of_it) {
    const MadeRecord made = record_of(full_state_saying("finished"));
    BOOST_TEST(made.record.value ==
               R"({"kind":"ConversationStateUpdateEvent","id":"s1","timestamp":"2026-11-21T08:13:42",)"
               R"("source":"environment","key":"full_state","value":{"execution_status":"finished",)"
               R"("hook_config":{"stop": [{"hooks": [{"command": "x"}]}]}}})");
    RecordMarks marks;
    marks.run_over = true;
    const auto decoded = Decoder().decode(made.record.value, marks);
    const auto& event = std::get<Event>(decoded);
    BOOST_TEST(std::get<RunOver>(event.body).status == "finished");
    BOOST_TEST((event.has_stop_hook == true));
    BOOST_TEST(event.id == "s1");
}

BOOST_AUTO_TEST_CASE(other_state_updates_go_as_they_are) {
    const std::string goal =
        R"({"id":"g","key":"goal","value":{"active":false,"status":"complete"},"kind":"ConversationStateUpdateEvent"})";
    const MadeRecord made = record_of(goal);
    BOOST_TEST(made.record.value == goal);
    BOOST_TEST(!headers_of(made).contains("run_over"));
}

BOOST_AUTO_TEST_CASE(events_of_v0_go_as_they_are) {
    const std::string json = R"({"id": 7, "action": "message", "source": "user", "args": {"content": "hi"}})";
    BOOST_TEST(record_of(json).record.value == json);
}

BOOST_AUTO_TEST_CASE(what_is_json_and_no_event_is_for_the_worker_to_judge) {
    for (const char* json : {"{}", "[1]", "7", "null", R"({"id": "e"})", "{\"n\": NaN}", R"("\ud800")"})
        BOOST_TEST(record_of(json).record.value == json);
}

BOOST_AUTO_TEST_CASE(what_is_no_json_is_said_to_be_none_without_being_shown) {
    for (const char* text : {"", "secret", "{\"kind\": secret}", "{\"a\": 1", "{\"a\":01}"}) {
        const auto made = made_of(text);
        BOOST_REQUIRE(std::holds_alternative<NoEvent>(made));
        BOOST_TEST(!std::get<NoEvent>(made).why.empty());
        BOOST_TEST(std::get<NoEvent>(made).why.find("secret") == std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE(an_event_above_the_limit_is_trimmed_and_says_so) {
    const std::string large =
        R"({"id":"e","kind":"ActionEvent","thought":")" + std::string(2 * limit, 'x') + "\"}";
    const MadeRecord made = record_of(large);
    BOOST_TEST(made.is_trimmed);
    BOOST_TEST(made.record.value.size() <= limit);
    BOOST_TEST(made.record.value.find("was 2097152 bytes") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(which_event_it_is_and_whether_a_run_is_over_is_said_beside_the_record) {
    const auto state = [](const std::string& key, const std::string& value) {
        return R"({"id": "e1", "kind": "ConversationStateUpdateEvent", "key": ")" + key + R"(", "value": )" +
               value + "}";
    };
    BOOST_TEST(record_of(state("execution_status", R"("finished")")).event_id == "e1");
    BOOST_TEST(record_of(state("execution_status", R"("finished")")).ends_run);
    BOOST_TEST(!record_of(state("execution_status", R"("running")")).ends_run);
    BOOST_TEST(!record_of(state("title", R"("finished")")).ends_run);
    BOOST_TEST(record_of(full_state_saying("stuck")).ends_run);
    BOOST_TEST(record_of(R"({"id": 7, "action": "run"})").event_id == "");
}
