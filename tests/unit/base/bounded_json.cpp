#define BOOST_TEST_MODULE bounded_json
#include "base/bounded_json.h"

#include <string>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

using namespace epilogue;

namespace {

std::string arrays(std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
}

std::string objects(std::size_t depth) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += "{\"a\":";
    return text + "1" + std::string(depth, '}');
}

std::string repeated(std::size_t count, const std::string& text) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_within_the_limits_is_parsed_as_it_is_written) {
    const std::string text = R"({"b": [1, "x]}[{\"\\", {"a": null}], "a": 1.5})";
    BOOST_TEST(json_objection(text).empty());
    BOOST_TEST(parse_json(text) == nlohmann::json::parse(text));
    BOOST_TEST(parse_ordered_json(text).dump() == R"({"b":[1,"x]}[{\"\\",{"a":null}],"a":1.5})");
    BOOST_TEST(parse_json("7") == 7);
}

BOOST_AUTO_TEST_CASE(what_is_no_json_is_discarded) {
    for (const char* text :
         {"", "{", "]", "}", "{]", "[1", "\"a", "\"a\\", ":", "[1,]", "<html>", "{\"a\":1:2}"}) {
        BOOST_TEST(parse_json(text).is_discarded(), text);
        BOOST_TEST(parse_ordered_json(text).is_discarded(), text);
    }
}

BOOST_AUTO_TEST_CASE(what_is_nested_to_the_limit_can_be_copied_and_dumped_and_one_level_more_is_discarded) {
    for (const auto& nested : {&arrays, &objects}) {
        const auto deep = parse_ordered_json(nested(max_json_depth));
        const auto copy = deep;
        BOOST_TEST(copy.dump() == nested(max_json_depth));
        const auto sorted = parse_json(nested(max_json_depth));
        BOOST_TEST(nlohmann::json(sorted).dump() == nested(max_json_depth));
        BOOST_TEST(json_objection(nested(max_json_depth + 1)) == "nested more than 1024 deep");
        BOOST_TEST(parse_json(nested(max_json_depth + 1)).is_discarded());
        BOOST_TEST(parse_ordered_json(nested(100'000)).is_discarded());
    }
    BOOST_TEST(json_objection(std::string(100'000, '[')) == "nested more than 1024 deep");
}

BOOST_AUTO_TEST_CASE(brackets_in_strings_are_no_depth) {
    const std::string text = "\"" + std::string(100'000, '[') + "\\\"{\"";
    BOOST_TEST(parse_json(text).get<std::string>().size() == 100'002U);
}

BOOST_AUTO_TEST_CASE(more_values_than_a_million_are_discarded) {
    const std::string many = "[0" + repeated(max_json_values, ",0") + "]";
    BOOST_TEST(json_objection(many) == "more than a million values");
    BOOST_TEST(parse_json(many).is_discarded());
    BOOST_TEST(json_objection("[{}" + repeated(max_json_values / 2, ",{}") + "]") ==
               "more than a million values");
    BOOST_TEST(parse_json("[0" + repeated(1000, ",0") + "]").size() == 1001U);
}

BOOST_AUTO_TEST_CASE(objects_that_take_time_by_the_square_are_discarded) {
    // Each name is compared with all before it.
    std::string wide = "{\"0\":0";
    for (int i = 1; i < 100'000; ++i) wide += ",\"" + std::to_string(i) + "\":0";
    wide += "}";
    const std::string_view objection = "too many members in one object, or around large ones";
    BOOST_TEST(json_objection(wide) == objection);
    BOOST_TEST(parse_ordered_json(wide).is_discarded());
    // Each object around the large array copies it when it gets its second member.
    const std::string large = "[0" + repeated(100'000, ",0") + "]";
    const std::string around = repeated(1000, "{\"a\":") + large + repeated(1000, ",\"b\":0}");
    BOOST_TEST(json_objection(around) == objection);
    BOOST_TEST(json_objection("{\"a\":{\"a\":" + large + ",\"b\":0},\"b\":0}").empty());
}
