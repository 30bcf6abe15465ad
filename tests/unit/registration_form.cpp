#define BOOST_TEST_MODULE registration_form
#include "worker/registration_form.h"

#include <boost/test/unit_test.hpp>

namespace {

using namespace epilogue;

BOOST_AUTO_TEST_CASE(every_option_of_the_command_line_is_a_member) {
    const auto form = form_from_json(
        R"({"conversation": "c", "processor": "github", "processor_json": {"repo": "o/r", "number": 7},
            "mode": "every_turn", "triggers": ["finished", "error"], "from": "next"})");
    BOOST_REQUIRE(form);
    BOOST_TEST(form->conversation == "c");
    BOOST_TEST(form->processor == "github");
    BOOST_TEST(form->processor_json == R"({"repo": "o/r", "number": 7})");
    const auto request = request_of(*form, std::chrono::seconds(60));
    BOOST_REQUIRE(request);
    BOOST_TEST((request->options.mode == Mode::every_turn));
    BOOST_TEST((request->options.triggers == std::vector<Verdict>{Verdict::finished, Verdict::error}));
    BOOST_TEST(!request->from_last);
    BOOST_TEST((request->inactivity == std::chrono::seconds(60)));
}

BOOST_AUTO_TEST_CASE(what_is_left_out_or_null_has_the_defaults_of_the_command_line) {
    for (const char* body : {R"({"conversation": "c", "processor": "log"})",
                             R"({"conversation": "c", "processor": "log", "processor_json": null,
                                 "mode": null, "triggers": null, "from": null})"}) {
        const auto form = form_from_json(body);
        BOOST_REQUIRE(form);
        BOOST_TEST(form->processor_json == "{}");
        const auto request = request_of(*form, std::chrono::seconds(60));
        BOOST_REQUIRE(request);
        BOOST_TEST((request->options.mode == Mode::once));
        BOOST_TEST((request->options.triggers == all_verdicts()));
        BOOST_TEST(request->from_last);
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
    const auto request = request_of(*form, std::chrono::seconds(60));
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

BOOST_AUTO_TEST_CASE(from_is_last_or_next) {
    RegistrationForm form;
    form.from = "first";
    const auto request = request_of(form, std::chrono::seconds(60));
    BOOST_REQUIRE(!request);
    BOOST_TEST(request.error().text.find("from: expected last or next") != std::string::npos);
}

}  // namespace
