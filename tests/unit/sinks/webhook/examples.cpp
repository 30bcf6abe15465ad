// The requests that tests/stack/webhook_verified.py checks with the reference verifier of Standard Webhooks.
#define BOOST_TEST_MODULE examples
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "sinks/webhook/webhook.h"
#include "tests/support/golden.h"

using namespace epilogue;

namespace {

const std::vector<std::string> secrets{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                                       "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"};

nlohmann::ordered_json example_of(const Summary& summary) {
    WebhookSettings settings;
    settings.endpoints["ci"] = {"https://ci.example.com/hooks/epilogue", secrets};
    settings.now = [] { return Instant(std::chrono::seconds(1764000000)); };
    settings.version = "0.1.0";
    WebhookSink sink(std::move(settings));
    Post post;
    post.delivery_id = DeliveryId("2b4e1c9a-0d5f-5a53-9c55-0a7c3f6f1b11");
    post.target = WebhookTarget{.endpoint = "ci", .url = {}};
    post.body = sink.render(summary, post.delivery_id);
    auto dialogue = sink.create(post);
    const HttpRequest* const request = dialogue.request();
    BOOST_REQUIRE(request != nullptr);
    nlohmann::ordered_json headers;
    for (const std::string& header : request->headers) {
        const std::size_t colon = header.find(": ");
        headers[header.substr(0, colon)] = header.substr(colon + 2);
    }
    return {{"secrets", secrets}, {"url", request->url}, {"headers", headers}, {"body", request->body}};
}

Summary finished() {
    Summary summary{.headline = "**Finished**",
                    .final_message = "The clock is mended — \"twice\" 🚀.\n\n- `a.py`\n- `b.py`",
                    .facts = "- Changed: `a.py` +3 −1",
                    .link = "https://app.example.com/conversations/c1"};
    summary.about = {.conversation_id = "c1",
                     .turn = "7f2a0c1e-0000-4000-8000-000000000001",
                     .verdict = "finished",
                     .outcome = "done",
                     .error_code = {},
                     .requests = {"https://github.com/octo/cat/pull/7"},
                     .steps = 12,
                     .seconds = 340,
                     .tokens_in = 10500,
                     .tokens_out = 900,
                     .cost = 21000};
    return summary;
}

Summary failed() {
    Summary summary{.headline = "**Ended with an error**: `LLMAuthenticationError`",
                    .final_message = {},
                    .facts = "- The language model refuses the key.",
                    .link = {}};
    summary.about.conversation_id = "c2";
    summary.about.turn = "start";
    summary.about.verdict = "error";
    summary.about.outcome = "failed";
    summary.about.error_code = "LLMAuthenticationError";
    return summary;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_examples_are_what_is_sent) {
    const std::string folder = "tests/golden/webhook/";
    BOOST_TEST(difference_from_file(folder + "finished.json", example_of(finished()).dump(2) + "\n") == "");
    BOOST_TEST(difference_from_file(folder + "error.json", example_of(failed()).dump(2) + "\n") == "");
    BOOST_TEST(
        difference_from_file(
            folder + "frozen_before.json",
            example_of({.headline = "**Finished**", .final_message = {}, .facts = {}, .link = {}}).dump(2) +
                "\n") == "");
}
