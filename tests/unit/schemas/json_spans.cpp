#define BOOST_TEST_MODULE json_spans
#include "schemas/json_spans.h"

#include <string>

#include <boost/test/unit_test.hpp>

using namespace epilogue;

namespace {

/// The elements with a bar behind each; "none" when the text is no array.
std::string elements(std::string_view text) {
    const auto found = json_elements(text);
    if (!found) return "none";
    std::string all;
    for (const auto element : *found) all.append(element) += '|';
    return all;
}

std::string members(std::string_view text) {
    const auto found = json_members(text);
    if (!found) return "none";
    std::string all;
    for (const auto& [name, value] : *found) all.append(name).append("=").append(value) += '|';
    return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(elements_are_given_as_they_are_written) {
    BOOST_TEST(elements("[]") == "");
    BOOST_TEST(elements(" [ ] \n") == "");
    BOOST_TEST(elements(R"([1, "a,]\"" ,{"b": [2, "}"]},[[]], null])") ==
               R"(1|"a,]\""|{"b": [2, "}"]}|[[]]|null|)");
}

BOOST_AUTO_TEST_CASE(what_is_no_array_as_a_whole_has_no_elements) {
    for (const char* text :
         {"", "[", "]", "{}", "1", "[1", "1]", "[1,]", "[,1]", "[1 2]", "[1]]x", "[1],[2]"})
        BOOST_TEST(elements(text) == "none", text);
}

BOOST_AUTO_TEST_CASE(members_are_given_as_they_are_written) {
    BOOST_TEST(members("{}") == "");
    BOOST_TEST(members(R"( {"a" : 1,"b\"":{"c":[]} , "a":"}"} )") == R"("a"=1|"b\""={"c":[]}|"a"="}"|)");
}

BOOST_AUTO_TEST_CASE(what_is_no_object_as_a_whole_has_no_members) {
    for (const char* text : {"", "{", "[]", "{a:1}", R"({"a"})", R"({"a":})", R"({"a":1,})", R"({"a" 1})"})
        BOOST_TEST(members(text) == "none", text);
}

BOOST_AUTO_TEST_CASE(the_ends_of_values_that_do_not_end_are_the_texts_end) {
    for (const char* text : {"\"abc", "\"a\\", "{\"a\":[", "[[[", "{\"a"})
        BOOST_TEST(end_of_json_value(text, 0) == std::string_view(text).size(), text);
}
