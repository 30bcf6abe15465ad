#define BOOST_TEST_MODULE trimmed_event
#include "agent/relay/trimmed_event.h"

#include <algorithm>
#include <vector>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <rapidcheck.h>

#include "schemas/decode.h"
#include "schemas/json_reader.h"

using namespace epilogue;
using namespace epilogue::relay;
using nlohmann::json;

namespace {

constexpr std::size_t limit = least_event_limit;

bool is_json(std::string_view text) {
    return JsonReader().read(text, WantedPart{""}).has_value();
}

/// What the worker makes of it.
Event understood(const std::string& text) {
    const auto decoded = Decoder().decode(text);
    BOOST_REQUIRE_MESSAGE(std::holds_alternative<Event>(decoded), text.substr(0, 300));
    return std::get<Event>(decoded);
}

json finish_event(const std::string& words) {
    return {{"id", "b7d5"},
            {"timestamp", "2026-11-21T08:13:42.407602"},
            {"source", "agent"},
            {"tool_name", "finish"},
            {"action", {{"message", words}, {"kind", "FinishAction"}}},
            {"kind", "ActionEvent"}};
}

/// A text of any characters, as Python's json writes them: escapes, pairs of surrogates, raw UTF-8.
std::string any_text(std::size_t pieces) {
    static const std::vector<std::string> kinds{"a", " ", "\\\"", "\\\\", "\\n", "\\u00e4", "\\ud83d\\ude00",
                                                "ä", "€", "😀",    "{",    "]",   ":",       ","};
    std::string text;
    for (std::size_t i = 0; i < pieces; ++i) text += *rc::gen::elementOf(kinds);
    return text;
}

/// A string token; some are made so long, by repeating, that an event of them has to be trimmed.
std::string any_string() {
    const std::string some = any_text(*rc::gen::inRange<std::size_t>(0, 12));
    const auto times = *rc::gen::element<std::size_t>(1, 1, 1, 1, 3000, 30000);
    std::string text = "\"";
    for (std::size_t i = 0; i < times; ++i) text += some;
    return text + '"';
}

std::string any_value(int depth) {
    const int what = *rc::gen::inRange(0, depth > 0 ? 6 : 4);
    if (what == 0) return *rc::gen::element<std::string>("1", "-2.5e3", "true", "null", "NaN");
    if (what < 4) return any_string();
    const auto count = *rc::gen::inRange<std::size_t>(0, 5);
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        if (i > 0) text += ", ";
        if (what == 4) text += "\"m" + std::to_string(i) + "\" : ";
        text += any_value(depth - 1);
    }
    return what == 4 ? "{" + text + "}" : "[" + text + "]";
}

std::string any_event() {
    std::string text = R"({"id": "the-id", "kind": "ObservationEvent", "timestamp": "2026-11-21T08:13:42")";
    const auto count = *rc::gen::inRange<std::size_t>(0, 6);
    for (std::size_t i = 0; i < count; ++i) text += ", \"m" + std::to_string(i) + "\": " + any_value(4);
    return text + R"(, "source": "environment"})";
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_event_that_fits_stays_as_it_is) {
    const std::string event = " " + finish_event(std::string(limit / 2, 'x')).dump() + "\n";
    BOOST_TEST(trimmed_event(event, limit) == event);
}

BOOST_AUTO_TEST_CASE(any_event_fits_stays_json_and_steers_as_before) {
    BOOST_TEST(rc::check("trimmed events", [] {
        const std::string event = any_event();
        RC_ASSERT(is_json(event));
        const std::string trimmed = trimmed_event(event, limit);
        RC_TAG(event.size() > limit ? "trimmed" : "whole");
        RC_ASSERT(trimmed.size() <= limit);
        RC_ASSERT(is_json(trimmed));
        const Event before = understood(event);
        const Event after = understood(trimmed);
        RC_ASSERT(after.id == before.id);
        RC_ASSERT(after.timestamp == before.timestamp);
        RC_ASSERT(after.body.index() == before.body.index());
        if (event.size() > limit) RC_ASSERT(trimmed.find("[trimmed: was ") != std::string::npos);
    }));
}

BOOST_AUTO_TEST_CASE(the_longest_strings_are_cut_first_and_all_to_one_length) {
    json event = finish_event("short");
    for (const std::size_t size : {1000U, 50'000U, 90'000U, 200'000U, 400'000U})
        event["of_" + std::to_string(size)] = std::string(size, 'x');
    const json trimmed = json::parse(trimmed_event(event.dump(), limit));
    BOOST_TEST(trimmed["of_1000"] == event["of_1000"]);
    BOOST_TEST(trimmed["of_50000"] == event["of_50000"]);
    const auto cut = trimmed["of_400000"].get<std::string>();
    BOOST_TEST(cut.ends_with(" [trimmed: was 400000 bytes]"));
    BOOST_TEST(trimmed["of_200000"].get<std::string>().size() == cut.size());
    BOOST_TEST(cut.size() > 50'000U);
    // No more goes than has to.
    BOOST_TEST(trimmed.dump().size() > limit - 1000);
}

BOOST_AUTO_TEST_CASE(no_string_that_is_kept_whole_is_longer_than_one_that_was_cut) {
    BOOST_TEST(rc::check("longest first", [] {
        const auto sizes =
            *rc::gen::container<std::vector<std::size_t>>(6, rc::gen::inRange<std::size_t>(0, 200'000));
        json event = finish_event("");
        for (std::size_t i = 0; i < sizes.size(); ++i)
            event["m" + std::to_string(i)] = std::string(sizes[i], 'x');
        const json trimmed = json::parse(trimmed_event(event.dump(), limit));
        std::size_t longest_whole = 0;
        std::size_t shortest_cut = std::string::npos;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            const bool is_whole = trimmed["m" + std::to_string(i)] == event["m" + std::to_string(i)];
            if (is_whole)
                longest_whole = std::max(longest_whole, sizes[i]);
            else
                shortest_cut = std::min(shortest_cut, sizes[i]);
        }
        RC_ASSERT(longest_whole <= shortest_cut);
    }));
}

BOOST_AUTO_TEST_CASE(the_head_of_the_last_words_stays) {
    std::string words;
    for (int i = 0; words.size() < 4 * limit; ++i) words += "word " + std::to_string(i) + "\n";
    const std::string trimmed = trimmed_event(finish_event(words).dump(), limit);
    const Event event = understood(trimmed);
    const auto& message = std::get<AgentMessage>(event.body);
    BOOST_TEST((message.kind == MessageKind::finish));
    constexpr std::size_t read_by_the_worker = 16384;
    BOOST_TEST(message.text.substr(0, read_by_the_worker) == words.substr(0, read_by_the_worker));
}

BOOST_AUTO_TEST_CASE(no_escape_and_no_character_is_cut_in_two) {
    for (const char* piece : {"\\ud83d\\ude00", "\\u00e4", "\\\\", "\\\"", "😀", "ä"})
        for (std::size_t shift = 0; shift < 12; ++shift) {
            std::string event = R"({"id":"e","kind":"MessageEvent","text":")" + std::string(shift, 'x');
            while (event.size() < 2 * limit) event += piece;
            event += "\"}";
            const std::string trimmed = trimmed_event(event, limit);
            BOOST_TEST(is_json(trimmed));
            // Half a pair would become U+FFFD.
            const auto text = JsonReader().read(trimmed, WantedPart{"", {{"text"}}});
            BOOST_TEST((*text)["text"].text.find("\xEF\xBF\xBD") == std::string::npos);
        }
}

BOOST_AUTO_TEST_CASE(very_many_small_values_leave_what_steers) {
    std::string blocks;
    for (int i = 0; i < 100'000; ++i) blocks += R"({"type":"text","text":"b)" + std::to_string(i) + "\"},";
    const std::string event = R"({"extra":{"numbers":[)" + blocks + R"(0]},"llm_message":{"content":[)" +
                              blocks +
                              R"({"type":"text","text":"end"}]},"timestamp":"2026-11-21T08:13:42",)"
                              R"("source":"agent","id":"the-id","kind":"MessageEvent"})";
    const std::string trimmed = trimmed_event(event, limit);
    BOOST_TEST(trimmed.size() <= limit);
    const Event understood_event = understood(trimmed);
    BOOST_TEST(understood_event.id == "the-id");
    BOOST_TEST(std::get<AgentMessage>(understood_event.body).text.starts_with("b0\nb1\nb2\n"));
    BOOST_TEST(trimmed.find("[trimmed: was " + std::to_string(event.size()) + " bytes]") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(hostile_shapes_fit_all_the_same) {
    const std::string deep = std::string(limit, '[') + std::string(limit, ']');
    const std::string number(2 * limit, '7');
    const std::string name(2 * limit, 'n');
    std::string doubles;
    for (int i = 0; i < 50'000; ++i) doubles += R"("id":"wrong","kind":"X",)";
    for (const std::string& member : {"\"deep\":" + deep, "\"value\":" + deep, "\"value\":" + number,
                                      "\"" + name + "\":1", doubles + "\"more\":" + number}) {
        const std::string event = "{" + member + R"(,"id":"the-id","kind":"PauseEvent"})";
        const std::string trimmed = trimmed_event(event, limit);
        BOOST_TEST(trimmed.size() <= limit);
        BOOST_TEST(understood(trimmed).id == "the-id");
    }
    for (const std::string& no_object : {deep, number, "[" + number + "]"})
        BOOST_TEST(trimmed_event(no_object, limit).size() <= limit);
}

BOOST_AUTO_TEST_CASE(what_is_no_json_does_no_harm) {
    for (const std::string& start :
         std::vector<std::string>{"{", "\"", "{\"a", "{\"a\":", "[1,", "\\", "{\"a\":\"\\"}) {
        const std::string text = start + std::string(2 * limit, '\\');
        BOOST_TEST(trimmed_event(text, limit).size() <= limit);
        BOOST_TEST(trimmed_event(start + std::string(2 * limit, '{'), limit).size() <= limit);
        BOOST_TEST(trimmed_event(start + std::string(2 * limit, '"'), limit).size() <= limit);
    }
}
