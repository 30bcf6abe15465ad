#define BOOST_TEST_MODULE secret
#include "base/secret.h"

#include <vector>

#include <boost/test/unit_test.hpp>

#include "config_fixture.h"
#include "sinks/github/github_section.h"
#include "sinks/gitlab/gitlab_section.h"
#include "sinks/slack/slack_section.h"

using namespace epilogue;

BOOST_AUTO_TEST_CASE(secrets_come_from_variables_and_files) {
    const TemporaryFile token("ghp_x\n");
    const TemporaryFile windows("glp_x\r\n");
    const Config config =
        loaded("[github]\ntoken = \"file:" + token.path() + "\"\n[gitlab]\ntoken = \"file:" + windows.path() +
                   "\"\n[kafka.properties]\nsasl.password = \"env:SASL\"",
               {{"EPILOGUE_DATABASE_PASSWORD", "env:DB"}, {"DB", "secret"}, {"SASL", "kafka"}});
    BOOST_TEST(config.extensions.get<GithubSection>().token.reveal() == "ghp_x");
    BOOST_TEST(config.extensions.get<GitlabSection>().token.reveal() == "glp_x");
    BOOST_TEST(config.database.password.reveal() == "secret");
    BOOST_TEST(config.kafka.properties.at("sasl.password") == "kafka");
}

BOOST_AUTO_TEST_CASE(a_secret_that_cannot_be_resolved_is_named) {
    BOOST_TEST(refusal("[slack]\ntoken = \"env:SLACK_TOKEN\"") ==
               "F:2: [slack] token: environment variable SLACK_TOKEN is not set");
    BOOST_TEST(refusal("[slack]\ntoken = \"env:SLACK_TOKEN\"", {{"SLACK_TOKEN", ""}}) ==
               "F:2: [slack] token: environment variable SLACK_TOKEN is empty");
    BOOST_TEST(refusal("[gitlab]\ntoken = \"file:/nonexistent/token\"") ==
               "F:2: [gitlab] token: file /nonexistent/token cannot be read: No such file or directory");
    BOOST_TEST(refusal("[security]\nkeys = [\"" + key64 + "\", \"env:NONE\"]") ==
               "F:2: [security] keys: number 2: environment variable NONE is not set");
    BOOST_TEST(refusal("[slack.teams.T1]\ntoken = \"env:NONE\"") ==
               "F:1: [slack] teams: T1: environment variable NONE is not set");
    BOOST_TEST(refusal_of_variable("EPILOGUE_WORKER_API_KEY", "env:NONE") ==
               "EPILOGUE_WORKER_API_KEY: environment variable NONE is not set");
}

BOOST_AUTO_TEST_CASE(an_overridden_secret_need_not_be_resolvable) {
    BOOST_TEST(loaded("[slack]\ntoken = \"env:NONE\"", {{"EPILOGUE_SLACK_TOKEN", "xoxb"}})
                   .extensions.get<SlackSection>()
                   .token.reveal() == "xoxb");
}

BOOST_AUTO_TEST_CASE(no_error_repeats_a_secret) {
    const std::string value = "hunter2hunter2";
    const std::vector<std::string> refusals{
        refusal("[github]\ntoken = \"" + value + "\\n\""),
        refusal("[github]\ntoken = " + value),
        refusal("[github]\ntoken = [\"" + value + "\"]"),
        refusal("[security]\nkeys = [\"" + value + "\"]"),
        refusal("[security]\nkeys = \"" + value + "\""),
        refusal("[relay]\nkeys = \"" + value + "\""),
        refusal("[relay]\nkeys = [\"" + value + "\\n\"]"),
        refusal("[github]\napp_id = 1\nprivate_key = \"" + value + "\""),
        refusal("[gitlab.namespaces.g]\ntokn = \"" + value + "\""),
        refusal("[slack.teams.T1]\ntokn = \"" + value + "\""),
        refusal("[kafka.properties]\nsasl.password = [\"" + value + "\"]"),
        refusal("[kafka]\nproperties = \"" + value + "\""),
        refusal("", {{"EPILOGUE_SECURITY_KEYS", "[\"" + value}}),
        refusal("", {{"EPILOGUE_KAFKA_PROPERTIES", "{sasl.password=\"" + value}}),
        refusal("", {{"EPILOGUE_GITHUB_TOKEN", value + "\n"}}),
    };
    for (const std::string& text : refusals) {
        BOOST_TEST(text != "");
        BOOST_TEST(text.find(value) == std::string::npos, text);
    }
    BOOST_TEST(refusal("[github]\ntoken = 99999999999999999999").find("9999") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(keys_are_hex_digits_or_long_text) {
    BOOST_TEST(key_bytes(key64).value() == std::string(32, '\xAA'));
    BOOST_TEST(key_bytes("00fF" + std::string(60, '1')).value().substr(0, 3) == std::string("\0\xFF\x11", 3));
    const std::string phrase = "a pass phrase of at least 32 bytes";
    BOOST_TEST(key_bytes(phrase).value() == phrase);
    for (const std::string& bad : {std::string(), std::string(32, 'a'), key64 + "a", std::string(31, 'z')})
        BOOST_TEST(!key_bytes(bad).has_value(), bad);
}

BOOST_AUTO_TEST_CASE(a_new_key_is_accepted_and_never_the_same) {
    BOOST_TEST(new_key().size() == 64U);
    BOOST_TEST(key_bytes(new_key()).value().size() == 32U);
    BOOST_TEST(new_key() != new_key());
}

BOOST_AUTO_TEST_CASE(a_sink_with_a_token_needs_a_key) {
    BOOST_TEST(validate_for_use(Config{}, all_sections()).has_value());
    for (const char* key : {"slack.token", "github.token", "gitlab.token"}) {
        Config config;
        BOOST_TEST(set_key(config, key, "t", {}, all_sections()).has_value());
        const auto refused = validate_for_use(config, all_sections());
        BOOST_REQUIRE(!refused.has_value());
        BOOST_TEST(refused.error().text.starts_with("[security] keys: empty"));
        BOOST_TEST(set_key(config, "security.keys", key64, {}, all_sections()).has_value());
        BOOST_TEST(validate_for_use(config, all_sections()).has_value());
    }
    Config config;
    config.extensions.edit<SlackSection>().teams["T1"] = Secret("t");
    BOOST_TEST(!validate_for_use(config, all_sections()).has_value());
    Config of_a_group;
    of_a_group.extensions.edit<GitlabSection>().namespaces["group"] = Secret("t");
    BOOST_TEST(!validate_for_use(of_a_group, all_sections()).has_value());
    Config as_app;
    as_app.extensions.edit<GithubSection>().app_id = 12;
    as_app.extensions.edit<GithubSection>().private_key = Secret("k");
    BOOST_TEST(!validate_for_use(as_app, all_sections()).has_value());
}
