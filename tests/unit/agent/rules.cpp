// The pure parts of the agent client.
#define BOOST_TEST_MODULE agent_rules
#include <fstream>
#include <sstream>

#include <boost/test/unit_test.hpp>

#include "agent/address.h"
#include "agent/completion_log.h"
#include "agent/event_list.h"
#include "agent/features.h"
#include "agent/hooks.h"
#include "agent/last_words.h"
#include "agent/server.h"
#include "agent/state.h"
#include "base/process/temp_dir.h"
#include "tests/agent/fake_agent_server.h"

using namespace epilogue;
using namespace epilogue::agent;
using namespace epilogue::testing;
using namespace std::chrono_literals;
using Kind = AgentError::Kind;

namespace {

EventRef event_of(const std::string& json) {
    return std::make_shared<RemoteEvent>(parse_event(json).value());
}

EventRef at(const std::string& id, double seconds) {
    return event_of(message_event(id, seconds, "agent", id));
}

template <class Events>
std::string ids(const Events& events) {
    std::string text;
    for (const EventRef& event : events) text += (text.empty() ? "" : " ") + event->id;
    return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_a_server_can_do_follows_from_its_version_alone) {
    BOOST_TEST((features_of("1.7.3").socket_auth == SocketAuth::query));
    BOOST_TEST(!features_of("1.7.3").final_response);
    BOOST_TEST(!features_of("1.7.3").interrupt);
    BOOST_TEST(features_of("1.7.3").generate_title);
    BOOST_TEST((features_of("1.12.0").socket_auth == SocketAuth::header));
    BOOST_TEST(!features_of("1.16.9").final_response);
    BOOST_TEST(features_of("1.17.0").final_response);
    BOOST_TEST((features_of("1.18.0").socket_auth == SocketAuth::header));
    BOOST_TEST((features_of("1.18.1").socket_auth == SocketAuth::first_frame));
    BOOST_TEST(features_of("1.18.9").generate_title);
    BOOST_TEST(!features_of("1.19.0").generate_title);
    BOOST_TEST(!features_of("1.22.1").interrupt);
    BOOST_TEST(features_of("1.58.0").interrupt);
    BOOST_TEST(!features_of("1.22.0").log_as_written);
    BOOST_TEST(features_of("1.22.1").log_as_written);
    BOOST_TEST(features_of("2.0.0rc1").final_response);
    BOOST_TEST(!features_of("1.28.1").goals);
    BOOST_TEST(features_of("1.29.0").goals);
}

BOOST_AUTO_TEST_CASE(of_an_unknown_version_only_what_all_have_is_used) {
    for (const char* version : {"", "unknown", "v1.58.0", "1", "-1.58"}) {
        const Features features = features_of(version);
        BOOST_TEST(!features.final_response);
        BOOST_TEST(!features.interrupt);
        BOOST_TEST(!features.log_as_written);
        BOOST_TEST((features.socket_auth == SocketAuth::query));
    }
    BOOST_TEST((parse_version("1.58") == Version{1, 58, 0}));
    BOOST_TEST((parse_version("1.58.0.dev3+local") == Version{1, 58, 0}));
}

BOOST_AUTO_TEST_CASE(an_address_has_scheme_host_port_and_prefix) {
    BOOST_TEST(parse_address("http://127.0.0.1:8000")->url() == "http://127.0.0.1:8000");
    BOOST_TEST(parse_address("HTTPS://agents.example.com/runtime/7/")->url() ==
               "https://agents.example.com:443/runtime/7");
    BOOST_TEST(parse_address("https://agents.example.com")->tls);
    BOOST_TEST(parse_address("http://[::1]:8000/")->host == "::1");
    BOOST_TEST(parse_address("http://[::1]:8000/")->authority() == "[::1]:8000");
    BOOST_TEST(parse_address("http://h")->port == "80");
}

BOOST_AUTO_TEST_CASE(what_is_no_address_is_none) {
    for (const char* text : {"", "h:80", "ftp://h", "http://", "http://:80", "http://h:0", "http://h:port",
                             "http://user@h", "http://h/p?q=1", "http://h/p#f", "http://h /", "http://[::1",
                             "http://[::1]x:80", "http://h\r\n:80"})
        BOOST_TEST(!parse_address(text).has_value(), text);
}

BOOST_AUTO_TEST_CASE(an_answer_becomes_an_error_of_its_kind_with_the_servers_reasons) {
    BOOST_TEST((error_of(401, R"({"detail":"Unauthorized"})").kind == Kind::unauthorised));
    BOOST_TEST((error_of(404, R"({"detail":"Not Found"})").kind == Kind::not_found));
    BOOST_TEST((error_of(409, R"({"detail":"Conversation already running."})").kind == Kind::busy));
    BOOST_TEST((error_of(429, "{}").kind == Kind::overloaded));
    BOOST_TEST((error_of(400, "{}").kind == Kind::invalid));
    BOOST_TEST((error_of(502, "<html>").kind == Kind::server_error));
    const AgentError failed =
        error_of(500, R"({"detail":"Internal Server Error","exception":"no such tool","error_id":"1"})");
    BOOST_TEST((failed.kind == Kind::server_error));
    BOOST_TEST(failed.maybe_done);
    BOOST_TEST(failed.text == "the agent server answered 500: Internal Server Error: no such tool");
}

BOOST_AUTO_TEST_CASE(what_a_failed_server_did_not_do_is_not_in_doubt) {
    BOOST_TEST(error_of(500, "{}").maybe_done);
    BOOST_TEST(!error_of(500, "{}", false).maybe_done);
    BOOST_TEST(!error_of(501, "{}").maybe_done);
    BOOST_TEST(!error_of(429, "{}").maybe_done);
    for (const char* refusal : {"inactive_service", "Cannot condense conversation: no condenser"})
        BOOST_TEST(!error_of(500, R"({"detail":"Internal Server Error","exception":")" +
                                      std::string(refusal) + "\"}")
                        .maybe_done);
}

BOOST_AUTO_TEST_CASE(the_input_that_a_422_repeats_is_not_kept) {
    const AgentError error = error_of(
        422, R"({"detail":[{"type":"x","loc":["body","secrets",0],"msg":"wrong","input":"hunter2"}]})");
    BOOST_TEST((error.kind == Kind::invalid));
    BOOST_TEST(error.text == "the agent server answered 422: body.secrets.0: wrong");
}

BOOST_AUTO_TEST_CASE(an_event_is_read_whatever_else_it_holds) {
    const auto event = parse_event(
        R"({"new":[1],"key":"execution_status","value":"running","id":"a","timestamp":"t","kind":"ConversationStateUpdateEvent"})");
    BOOST_TEST(event->status == "running");
    const auto unknown = parse_event(R"({"kind":"EventOfTheFuture","id":"b","value":{"deep":{}}})");
    BOOST_TEST(unknown->kind == "EventOfTheFuture");
    BOOST_TEST(unknown->is_stored());
    BOOST_TEST(!parse_event("[]"));
    BOOST_TEST(!parse_event("{"));
    BOOST_TEST(!parse_event(R"({"kind":"MessageEvent"})"));
    BOOST_TEST(!parse_event(R"({"id":7})"));
}

BOOST_AUTO_TEST_CASE(events_stand_once_each_in_the_order_of_their_times) {
    EventList list;
    BOOST_TEST(list.add(at("b", 2)));
    BOOST_TEST(list.add(at("a", 1)));
    BOOST_TEST(list.add(at("d", 3)));
    BOOST_TEST(list.add(at("c", 2)));
    BOOST_TEST(!list.add(at("b", 9)));
    BOOST_TEST(ids(list) == "a b c d");
}

BOOST_AUTO_TEST_CASE(of_a_log_told_as_written_events_stand_once_each_in_the_order_in_which_they_come) {
    EventList list(LogOrder::as_written);
    for (const auto& [name, seconds] : {std::pair("b", 2), {"a", 1}, {"d", 3}, {"c", 2}, {"b", 9}})
        list.add(at(name, seconds));
    BOOST_TEST(ids(list) == "b a d c");
    list.reconcile({at("b", 2), at("e", 9), at("a", 1), at("d", 3)});
    BOOST_TEST(ids(list) == "b e a d c");
}

BOOST_AUTO_TEST_CASE(of_a_log_told_as_written_only_what_came_since_it_was_read_is_read_again) {
    EventList list(LogOrder::as_written);
    BOOST_TEST(list.settled_end() == "");
    list.add(at("c", 3));
    BOOST_TEST(!list.is_settled());
    list.reconcile({at("a", 1), at("b", 2)});
    BOOST_TEST(list.settled_end() == "b");
    list.reconcile({at("a", 1), at("b", 2), at("c", 3)});
    BOOST_TEST(list.is_settled());
    list.add(at("e", 5));
    list.add(at("f", 6));
    BOOST_TEST(list.settled_end() == "c");
    const auto fresh = list.reconcile({at("c", 3), at("d", 4), at("e", 5)});
    BOOST_TEST(ids(fresh) == "d");
    BOOST_TEST(ids(list) == "a b c d e f");
    BOOST_TEST(list.settled_end() == "e");
    list.reconcile({at("a", 1), at("c", 3), at("b", 2)});
    BOOST_TEST(ids(list) == "a c b d e f");
}

BOOST_AUTO_TEST_CASE(what_exists_on_the_wire_only_is_not_kept) {
    EventList list;
    BOOST_TEST(!list.add(event_of(state_event("f", 1, "full_state", "{}"))));
    BOOST_TEST(!list.add(event_of(R"({"id":"s","kind":"StreamingDeltaEvent"})")));
    BOOST_TEST(list.empty());
}

BOOST_AUTO_TEST_CASE(the_servers_log_decides_the_order_and_what_it_lacks_stays) {
    EventList list;
    list.add(at("new", 5));
    list.add(at("a", 1));
    list.add(at("c", 1));
    const auto fresh = list.reconcile({at("c", 1), at("b", 1), at("a", 1), at("d", 2), at("d", 2)});
    BOOST_TEST(ids(fresh) == "b d");
    BOOST_TEST(ids(list) == "c b a d new");
    BOOST_TEST(ids(list.reconcile({})) == "");
    BOOST_TEST(list.size() == 5U);
}

BOOST_AUTO_TEST_CASE(events_are_taken_by_index_and_slice_as_in_python) {
    EventList list;
    for (const int i : {0, 1, 2, 3}) list.add(at(std::to_string(i), i));
    BOOST_TEST(list.at(0)->id == "0");
    BOOST_TEST(list.at(-1)->id == "3");
    BOOST_TEST(!list.at(4));
    BOOST_TEST(!list.at(-5));
    BOOST_TEST(ids(list.slice(1, 3)) == "1 2");
    BOOST_TEST(ids(list.slice(-2)) == "2 3");
    BOOST_TEST(ids(list.slice(0, -1)) == "0 1 2");
    BOOST_TEST(ids(list.slice(3, 1)) == "");
    BOOST_TEST(ids(list.slice(-9, 9)) == "0 1 2 3");
}

BOOST_AUTO_TEST_CASE(the_last_words_are_the_newest_that_could_be_read) {
    EventList list;
    BOOST_TEST(!last_words(list).has_value());
    list.add(event_of(message_event("m", 1, "agent", "a question")));
    list.add(event_of(message_event("u", 2, "user", "an answer")));
    list.add(event_of(
        R"({"id":"f","timestamp":"2026-11-21T08:00:03","kind":"ActionEvent","source":"agent","tool_name":"finish","action":null})"));
    BOOST_TEST(last_words(list).value() == "a question");
    list.add(event_of(
        R"({"id":"g","timestamp":"2026-11-21T08:00:04","kind":"ActionEvent","source":"agent","tool_name":"finish","action":{"kind":"FinishAction","message":"done"}})"));
    BOOST_TEST(last_words(list).value() == "done");
}

BOOST_AUTO_TEST_CASE(the_state_takes_over_updates_and_leaves_out_late_ones) {
    StateCache cache;
    cache.replace(R"({"execution_status":"idle","title":"t","agent":{"kind":"Agent"}})", 0);
    const auto apply = [&](const std::string& json) { cache.apply(*event_of(json)); };
    apply(status_event("1", 10, "finished"));
    apply(status_event("2", 7, "running"));
    BOOST_TEST(cache.snapshot().execution_status() == "finished");
    apply(state_event(
        "3", 11, "full_state",
        R"({"execution_status":"stuck","stats":{"cost":1},"activated_knowledge_skills":["s",7]})"));
    const ConversationState state = cache.snapshot();
    BOOST_TEST(state.execution_status() == "stuck");
    BOOST_TEST(state.stats() == R"({"cost":1})");
    BOOST_TEST(state.activated_knowledge_skills() == std::vector<std::string>{"s"},
               boost::test_tools::per_element());
    BOOST_TEST(state.title() == "t");
    BOOST_TEST(state.agent() == R"({"kind":"Agent"})");
    BOOST_TEST(state.workspace() == "null");
    BOOST_TEST(state.persistence_dir() == "");
    BOOST_TEST(state.dump().starts_with(R"({"execution_status":"stuck")"));
}

BOOST_AUTO_TEST_CASE(an_answer_that_was_overtaken_by_updates_does_not_undo_them) {
    StateCache cache;
    cache.apply(*event_of(status_event("1", 1, "running")));
    const auto mark = cache.mark();
    cache.apply(*event_of(status_event("2", 2, "finished")));
    cache.replace(R"({"execution_status":"running","title":"t"})", mark);
    BOOST_TEST(cache.snapshot().execution_status() == "finished");
    BOOST_TEST(cache.snapshot().title() == "t");
    cache.replace(R"({"execution_status":"idle"})", cache.mark());
    BOOST_TEST(cache.snapshot().execution_status() == "idle");
}

BOOST_AUTO_TEST_CASE(a_server_whose_clock_was_set_back_is_believed) {
    StateCache cache;
    cache.apply(*event_of(status_event("1", 3000, "finished")));
    cache.apply(*event_of(status_event("2", 1, "running")));
    BOOST_TEST(cache.snapshot().execution_status() == "running");
}

BOOST_AUTO_TEST_CASE(hooks_are_read_in_both_spellings) {
    const auto old = parse_hooks(
        R"({"hooks":{"SessionStart":[{"matcher":"*","hooks":[{"type":"command","command":"a","timeout":5}]}],)"
        R"("PreToolUse":[{"hooks":[{"command":"b"}]}],"Stop":[]}})");
    BOOST_TEST(old->session_start.at(0).command == "a");
    BOOST_TEST((old->session_start.at(0).timeout == 5s));
    BOOST_TEST(old->not_run == std::vector<std::string>{"PreToolUse"}, boost::test_tools::per_element());
    const auto new_one = parse_hooks(R"({"session_end":[{"hooks":[{"command":"c"}]}]})");
    BOOST_TEST(new_one->session_end.at(0).command == "c");
    for (const char* wrong : {"[]", R"({"hooks":7})", R"({"SessionStarts":[]})", R"({"SessionStart":{}})",
                              R"({"SessionStart":[{"hooks":[{"type":"prompt","command":"x"}]}]})"})
        BOOST_TEST((parse_hooks(wrong).error().kind == Kind::invalid), wrong);
}

BOOST_AUTO_TEST_CASE(a_hook_reads_the_event_and_a_failing_one_does_not_stop_the_others) {
    const process::TempDir folder;
    const auto outcomes =
        run_hooks({{"exit 3"}, {"cat > in.json; test \"$OPENHANDS_EVENT_TYPE\" = SessionEnd"}}, "SessionEnd",
                  "c1", folder.path());
    BOOST_REQUIRE(outcomes.size() == 2U);
    BOOST_TEST(outcomes[0].status == 3);
    BOOST_TEST(outcomes[1].error == "");
    std::stringstream read;
    read << std::ifstream(folder.path() / "in.json").rdbuf();
    BOOST_TEST(read.str().find(R"("event_type":"SessionEnd")") != std::string::npos);
    BOOST_TEST(read.str().find(R"("session_id":"c1")") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_hook_that_exits_with_2_blocks_those_after_it) {
    const process::TempDir folder;
    BOOST_TEST(run_hooks({{"exit 2"}, {"touch ran"}}, "SessionStart", "c1", folder.path()).size() == 1U);
    BOOST_TEST(!std::filesystem::exists(folder.path() / "ran"));
}

BOOST_AUTO_TEST_CASE(a_hook_that_does_not_end_is_ended) {
    const process::TempDir folder;
    const auto outcomes = run_hooks({{"while :; do :; done", 1s}}, "SessionStart", "c1", folder.path());
    BOOST_TEST(outcomes.at(0).status == -1);
    BOOST_TEST(outcomes.at(0).error != "");
}

BOOST_AUTO_TEST_CASE(a_completion_log_is_written_where_it_was_asked_for_and_nowhere_else) {
    const process::TempDir folder;
    const CompletionLogs logs{{"agent", folder.path() / "logs"}};
    const auto event = [](const std::string& name, const std::string& usage) {
        return *event_of(R"({"id":"l","kind":"LLMCompletionLogEvent","filename":")" + name +
                         R"(","log_data":"the log","usage_id":")" + usage + R"("})");
    };
    BOOST_TEST(write_completion_log(event("a.json", "agent"), logs) == "");
    BOOST_TEST(std::filesystem::file_size(folder.path() / "logs" / "a.json") == 7U);
    BOOST_TEST(write_completion_log(event("b.json", "condenser"), logs) == "");
    BOOST_TEST(!std::filesystem::exists(folder.path() / "logs" / "b.json"));
    for (const char* name : {"../c.json", "/tmp/c.json", "..", "", "a/b.json", "x\\u0000y"})
        BOOST_TEST(write_completion_log(event(name, "agent"), logs) != "", name);
    std::filesystem::create_symlink(folder.path() / "outside", folder.path() / "logs" / "link");
    BOOST_TEST(write_completion_log(event("link", "agent"), logs) != "");
    BOOST_TEST(!std::filesystem::exists(folder.path() / "outside"));
}
