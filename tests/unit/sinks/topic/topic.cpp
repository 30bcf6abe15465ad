#define BOOST_TEST_MODULE topic
#include "sinks/topic/topic.h"

#include <vector>

#include <boost/test/unit_test.hpp>

#include "sinks/format/outcome_body.h"
#include "sinks/port/topic_request.h"
#include "sinks/processor.h"
#include "tests/unit/sinks/sink_fixture.h"

using namespace epilogue;
using namespace epilogue::sink_test;
using namespace std::chrono_literals;

namespace {

const Summary finished{.headline = "**Finished**", .final_message = "Done.", .facts = {}, .link = {}};
const Instant attempted = *parse_instant("2026-11-24T10:00:00Z");

Post post_of(Target target = TopicTarget{}) {
    return {.delivery_id = id,
            .conversation_id = ConversationId("c\n1"),
            .target = std::move(target),
            .body = TopicSink("").render(finished, id),
            .intent_at = attempted};
}

/// A sink whose requests are kept and get one answer.
struct Asked {
    explicit Asked(HttpOutcome outcome, int status = 0, const std::string& topic = "outcomes")
        : calls(std::make_shared<TopicSink>(topic),
                {.send = with_topics({},
                                     [this, outcome, status](const HttpRequest& request) {
                                         requests.push_back(request);
                                         HttpAnswer answer;
                                         answer.outcome = outcome;
                                         answer.status = status;
                                         answer.cause =
                                             outcome == HttpOutcome::answered ? "" : "the broker is away";
                                         return answer;
                                     })},
                1s) {}

    std::vector<HttpRequest> requests;
    SinkCalls calls;
};

const TopicRecord record{
    .topic = "outcomes", .key = "c\n1", .delivery_id = id.text(), .value = outcome_body(finished, id)};

}  // namespace

BOOST_AUTO_TEST_CASE(an_outcome_becomes_one_record_under_its_conversations_key) {
    Asked asked(HttpOutcome::answered, found_status);
    const auto attempt = asked.calls.create(post_of());
    BOOST_TEST(name_of(attempt.answer) == "sent");
    BOOST_TEST(attempt.receipt.remote_id == id.text());
    BOOST_REQUIRE(asked.requests.size() == 1U);
    BOOST_TEST(asked.requests[0].method == produce_method);
    BOOST_TEST((topic_record_in(asked.requests[0]) == record));
}

BOOST_AUTO_TEST_CASE(a_lost_acknowledgement_is_unknown_and_looked_for_to_the_topics_end) {
    Asked lost(HttpOutcome::uncertain);
    const auto attempt = lost.calls.create(post_of());
    BOOST_TEST(name_of(attempt.answer) == "unknown");
    BOOST_TEST(attempt.cause == "the broker is away");
    BOOST_TEST((attempt.platform == PlatformState::failed));
    const auto failed = lost.calls.find(post_of());
    BOOST_TEST(!failed.ok);
    BOOST_TEST(failed.cause == "the broker is away");

    Asked there(HttpOutcome::answered, found_status);
    const auto lookup = there.calls.find(post_of());
    BOOST_TEST(lookup.ok);
    BOOST_REQUIRE(lookup.found.size() == 1U);
    BOOST_TEST(lookup.found[0].remote_id == id.text());
    BOOST_TEST((topic_record_in(there.requests[0]) == record));
    BOOST_TEST((search_since(there.requests[0]) == attempted - 5min));
    BOOST_TEST(there.requests[0].changes_nothing);

    Asked absent(HttpOutcome::answered, absent_status);
    BOOST_TEST(absent.calls.find(post_of()).ok);
    BOOST_TEST(absent.calls.find(post_of()).found.empty());
}

BOOST_AUTO_TEST_CASE(what_was_not_sent_is_tried_again) {
    Asked asked(HttpOutcome::not_sent);
    BOOST_TEST(name_of(asked.calls.create(post_of()).answer) == "retry");
}

BOOST_AUTO_TEST_CASE(without_a_topic_nothing_is_asked_and_the_record_waits) {
    Asked asked(HttpOutcome::answered, found_status, "");
    const auto attempt = asked.calls.create(post_of());
    BOOST_TEST(name_of(attempt.answer) == "unauthorised");
    BOOST_TEST(attempt.cause == "no topic: set [outcomes] topic");
    BOOST_TEST(asked.calls.find(post_of()).forbidden);
    BOOST_TEST((asked.calls.check_tokens().at(0).state == TokenState::missing));
    BOOST_TEST(name_of(asked.calls.create(post_of(ForeignTarget{})).answer) == "refused");
    BOOST_TEST(!asked.calls.remove(post_of(), {.remote_id = id.text(), .remote_url = {}}));
    BOOST_TEST(asked.requests.empty());
}

BOOST_AUTO_TEST_CASE(whether_the_topic_can_be_read_is_told) {
    Asked there(HttpOutcome::answered, absent_status);
    const auto report = there.calls.check_tokens().at(0);
    BOOST_TEST((report.state == TokenState::accepted));
    BOOST_TEST((report.look_up == Permission::yes));
    BOOST_TEST(report.identity == "outcomes");
    Asked away(HttpOutcome::uncertain);
    BOOST_TEST((away.calls.check_tokens().at(0).state == TokenState::unreachable));
    BOOST_TEST(away.calls.check_tokens().at(0).cause == "the broker is away");
}

BOOST_AUTO_TEST_CASE(the_short_form_is_empty) {
    const auto processor = decode_processor("topic", R"({"more": 1})");
    BOOST_REQUIRE(processor.has_value());
    BOOST_TEST(describe(*processor) == "topic");
    BOOST_TEST(!decode_processor("x.topic", "{}").has_value());
}
