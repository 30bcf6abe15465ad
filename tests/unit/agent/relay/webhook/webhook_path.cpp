#define BOOST_TEST_MODULE webhook_path
#include "agent/relay/webhook/webhook_path.h"

#include <boost/test/unit_test.hpp>

using namespace epilogue;
using namespace epilogue::relay;

namespace {

/// The conversation of a V1 target; "" when the target is another.
std::string events_of(std::string_view target) {
    const auto subject = webhook_subject(target);
    const auto* events = subject ? std::get_if<EventsOf>(&*subject) : nullptr;
    return events == nullptr ? "" : events->conversation_id.text();
}

template <class Subject>
bool is(std::string_view target) {
    const auto subject = webhook_subject(target);
    return subject && std::holds_alternative<Subject>(*subject);
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_conversation_of_events_is_in_the_path_behind_any_base) {
    const std::string id = "a3aa38869dfb4ca486d62d691cb2d9b7";
    for (const std::string& target :
         {"/events/" + id, "/hook/events/" + id, "/api/v1/webhooks/box-1/events/" + id + "/?x=/events/y",
          "/events/conversations/events/" + id, std::string("/events/A3AA3886-9DFB-4CA4-86D6-2D691CB2D9B7")})
        BOOST_TEST(events_of(target) == id, target);
    BOOST_TEST(events_of("/events/an%20id%C3%BC") == "an id\xC3\xBC");
}

BOOST_AUTO_TEST_CASE(conversations_and_files_are_told_by_their_paths) {
    BOOST_TEST(is<ConversationInfo>("/conversations"));
    BOOST_TEST(is<ConversationInfo>("/hook/conversations/"));
    BOOST_TEST(is<FileBatch>("/event-webhook/batch"));
    BOOST_TEST(is<FileBatch>("/base/event-webhook/batch?x"));
    BOOST_TEST(is<OneFile>("/event-webhook/sessions/c/events/7.json"));
}

BOOST_AUTO_TEST_CASE(other_paths_are_none) {
    for (const char* target :
         {"", "/", "/event/x", "/events", "/x/conversationss", "/eventsx/y", "/metrics", "*"})
        BOOST_TEST(!webhook_subject(target), target);
}

BOOST_AUTO_TEST_CASE(an_id_that_can_be_no_conversations_is_said_to_be_wrong) {
    for (const std::string& id :
         {std::string("%00"), std::string("a%0Ab"), std::string("%ff"), std::string(256, 'x')})
        BOOST_TEST(is<BadConversationId>("/events/" + id), id);
}

BOOST_AUTO_TEST_CASE(the_files_of_events_name_their_conversation) {
    BOOST_TEST((conversation_of_file("sessions/c1/events/0.json") == ConversationId("c1")));
    BOOST_TEST((conversation_of_file("/sessions/c1/events/12.json") == ConversationId("c1")));
    for (const char* path :
         {"", "sessions/c1/metadata.json", "sessions/c1/event_cache/0-25.json", "sessions/c1/events/x.json",
          "sessions//events/1.json", "sessions/c1/events/1.txt", "sessions/c1/agent_state.pkl",
          "other/c1/events/1.json", "sessions/c1/x/events/1.json"})
        BOOST_TEST(!conversation_of_file(path), path);
}
