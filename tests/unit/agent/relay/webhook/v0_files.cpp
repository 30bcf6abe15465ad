#define BOOST_TEST_MODULE v0_files
#include "agent/relay/webhook/v0_files.h"

#include <boost/test/unit_test.hpp>

using namespace epilogue;
using namespace epilogue::relay;

namespace {

PostedFiles files_of(std::string_view item) {
    PostedFiles files;
    add_posted_file(files, item, 4);
    return files;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_written_event_is_one_with_its_conversation) {
    const auto files = files_of(
        R"({"method":"POST","path":"sessions/c1/events/3.json","content":"{\"id\": 3, \"action\": \"run\"}"})");
    BOOST_REQUIRE(files.events.size() == 1U);
    BOOST_TEST(files.events[0].conversation_id == ConversationId("c1"));
    BOOST_TEST(files.events[0].json == R"({"id": 3, "action": "run"})");
}

BOOST_AUTO_TEST_CASE(base64_is_decoded) {
    const auto item = [](const std::string& content) {
        return R"({"method":"POST","path":"sessions/c/events/1.json","encoding":"base64","content":")" +
               content + "\"}";
    };
    BOOST_TEST(files_of(item("eyJpZCI6MX0=")).events.at(0).json == R"({"id":1})");
    BOOST_TEST(files_of(item("eyJpZCI6MTJ9")).events.at(0).json == R"({"id":12})");
    BOOST_TEST(files_of(item("eyJpZCI6MTIzfQ==")).events.at(0).json == R"({"id":123})");
    BOOST_TEST(files_of(item("?")).invalid == 1U);
}

BOOST_AUTO_TEST_CASE(other_files_and_removals_are_no_events_and_no_faults) {
    for (const char* item :
         {R"({"method":"POST","path":"sessions/c1/metadata.json","content":"{}"})",
          R"({"method":"POST","path":"sessions/c1/agent_state.pkl","content":"x","encoding":"base64"})",
          R"({"method":"DELETE","path":"sessions/c1/events/3.json"})"}) {
        const auto files = files_of(item);
        BOOST_TEST(files.others == 1U, item);
        BOOST_TEST(files.invalid == 0U, item);
        BOOST_TEST(files.events.empty(), item);
    }
}

BOOST_AUTO_TEST_CASE(what_is_no_item_is_named_with_its_place) {
    for (const char* item :
         {"1", "{", R"({"method":"POST","content":"{}"})", R"({"method":"PUT","path":"x","content":""})",
          R"({"method":"POST","path":"sessions/c/events/1.json"})",
          R"({"method":"POST","path":"sessions/c/events/1.json","content":"","encoding":"gzip"})"}) {
        const auto files = files_of(item);
        BOOST_TEST(files.invalid == 1U, item);
        BOOST_TEST(files.first_fault.starts_with("item 4: "), files.first_fault);
    }
}
