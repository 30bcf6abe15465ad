#define BOOST_TEST_MODULE registration_form
#include "worker/serve/registration_form.h"

#include <boost/test/unit_test.hpp>

#include "worker/agents/agent_directory.h"

namespace {

using namespace epilogue;

const Config config = [] {
    Config made;
    made.security.keys = {Secret(std::string(32, 'k'))};
    return made;
}();

BOOST_AUTO_TEST_CASE(every_option_of_the_command_line_is_a_member) {
    const auto form = form_from_json(
        R"({"conversation": "c", "processor": "github", "processor_json": {"repo": "o/r", "number": 7},
            "mode": "every_turn", "triggers": ["finished", "error"], "from": "next"})");
    BOOST_REQUIRE(form);
    BOOST_TEST(form->conversation == "c");
    BOOST_TEST(form->processor == "github");
    BOOST_TEST(form->processor_json == R"({"repo": "o/r", "number": 7})");
    const auto request = request_of(*form, config, {.inactivity = std::chrono::seconds(60)});
    BOOST_REQUIRE(request);
    BOOST_TEST((request->options.mode == Mode::every_turn));
    BOOST_TEST((request->options.triggers == std::vector<Verdict>{Verdict::finished, Verdict::error}));
    BOOST_TEST(!request->options.from_last);
    BOOST_TEST((request->watch.inactivity == std::chrono::seconds(60)));
}

BOOST_AUTO_TEST_CASE(the_names_of_a_callback_that_is_shown_are_taken_and_those_of_the_command_line_too) {
    const auto shown = form_from_json(
        R"({"conversation_id": "c", "processor_type": "log", "options": {"mode": "every_turn",
            "triggers": ["error"], "from": "next"}, "agent_url": null, "again": true})");
    const auto typed = form_from_json(
        R"({"conversation": "c", "processor": "log", "mode": "every_turn", "triggers": "error",
            "from": "next", "again": true})");
    BOOST_REQUIRE(shown);
    BOOST_REQUIRE(typed);
    for (const auto* form : {&*shown, &*typed}) {
        BOOST_TEST(form->conversation == "c");
        BOOST_TEST(form->processor == "log");
        const auto request = request_of(*form, config, {});
        BOOST_REQUIRE(request);
        BOOST_TEST((request->options.mode == Mode::every_turn));
        BOOST_TEST((request->options.triggers == std::vector<Verdict>{Verdict::error}));
        BOOST_TEST(!request->options.from_last);
        BOOST_TEST(request->again);
    }
}

BOOST_AUTO_TEST_CASE(a_key_of_a_request_stands_for_its_options_and_must_be_visible_ascii) {
    RegistrationForm form;
    form.conversation = "c";
    const auto kept = kept_request("key-1", form);
    BOOST_REQUIRE(kept);
    BOOST_TEST(kept->key == "key-1");
    BOOST_TEST(kept->body_sha256 == kept_request("key-1", form)->body_sha256);
    form.again = true;
    BOOST_TEST(kept->body_sha256 != kept_request("key-1", form)->body_sha256);
    for (const std::string& wrong : {std::string(), std::string("two words"), std::string(256, 'k')})
        BOOST_TEST(kept_request(wrong, form).error().text.find("visible ASCII") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_is_left_out_or_null_has_the_defaults_of_the_command_line) {
    for (const char* body : {R"({"conversation": "c", "processor": "log"})",
                             R"({"conversation": "c", "processor": "log", "processor_json": null,
                                 "mode": null, "triggers": null, "from": null})"}) {
        const auto form = form_from_json(body);
        BOOST_REQUIRE(form);
        BOOST_TEST(form->processor_json == "{}");
        const auto request = request_of(*form, config, {});
        BOOST_REQUIRE(request);
        BOOST_TEST((request->options.mode == Mode::once));
        BOOST_TEST((request->options.triggers == all_verdicts()));
        BOOST_TEST(request->options.from_last);
    }
}

BOOST_AUTO_TEST_CASE(processor_json_is_kept_as_it_is_written_or_read_from_a_string) {
    const auto as_object = form_from_json(
        R"({"conversation": "c", "processor": "log", "processor_json": {"n": 18446744073709551616, "d": 1e2}})");
    BOOST_REQUIRE(as_object);
    BOOST_TEST(as_object->processor_json == R"({"n": 18446744073709551616, "d": 1e2})");
    const auto as_text =
        form_from_json(R"({"conversation": "c", "processor": "log", "processor_json": "{\"a\": 1}"})");
    BOOST_REQUIRE(as_text);
    BOOST_TEST(as_text->processor_json == R"({"a": 1})");
}

BOOST_AUTO_TEST_CASE(triggers_may_be_a_comma_list) {
    const auto form =
        form_from_json(R"({"conversation": "c", "processor": "log", "triggers": "stuck, error"})");
    BOOST_REQUIRE(form);
    const auto request = request_of(*form, config, {});
    BOOST_REQUIRE(request);
    BOOST_TEST((request->options.triggers == std::vector<Verdict>{Verdict::error, Verdict::stuck}));
}

BOOST_AUTO_TEST_CASE(a_fault_names_the_member_and_what_was_expected) {
    struct Wrong {
        const char* body;
        const char* named;
    };
    for (const auto& [body, named] :
         {Wrong{"{}", "conversation: is missing"},
          {R"({"conversation": "c"})", "processor: is missing"},
          {R"({"conversation": 5, "processor": "log"})", "conversation: expected a string"},
          {R"({"conversation": "c", "processor": "log", "triggers": []})", "triggers: expected"},
          {R"({"conversation": "c", "processor": "log", "triggers": [1]})", "triggers: expected"},
          {R"({"conversation": "c", "processor": "log", "mode": {}})", "mode: expected"},
          {R"({"conversation": "c", "processor": "log", "triger": "x"})", "did you mean \"triggers\""},
          {R"({"conversation": "c", "processor": "log", "agent_url": 1})", "agent_url: expected a string"},
          {R"({"conversation": "c", "processor": "log", "agent_key": ["k"]})",
           "agent_key: expected a string"},
          {R"({"conversation": "c", "conversation_id": "d", "processor": "log"})",
           "conversation: is given twice"},
          {R"({"conversation": "c", "processor": "log", "mode": "once", "options": {"mode": "once"}})",
           "mode: is given twice"},
          {R"({"conversation": "c", "processor": "log", "options": []})", "options: expected an object"},
          {R"({"conversation": "c", "processor": "log", "options": {"mod": "once"}})",
           "options: \"mod\" is no option of a callback; did you mean \"mode\"?"},
          {R"({"conversation": "c", "processor_type": 5})", "processor_type: expected a string"},
          {R"({"conversation": "c", "processor": "log", "again": "yes"})", "again: expected true or false"},
          {R"({"conversation": "c", "processor": "log", "a": 1})", "\"a\" is no option"}}) {
        const auto form = form_from_json(body);
        BOOST_REQUIRE(!form);
        BOOST_TEST(form.error().is_json);
        BOOST_TEST(form.error().detail.find(named) != std::string::npos, form.error().detail);
    }
}

BOOST_AUTO_TEST_CASE(a_body_that_is_no_json_object_is_told_from_a_wrong_form) {
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += "[";
    for (const std::string& body : {std::string(), std::string("{"), std::string("[1]"), std::string("\"x\""),
                                    std::string("{\"a\": \xff}"), deep}) {
        const auto form = form_from_json(body);
        BOOST_REQUIRE(!form);
        BOOST_TEST(!form.error().is_json);
        BOOST_TEST(!form.error().detail.empty());
    }
}

BOOST_AUTO_TEST_CASE(a_key_in_plain_text_is_refused_and_not_repeated) {
    RegistrationForm form;
    form.conversation = "c";
    form.processor = "JiraV1CallbackProcessor";
    for (const char* name : {"decrypted_api_key", "decrypted_api_k\\u0065y"}) {
        form.processor_json = R"({"issue_key": "PROJ-12", ")" + std::string(name) + R"(": "hidden-word"})";
        const auto request = request_of(form, config, {});
        BOOST_REQUIRE(!request);
        BOOST_TEST(request.error().text.starts_with("processor_json: field \"decrypted_api_key\""));
        BOOST_TEST(request.error().text.find("hidden-word") == std::string::npos);
    }
    form.processor_json = R"({"issue_key": "PROJ-12", "decrypted_api_key": null})";
    BOOST_TEST(request_of(form, config, {}).has_value());
}

BOOST_AUTO_TEST_CASE(from_is_last_or_next) {
    RegistrationForm form;
    form.from = "first";
    const auto request = request_of(form, config, {});
    BOOST_REQUIRE(!request);
    BOOST_TEST(request.error().text.find("from: expected last or next") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_agent_servers_key_is_sealed_for_its_conversation) {
    const auto form = form_from_json(
        R"({"conversation": "00000000-0000-4000-8000-0000000000AA", "processor": "log",
            "agent_url": "https://agents.example.com/a", "agent_key": "the session key"})");
    BOOST_REQUIRE(form);
    auto spaced = request_of(*form, config, {});
    BOOST_TEST(!spaced);
    RegistrationForm usable = *form;
    usable.agent_key = Secret("the-session-key");
    const auto request = request_of(usable, config, {});
    BOOST_REQUIRE(request);
    BOOST_REQUIRE(request->endpoint);
    BOOST_TEST(request->endpoint->conversation_id == "000000000000400080000000000000aa");
    BOOST_TEST(request->endpoint->url == "https://agents.example.com/a");
    BOOST_TEST(request->endpoint->sealed_key.find("the-session-key") == std::string::npos);
    const auto opened = session_key_sealer(config.security.keys)
                            .open(request->endpoint->sealed_key, request->endpoint->conversation_id);
    BOOST_TEST(opened.value().reveal() == "the-session-key");
}

BOOST_AUTO_TEST_CASE(an_agent_server_without_a_key_needs_no_key_of_ours) {
    RegistrationForm form;
    form.conversation = "c";
    BOOST_TEST(!request_of(form, Config{}, {})->endpoint);
    form.agent_url = "http://127.0.0.1:8000";
    BOOST_TEST(request_of(form, Config{}, {})->endpoint->sealed_key.empty());
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_an_agent_server_is_said_without_what_was_written) {
    struct Wrong {
        std::string url;
        std::string key;
        const char* said;
    };
    const std::string hidden = "hidden-word";
    for (const auto& [url, key, said] :
         {Wrong{"", hidden, "agent_key: expected together with agent_url"},
          Wrong{"ftp://" + hidden, "", "agent_url: expected http"},
          Wrong{"http://u:" + hidden + "@h", "", "agent_url: expected http"},
          Wrong{"http://h/?k=" + hidden, "", "agent_url: expected http"},
          Wrong{"http://", "", "agent_url: expected http"},
          Wrong{"http://h/" + std::string(3000, 'a'), "", "agent_url: expected"},
          Wrong{"http://h", hidden + "\n", "agent_key: expected 1 to 512"},
          Wrong{"http://h", std::string(600, 'k'), "agent_key: expected"}}) {
        RegistrationForm form;
        form.conversation = "c";
        form.agent_url = url;
        form.agent_key = Secret(key);
        const auto request = request_of(form, config, {});
        BOOST_REQUIRE(!request);
        BOOST_TEST((request.error().remedy == Remedy::poison));
        BOOST_TEST(request.error().text.starts_with(said), request.error().text);
        BOOST_TEST(request.error().text.find(hidden) == std::string::npos, request.error().text);
    }
    RegistrationForm form;
    form.agent_url = "http://h";
    form.agent_key = Secret("k");
    BOOST_TEST(
        request_of(form, Config{}, {}).error().text.starts_with("agent_key: it cannot be kept: [security]"));
}

}  // namespace
