// What counts as JSON: everything that Python's json.loads takes, and nothing else.
#define BOOST_TEST_MODULE json_reader
#include "schemas/json_reader.h"

#include <fstream>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "schemas/json_tokens.h"

using namespace epilogue;

namespace {

const WantedPart wanted{"", {{"a"}, {"b", {{"c"}, {"d"}}}}};

tl::expected<JsonPart, JsonFault> read(std::string_view text) {
    return JsonReader().read(text, wanted);
}

std::string bytes_of(const std::string& hex) {
    std::string bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return bytes;
}

std::string repeated(std::string_view text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i) result += text;
    return result;
}

std::string nested(int levels) {
    return repeated("[", levels) + repeated("]", levels);
}

/// Everything that was kept, as one text.
std::string shown(const JsonPart& part) {
    std::string text = std::string(part.name) + "=" + std::to_string(static_cast<int>(part.type)) + part.text;
    for (const JsonPart& inner : part.parts) text += "(" + shown(inner) + ")";
    return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(python_and_we_take_the_same_documents) {
    std::ifstream table(EPILOGUE_SOURCE_DIR "/tests/data/json_traps.jsonl");
    JsonReader reader;
    int rows = 0;
    for (std::string line; std::getline(table, line); ++rows) {
        const auto row = nlohmann::json::parse(line);
        const bool taken = reader.read(bytes_of(row.at("hex")), wanted).has_value();
        BOOST_TEST(taken == row.at("accepted").get<bool>(), row.at("shown"));
    }
    BOOST_TEST(rows > 150);
}

BOOST_AUTO_TEST_CASE(members_of_any_name_are_kept_with_their_names) {
    const WantedPart any{"", {{"named"}, {any_member, {{"c"}}}}};
    // The second text is too long for the quick way.
    for (const std::string& padding : {std::string(), std::string(100'000, ' ')}) {
        const auto part = JsonReader().read(
            R"({"named":1,"src/a.py":{"c":2,"d":3},"b\u0041":{"c":4},"src/a.py":{"c":5}})" + padding, any);
        BOOST_REQUIRE(part.has_value());
        BOOST_REQUIRE(part->parts.size() == 3U);
        BOOST_TEST((*part)["named"].text == "1");
        BOOST_TEST(part->parts[1].key == "src/a.py");
        BOOST_TEST(part->parts[1]["c"].text == "5");
        BOOST_TEST(part->parts[1]["d"].text.empty());
        BOOST_TEST(part->parts[2].key == "bA");
    }
    std::string many = "{";
    for (std::size_t i = 0; i <= max_kept_elements; ++i) many += "\"k" + std::to_string(i) + "\":{},";
    const auto part = JsonReader().read(many + "\"named\":1}", any);
    BOOST_REQUIRE(part.has_value());
    BOOST_TEST(part->parts.size() == max_kept_elements + 1);
}

BOOST_AUTO_TEST_CASE(only_what_is_wanted_is_kept) {
    const auto part = read(R"({"x": {"a": 1}, "a": "one", "b": {"c": true, "a": 2, "d": [1, {"c": 3}]}})");
    BOOST_REQUIRE(part.has_value());
    BOOST_TEST(part->parts.size() == 2U);
    BOOST_TEST((*part)["a"].string_or_empty() == "one");
    BOOST_TEST((*part)["b"]["c"].is_true());
    BOOST_TEST((*part)["b"]["d"].parts.empty());
    BOOST_TEST(!(*part)["x"]["a"].is_given());
}

BOOST_AUTO_TEST_CASE(plain_json_and_what_only_python_takes_are_kept_alike) {
    const std::vector<std::string> members{
        R"("a": "one\n\u00e9\u0000", "b": {"c": -7, "d": 18446744073709551615, "e": [1]})",
        R"("a": 1.50, "b": [{"c": null, "x": 1}, true, [false, {"d": "in a list of a list"}], {"d": "\"\\\/"}])",
        R"("b": {"c": 1}, "a": {}, "\u0061": [], "b": {"d": {"c": 3}}, "": 1e400, "a": 123456789012345678901234567890)",
    };
    for (const std::string& some : members) {
        const auto plain = read("{" + some + "}");
        const auto pythons = read("{" + some + R"(, "x": NaN})");
        BOOST_REQUIRE(plain.has_value());
        BOOST_REQUIRE(pythons.has_value());
        BOOST_TEST(shown(*plain) == shown(*pythons));
    }
}

BOOST_AUTO_TEST_CASE(wanted_members_of_an_arrays_elements_are_kept_in_order) {
    const auto part = read(R"({"b": [{"c": 1}, 7, {"c": 2, "c": 3}, []]})");
    BOOST_REQUIRE(part.has_value());
    const auto& elements = (*part)["b"].parts;
    BOOST_REQUIRE(elements.size() == 4U);
    BOOST_TEST(elements[0]["c"].integer().value() == 1);
    BOOST_TEST(elements[1].integer().value() == 7);
    BOOST_TEST(elements[2]["c"].integer().value() == 3);
}

BOOST_AUTO_TEST_CASE(of_duplicate_keys_the_last_wins_with_everything_in_it) {
    const auto part = read(R"({"a": 1, "b": {"c": 1, "d": 2}, "\u0061": "two", "b": {"d": 3}})");
    BOOST_REQUIRE(part.has_value());
    BOOST_TEST((*part)["a"].string_or_empty() == "two");
    BOOST_TEST(!(*part)["b"]["c"].is_given());
    BOOST_TEST((*part)["b"]["d"].integer().value() == 3);
}

BOOST_AUTO_TEST_CASE(integers_that_do_not_fit_are_valid_but_no_integers) {
    for (const std::string number : {"123456789012345678901234567890", "1e999", "NaN", "-Infinity", "1.0",
                                     "1e3", "9223372036854775808"}) {
        const auto part = read("{\"a\": " + number + "}");
        BOOST_REQUIRE(part.has_value());
        BOOST_TEST(!(*part)["a"].integer().has_value(), number);
    }
    BOOST_TEST(read(R"({"a": -9223372036854775808})").value()["a"].integer().value() == INT64_MIN);
}

BOOST_AUTO_TEST_CASE(escapes_are_undone_and_lone_surrogates_replaced) {
    const auto text = [](std::string_view written) {
        return std::string(read("{\"a\": \"" + std::string(written) + "\"}").value()["a"].string_or_empty());
    };
    BOOST_TEST(text(R"(\"\\\/\b\f\n\r\t)") == "\"\\/\b\f\n\r\t");
    BOOST_TEST(text(R"(\u00e9\u20AC\ud83d\ude00)") == "é€😀");
    BOOST_TEST(text(R"(x\ud800y)") == "x\uFFFDy");
    BOOST_TEST(text(R"(\ude00\ud83d)") == "\uFFFD\uFFFD");
    BOOST_TEST(text(R"(\ud83d\u0041)") == "\uFFFD\u0041");
    BOOST_TEST(text(R"(\ud83d\ud83d\ude00)") == "\uFFFD😀");
    BOOST_TEST(text(R"(\u0000)") == std::string(1, '\0'));
}

BOOST_AUTO_TEST_CASE(depth_ends_at_1024_levels) {
    BOOST_TEST(read(nested(1024)).has_value());
    for (const int levels : {1025, 100000}) BOOST_TEST(read(nested(levels)).error().reason == "too_deep");
    BOOST_TEST(read(repeated(R"({"b":)", 1024) + "1" + repeated("}", 1024)).has_value());
    BOOST_TEST(read(repeated(R"({"b":)", 1025) + "1" + repeated("}", 1025)).error().reason == "too_deep");
}

BOOST_AUTO_TEST_CASE(size_ends_at_16_mib) {
    BOOST_TEST(read("1" + std::string(max_json_bytes - 1, ' ')).has_value());
    BOOST_TEST(read("1" + std::string(max_json_bytes, ' ')).error().reason == "too_large");
    BOOST_TEST(read("").error().reason == "empty");
    BOOST_TEST(read("  ").error().reason == "not_json");
}

BOOST_AUTO_TEST_CASE(elements_past_the_limit_are_checked_and_not_kept) {
    const auto many = repeated(R"({"c":1},)", max_kept_elements + 1);
    BOOST_TEST(read("{\"b\":[" + many + "1]}").value()["b"].parts.size() == max_kept_elements);
    BOOST_TEST(read("{\"b\":[" + many + "tru]}").error().reason == "not_json");
}

BOOST_AUTO_TEST_CASE(a_fault_says_where_and_does_not_show_the_text) {
    const auto detail = [](std::string_view text) { return read(text).error().detail; };
    BOOST_TEST(detail(R"({"a": s3cr3t})").find("byte 6") != std::string::npos);
    BOOST_TEST(detail(R"({"a": 1, s3cr3t: 2})").find("byte 6") != std::string::npos);
    BOOST_TEST(detail("{\"a\": \"\xff s3cr3t\"}").find("byte 7") != std::string::npos);
    BOOST_TEST(detail("{\"a\": \"s3cr3t\n\"}").find("byte 13") != std::string::npos);
    BOOST_TEST(detail(R"({"a": 1} s3cr3t)").find("follows") != std::string::npos);
    for (const std::string_view text : {R"({"a": s3cr3t})", R"({"a": "s3cr3t)", R"({"s3cr3t\q": 1})"})
        BOOST_TEST(detail(text).find("s3cr3t") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_member_is_handed_out_as_it_was_written) {
    const auto raw = [](std::string_view object) { return JsonReader().raw_member(object, "a"); };
    BOOST_TEST(raw(R"({"x": [1], "a": {"b" : [1,  "\u0061"]} , "y": 2})") == R"({"b" : [1,  "\u0061"]})");
    BOOST_TEST(raw(R"({"a": 1, "\u0061": 2.50 })") == "2.50");
    BOOST_TEST(raw(R"({"a": "x\n" })") == R"("x\n")");
    BOOST_TEST(raw(R"({"x": {"a": 1}})") == "");
}

BOOST_AUTO_TEST_CASE(a_reader_that_met_a_fault_or_a_giant_reads_on) {
    JsonReader reader;
    BOOST_TEST(!reader.read("{\"a\": [1, 2", wanted).has_value());
    BOOST_TEST(reader.read("\"" + std::string(3 << 20, 'x') + "\"", wanted).has_value());
    BOOST_TEST(reader.read(R"({"a": 5})", wanted).value()["a"].integer().value() == 5);
    BOOST_TEST(!reader.read(R"({"a": )", wanted).has_value());
}
