#define BOOST_TEST_MODULE json_writer
#include "schemas/json_writer.h"

#include <limits>
#include <string>

#include <boost/test/unit_test.hpp>

#include "schemas/json_reader.h"

using namespace epilogue;

BOOST_AUTO_TEST_CASE(commas_and_brackets_stand_where_they_belong) {
    JsonWriter json;
    json.begin_object();
    json.name("list");
    json.begin_array();
    json.text("a");
    json.number(-7);
    json.flag(true);
    json.null();
    json.begin_object();
    json.end_object();
    json.begin_array();
    json.end_array();
    json.end_array();
    json.text("text", "[");
    json.number("number", std::numeric_limits<std::int64_t>::min());
    json.flag("flag", false);
    json.end_object();
    BOOST_TEST(json.take() ==
               R"({"list":["a",-7,true,null,{},[]],"text":"[","number":-9223372036854775808,"flag":false})");
    BOOST_TEST(json.take() == "");
}

BOOST_AUTO_TEST_CASE(every_text_is_read_back_as_it_was) {
    std::string all;
    for (char c = 0; c < 127; ++c) all += c;
    for (const std::string& text :
         {std::string(), all, std::string("ü€🚀 \"quoted\" \\ \u2028"), std::string("\n")}) {
        JsonWriter json;
        json.text(text);
        const auto read = JsonReader().read(json.take(), {});
        BOOST_REQUIRE(read.has_value());
        BOOST_TEST(read->text == text);
    }
}
