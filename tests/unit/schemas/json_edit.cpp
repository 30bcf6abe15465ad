#define BOOST_TEST_MODULE json_edit
#include "schemas/json_edit.h"

#include <boost/test/unit_test.hpp>

using namespace epilogue;

BOOST_AUTO_TEST_CASE(a_member_is_replaced_and_the_rest_stays_as_it_was_written) {
    BOOST_TEST(with_member(R"( {"a" : 1.50 ,"b":[{"a":2},"}"], "c":"\\\"a"} )", {"b"}, "null").value() ==
               R"( {"a" : 1.50 ,"b":null, "c":"\\\"a"} )");
    BOOST_TEST(with_member(R"({"a":1})", {"a"}, R"("x")").value() == R"({"a":"x"})");
    BOOST_TEST(with_member(R"({"a":{"b":{"c":true}},"b":1})", {"a", "b", "c"}, "0").value() ==
               R"({"a":{"b":{"c":0}},"b":1})");
}

BOOST_AUTO_TEST_CASE(a_missing_member_is_added_at_the_end_of_its_object) {
    BOOST_TEST(with_member("{}", {"a"}, "1").value() == R"({"a": 1})");
    BOOST_TEST(with_member(R"({"x":{"y":1}, "z":2})", {"x", "a"}, "1").value() ==
               R"({"x":{"y":1, "a": 1}, "z":2})");
}

BOOST_AUTO_TEST_CASE(the_last_of_duplicates_is_the_one_and_names_may_be_escaped) {
    BOOST_TEST(with_member(R"({"a":1,"a":2})", {"a"}, "3").value() == R"({"a":1,"a":3})");
    BOOST_TEST(with_member(R"({"\u0061":1})", {"a"}, "3").value() == R"({"\u0061":3})");
}

BOOST_AUTO_TEST_CASE(without_the_object_there_is_nothing_to_change) {
    BOOST_TEST(!with_member("[]", {"a"}, "1").has_value());
    BOOST_TEST(!with_member(R"({"x":1})", {"x", "a"}, "1").has_value());
    BOOST_TEST(!with_member(R"({})", {"x", "a"}, "1").has_value());
}

BOOST_AUTO_TEST_CASE(texts_are_escaped) {
    BOOST_TEST(json_string("a\"\\\n") == R"("a\"\\\n")");
}
