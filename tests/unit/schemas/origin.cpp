#define BOOST_TEST_MODULE origin
#include "schemas/origin.h"

#include <boost/test/unit_test.hpp>

#include "schemas/decode.h"

namespace {

using namespace epilogue;

const std::string here = "slack:T024/C0456/1763715600.000100";

std::string origin_of(const std::string& json) {
    Decoder decoder;
    const Decoded decoded = decoder.decode(json);
    const auto* event = std::get_if<Event>(&decoded);
    BOOST_REQUIRE(event != nullptr);
    const auto* message = std::get_if<UserMessage>(&event->body);
    BOOST_REQUIRE(message != nullptr);
    return message->origin;
}

std::string v1(const std::string& text, const std::string& sender) {
    return R"({"kind":"MessageEvent","id":"m1","source":"user","llm_message":{"role":"user","content":[)"
           R"({"type":"text","text":")" +
           text + R"("}]},"sender":)" + sender + "}";
}

std::string v0(const std::string& text) {
    return R"({"id":7,"source":"user","action":"message","args":{"content":")" + text + R"("}})";
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_mark_is_known_at_the_end_of_a_text_alone) {
    const std::string mark = origin_mark(here);
    BOOST_TEST(mark == "<!-- epilogue:from slack:T024/C0456/1763715600.000100 -->");
    BOOST_TEST(origin_in("Go on.\n\n" + mark + "\n ") == here);
    BOOST_TEST(origin_in(mark) == here);
    BOOST_TEST(origin_in(mark + " and more") == "");
    BOOST_TEST(origin_in("Go on.") == "");
}

BOOST_AUTO_TEST_CASE(what_is_no_origin_is_none) {
    for (const std::string& wrong : {std::string(), std::string("two words"), std::string("a\tb"),
                                     std::string("a\x7f"), std::string(513, 'x')}) {
        BOOST_TEST(!is_origin(wrong));
        BOOST_TEST(origin_in(origin_mark(wrong)) == "");
    }
    BOOST_TEST(is_origin(std::string(512, 'x')));
    BOOST_TEST(origin_in("<!-- epilogue:from -->") == "");
}

BOOST_AUTO_TEST_CASE(both_generations_messages_say_it_in_their_text_and_v1s_in_its_sender) {
    BOOST_TEST(origin_of(v0("Go on. " + origin_mark(here))) == here);
    BOOST_TEST(origin_of(v0("Go on.")) == "");
    BOOST_TEST(origin_of(v1("Go on. " + origin_mark(here), "null")) == here);
    BOOST_TEST(origin_of(v1("Go on.", "\"github:o/r#1\"")) == "github:o/r#1");
    BOOST_TEST(origin_of(v1("Go on. " + origin_mark(here), "\"github:o/r#1\"")) == here);
    BOOST_TEST(origin_of(v1("Go on.", "null")) == "");
    BOOST_TEST(origin_of(v1("Go on.", "\"some name\"")) == "");
    BOOST_TEST(origin_of(v1("Go on.", "5")) == "");
}
