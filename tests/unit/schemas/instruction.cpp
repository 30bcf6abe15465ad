#define BOOST_TEST_MODULE instruction
#include "schemas/instruction.h"

#include <boost/test/unit_test.hpp>

#include "schemas/decode.h"

namespace {

using namespace epilogue;

const std::string id = "0f9b2f4e-3c52-4b8e-9a51-5f0f2c1d7e60";

/// The status that the decoder makes of a user message; "": it is a message.
std::string status_of(const std::string& json) {
    Decoder decoder;
    const Decoded decoded = decoder.decode(json);
    const auto* event = std::get_if<Event>(&decoded);
    BOOST_REQUIRE(event != nullptr);
    const auto* change = std::get_if<StatusChange>(&event->body);
    BOOST_TEST((change != nullptr || std::holds_alternative<UserMessage>(event->body)));
    return change == nullptr ? "" : change->status;
}

std::string v1(const std::string& text) {
    return R"({"kind":"MessageEvent","id":"m1","source":"user","llm_message":{"role":"user","content":[)"
           R"({"type":"text","text":")" +
           text + R"("}]}})";
}

std::string v0(const std::string& text) {
    return R"({"id":7,"source":"user","action":"message","args":{"content":")" + text + R"("}})";
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_mark_is_known_at_the_end_of_a_text_alone) {
    const std::string mark = instruction_mark(id);
    BOOST_TEST(mark == "<!-- epilogue:ask id=0f9b2f4e-3c52-4b8e-9a51-5f0f2c1d7e60 -->");
    BOOST_TEST(instruction_in("Summarise.\n\n" + mark) == id);
    BOOST_TEST(instruction_in(mark + " \n") == id);
    BOOST_TEST(instruction_in(mark + " " + instruction_mark("none")) == "");
    for (const std::string& text :
         {std::string(), mark + " and then?", std::string("<!-- epilogue:ask id= -->"),
          instruction_mark("0f9b2f4e"), instruction_mark(id + "0"),
          std::string("<!-- epilogue:1 id=") + id + " -->"})
        BOOST_TEST(instruction_in(text) == "");
}

BOOST_AUTO_TEST_CASE(a_message_that_ends_with_it_is_no_users_message_in_either_generation) {
    const std::string marked = "Summarise. " + instruction_mark(id);
    for (const auto& event : {v1(marked), v0(marked)}) BOOST_TEST(status_of(event) == instructed_status);
    for (const auto& event : {v1("Go on."), v0("Go on."), v1(marked + " Go on.")})
        BOOST_TEST(status_of(event) == "");
}
