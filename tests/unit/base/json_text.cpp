#define BOOST_TEST_MODULE json_text
#include "base/json_text.h"

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

using namespace epilogue;

BOOST_AUTO_TEST_CASE(a_document_is_written_on_one_line_with_line_ends_escaped) {
    BOOST_TEST(json_line(nlohmann::json{{"b", "one\ntwo"}, {"a", {1, 2}}}) ==
               R"({"a":[1,2],"b":"one\ntwo"})");
    BOOST_TEST(json_line(nlohmann::ordered_json{{"b", true}, {"a", nullptr}}) == R"({"b":true,"a":null})");
}

BOOST_AUTO_TEST_CASE(for_people_it_is_indented_by_two_blanks) {
    BOOST_TEST(json_indented(nlohmann::json{{"a", 1}}) == "{\n  \"a\": 1\n}");
    BOOST_TEST(json_indented(nlohmann::ordered_json{{"b", 1}, {"a", 2}}) == "{\n  \"b\": 1,\n  \"a\": 2\n}");
}

BOOST_AUTO_TEST_CASE(bytes_that_are_not_utf_8_are_replaced_and_nothing_is_thrown) {
    const nlohmann::json cut{{"text", "half \xE2\x82"}};
    BOOST_TEST(json_line(cut) == "{\"text\":\"half \xEF\xBF\xBD\"}");
    BOOST_TEST(json_indented(cut) == "{\n  \"text\": \"half \xEF\xBF\xBD\"\n}");
}
