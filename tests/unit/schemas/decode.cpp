#define BOOST_TEST_MODULE decode
#include <fstream>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "decode_fixture.h"

using namespace epilogue;
using namespace epilogue::decode_test;

namespace {

const std::string data = EPILOGUE_SOURCE_DIR "/tests/data/recordings/";

std::vector<std::string> lines_of(const std::string& path) {
    std::ifstream file(data + path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    BOOST_REQUIRE_MESSAGE(!lines.empty(), path << " has no lines");
    return lines;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_no_event_is_poison_with_its_reason) {
    BOOST_TEST(poison_of("") == "empty");
    BOOST_TEST(poison_of(std::string(max_event_bytes + 1, ' ')) == "too_large");
    BOOST_TEST(poison_of("{\"kind\":") == "not_json");
    BOOST_TEST(poison_of(R"({"kind":"PauseEvent","id":"a"} {})") == "not_json");
    BOOST_TEST(poison_of(std::string(1025, '[') + std::string(1025, ']')) == "too_deep");
    for (const char* text : {"[]", "1", "\"kind\"", "null", "NaN"})
        BOOST_TEST(poison_of(text) == "not_an_object");
    for (const char* text :
         {"{}", R"({"id":1})", R"({"kind":null,"id":"a"})", R"({"action":{},"observation":3})"})
        BOOST_TEST(poison_of(text) == "neither_v0_nor_v1");
}

BOOST_AUTO_TEST_CASE(damage_after_the_last_field_of_interest_is_seen) {
    BOOST_TEST(poison_of(R"({"kind":"PauseEvent","id":"a","x":[1,2,}])") == "not_json");
    BOOST_TEST(poison_of(R"({"kind":"PauseEvent","id":"a","x":{"y":tru}})") == "not_json");
    BOOST_TEST(poison_of(R"({"kind":"PauseEvent","id":"a","x":"y":"z"}})") == "not_json");
}

BOOST_AUTO_TEST_CASE(numbers_that_real_tools_print_are_no_damage) {
    const auto event =
        event_of(v1("PauseEvent", R"("x":[123456789012345678901234567890,1e999,NaN,-Infinity])"));
    BOOST_TEST(event.id == "e1");
}

BOOST_AUTO_TEST_CASE(of_duplicate_fields_the_last_wins) {
    BOOST_TEST(event_of(R"({"kind":"X","id":"a","kind":"PauseEvent","id":"b"})").id == "b");
    body_of<AgentAction>(v1("ActionEvent", R"("source":"agent","tool_name":"finish",
        "action":{"kind":"FinishAction","message":"done"},"action":null)"));
}

BOOST_AUTO_TEST_CASE(kind_makes_an_event_v1_wherever_it_stands) {
    BOOST_TEST((event_of(R"({"kind":"PauseEvent","id":"a","action":"message"})").schema == Schema::v1));
    BOOST_TEST((event_of(R"({"action":"message","source":"user","id":"a","kind":"PauseEvent"})").schema ==
                Schema::v1));
    BOOST_TEST((event_of(R"({"action":"message","source":"user","id":3,"kind":null})").schema == Schema::v0));
}

BOOST_AUTO_TEST_CASE(a_timestamp_that_cannot_be_read_is_none) {
    BOOST_TEST(to_iso(*event_of(v1("PauseEvent", "\"x\":1")).timestamp) == "2026-11-21T09:00:01.500000Z");
    for (const char* time : {"null", "\"yesterday\"", "1763715600"})
        BOOST_TEST(!event_of("{\"kind\":\"PauseEvent\",\"id\":\"a\",\"timestamp\":" + std::string(time) + "}")
                        .timestamp.has_value());
}

BOOST_AUTO_TEST_CASE(a_link_counts_where_the_agent_opened_or_pushed_and_not_where_it_was_seen) {
    const std::string url = "https://github.com/o/r/pull/12";
    const auto links = [](const std::string& event) {
        std::vector<std::string> urls;
        for (const auto& made : work_of<RequestMade>(event_of(event))) urls.push_back(made.url);
        return urls;
    };
    const std::string block = R"([{"type":"text","text":"Creating it\n)" + url + "\"}]";
    const std::vector<std::string> one{url};
    const auto v1_shell = [&](const std::string& command) {
        return links(v1("ObservationEvent", R"("tool_name":"terminal","observation":{"command":")" + command +
                                                R"(","content":)" + block + "}"));
    };
    BOOST_TEST(v1_shell("gh pr create --fill") == one);
    BOOST_TEST(v1_shell("gh pr view 12").empty());
    const auto v1_tool = [&](const std::string& tool, const std::string& is_error) {
        return links(v1("ObservationEvent", R"("tool_name":")" + tool + R"(","observation":{"is_error":)" +
                                                is_error + R"(,"content":)" + block + "}"));
    };
    BOOST_TEST(v1_tool("create_pr", "false") == one);
    BOOST_TEST(v1_tool("create_pr", "true").empty());
    BOOST_TEST(v1_tool("fetch", "false").empty());
    const auto v0_result = [&](const std::string& kind, const std::string& extras) {
        return links(v0(R"("source":"agent","observation":")" + kind + R"(","content":")" + url +
                        R"(","extras":)" + extras));
    };
    BOOST_TEST(v0_result("run", R"({"command":"git push && gh pr create"})") == one);
    BOOST_TEST(v0_result("run", R"({"command":"cat NOTES"})").empty());
    BOOST_TEST(v0_result("mcp", R"({"name":"create_pr"})") == one);
    BOOST_TEST(v0_result("mcp", R"({"name":"get_pr"})").empty());
    BOOST_TEST(v0_result("browse", R"({"url":"x"})").empty());
    // Words tell of links, too, and of others than the agent's own.
    BOOST_TEST(
        links(v1("MessageEvent", R"("source":"agent","llm_message":{"content":)" + block + "}")).empty());
    BOOST_TEST(
        links(v1("ActionEvent",
                 R"("source":"agent","tool_name":"finish","action":{"kind":"FinishAction","message":")" +
                     url + "\"}"))
            .empty());
    BOOST_TEST(
        links(v0(R"("source":"agent","action":"finish","args":{"final_thought":")" + url + "\"}")).empty());
}

BOOST_AUTO_TEST_CASE(keys_are_judged_before_they_are_used) {
    BOOST_TEST(key_fault(std::string_view()) == "no_key");
    BOOST_TEST(key_fault(std::string_view("", 0)) == "key_empty");
    BOOST_TEST(key_fault(std::string(256, 'k')) == "key_too_long");
    BOOST_TEST(key_fault("\xff") == "key_not_utf8");
    for (const std::string& key : {std::string("cb3cc4fd"), std::string("é"), std::string(255, 'k')})
        BOOST_TEST(key_fault(key).empty());
}

// The figures were counted in the recordings with Python, by the rules of contract §4.
BOOST_AUTO_TEST_CASE(every_line_of_every_recording_decodes_to_what_it_is) {
    Decoder decoder;
    std::map<std::size_t, int> bodies;
    int without_event = 0;
    int commands = 0;
    int results = 0;
    int files = 0;
    int errors = 0;
    for (const auto& row : lines_of("expected.jsonl")) {
        const auto expected = nlohmann::json::parse(row);
        const std::string recording = expected.at("recording");
        std::set<std::string> words;
        for (const auto& line : lines_of(recording)) {
            const auto decoded = decoder.decode(line);
            if (std::holds_alternative<Poison>(decoded)) ++without_event;
            const auto* event = std::get_if<Event>(&decoded);
            BOOST_REQUIRE_MESSAGE(event, recording << ": " << line);
            BOOST_TEST(event->timestamp.has_value());
            ++bodies[event->body.index()];
            if (const auto* word = std::get_if<AgentMessage>(&event->body)) words.insert(word->text);
            commands += static_cast<int>(work_of<CommandStarted>(*event).size());
            results += static_cast<int>(work_of<CommandEnded>(*event).size());
            files += static_cast<int>(work_of<FileChanged>(*event).size());
            errors += static_cast<int>(work_of<ErrorSeen>(*event).size());
        }
        for (const auto& turn : expected.at("turns"))
            if (turn.at("text").is_string()) BOOST_TEST(words.contains(turn.at("text")), recording);
    }
    BOOST_TEST(without_event == 0);
    const std::map<std::size_t, int> expected_bodies{{0, 170}, {1, 326}, {2, 140}, {3, 420},
                                                     {4, 32},  {5, 4},   {6, 2},   {8, 1249}};
    BOOST_TEST((bodies == expected_bodies));
    BOOST_TEST(commands == 269);
    BOOST_TEST(results == 254);
    BOOST_TEST(files == 21);
    BOOST_TEST(errors == 29);  // 20 of them edits that failed
}

BOOST_AUTO_TEST_CASE(every_shape_written_down_decodes_and_frames_are_left_out) {
    Decoder decoder;
    for (const auto& [file, events_in_file] :
         {std::pair("shapes_v0.jsonl", 26), std::pair("shapes_v1.jsonl", 34)}) {
        int events = 0;
        for (const auto& line : lines_of(file)) {
            const auto row = nlohmann::json::parse(line);
            if (!row.contains("event")) {
                BOOST_TEST(poison_of(line) == "neither_v0_nor_v1");
                continue;
            }
            BOOST_TEST(std::holds_alternative<Event>(decoder.decode(row.at("event").dump())), line);
            ++events;
        }
        BOOST_TEST(events == events_in_file, file);
    }
}
