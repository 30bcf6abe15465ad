#define BOOST_TEST_MODULE note
#include "sinks/note/note.h"

#include <boost/test/unit_test.hpp>

#include "base/config_keys.h"
#include "sinks/processor.h"
#include "sinks/registry.h"

using namespace epilogue;

namespace {

HttpAnswer answered(int status) {
    HttpAnswer answer;
    answer.outcome = HttpOutcome::answered;
    answer.status = status;
    return answer;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_row_is_posted_through_the_registry_with_the_settings_of_the_file) {
    const ConfigSchema schema({.sinks = sink_sections()});
    const auto config =
        load_config(std::nullopt, {{"EPILOGUE_NOTE_API_URL", "https://notes.example"}}, schema);
    BOOST_REQUIRE_MESSAGE(config.has_value(), (config ? "" : config.error().text));
    BOOST_TEST(validate_for_use(*config, schema).has_value());
    BOOST_TEST(example_toml(schema).find("# Posts to a server of notes.\n[note]\n") != std::string::npos);

    SinkSettings settings;
    settings.sections = config->extensions;
    const auto sinks = make_sinks(settings);
    const auto processor = decode_processor("note", R"({"board": "todo", "more": 1})");
    BOOST_REQUIRE_MESSAGE(processor.has_value(), (processor ? "" : processor.error().text));
    BOOST_TEST(describe(*processor) == "note:todo");
    BOOST_TEST(encode_processor("note", R"({"board": "a", "more": 1})", *processor).value() ==
               R"({"board": "todo", "more": 1})");

    Sink& sink = *sinks.at(processor->sink);
    Post post;
    post.delivery_id = DeliveryId("d-1");
    post.target = processor->target;
    post.body = sink.render({.headline = "**Finished**", .final_message = "Done.", .facts = {}, .link = {}},
                            post.delivery_id);
    auto look = sink.find(post);
    BOOST_TEST(look.request()->url == "https://notes.example/todo/d-1");
    look.answer(answered(404));
    BOOST_TEST((look.request() == nullptr));
    const LookupResult lookup = look.outcome();
    BOOST_TEST(lookup.ok);
    BOOST_TEST(lookup.found.empty());

    auto write = sink.create(post);
    BOOST_TEST(write.request()->method == "PUT");
    BOOST_TEST(write.request()->body == "**Finished**\n\nDone.");
    write.answer(answered(201));
    BOOST_TEST((write.request() == nullptr));
    BOOST_CHECK(write.outcome().answer == Answer::sent);
}

BOOST_AUTO_TEST_CASE(a_wrong_board_is_refused) {
    BOOST_TEST(decode_processor("note", R"({"board": "../x"})").error().text ==
               R"(processor_json: field "board": expected a board's name)");
}
