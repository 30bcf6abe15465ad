#define BOOST_TEST_MODULE config
#include "base/config.h"

#include <filesystem>

#include <boost/test/unit_test.hpp>

#include "config_fixture.h"
#include "sinks/github/github_section.h"
#include "sinks/gitlab/gitlab_section.h"
#include "sinks/jira/jira_section.h"
#include "sinks/linear/linear_section.h"
#include "sinks/slack/slack_section.h"
#include "sinks/topic/topic_section.h"
#include "sinks/webhook/webhook_section.h"
#include "tests/support/golden.h"
#include "tests/support/rsa_key.h"
#include "worker/sources/llm_section.h"
#include "worker/sources/summary_section.h"

using namespace epilogue;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_CASE(the_defaults_are_those_of_the_contract) {
    const auto config = load_config(std::nullopt, {}, all_sections());
    BOOST_REQUIRE(config.has_value());
    BOOST_TEST((*config == Config{}));
    BOOST_TEST(config->kafka.topic == "conversation.events");
    BOOST_TEST(config->database.port == 3306);
    BOOST_TEST((config->worker.batch_max_wait == 50ms));
    BOOST_TEST((config->worker.inactivity_timeout == 2h));
    BOOST_TEST((config->retention.ledger == std::chrono::days(400)));
}

BOOST_AUTO_TEST_CASE(the_example_file_is_generated_and_holds_the_defaults) {
    BOOST_TEST(difference_from_file("ops/epilogue.example.toml", example_toml(all_sections())) == "");
    BOOST_TEST((loaded(example_toml(all_sections())) == Config{}));
}

BOOST_AUTO_TEST_CASE(agent_servers_of_the_relay_are_tables_whose_faults_name_line_and_key) {
    const std::string start = "[relay]\nthreads = 3\n[[relay.servers]]\nurl = \"http://one\"\n";
    const Config config = loaded(start + "[[relay.servers]]\nurl = \"http://two\"\nall = true\n");
    BOOST_REQUIRE(config.relay.servers.size() == 2U);
    BOOST_TEST(config.relay.servers[1].url == "http://two");
    BOOST_TEST(config.relay.servers[1].all);
    BOOST_TEST(!config.relay.servers[0].all);
    BOOST_TEST(refusal(start + "key = 5").starts_with("F:5: [relay] servers: key: expected a secret"));
    BOOST_TEST(refusal(start + "all = \"yes\"") ==
               "F:5: [relay] servers: all: expected true or false, got \"yes\"");
    BOOST_TEST(refusal(start + "token = \"t\"") ==
               "F:5: [relay] servers: token: unknown key: expected url, key or all");
    BOOST_TEST(refusal("[[relay.servers]]\nurl = \"agent:8000\"")
                   .starts_with("F:2: [relay] servers: url: expected an http:// or https:// URL"));
    BOOST_TEST(refusal("[[relay.servers]]\nall = true") == "F:2: [relay] servers: number 1: url is missing");
    BOOST_TEST(refusal(start + "[[relay.servers]]\nurl = \"http://one/\"") ==
               "F:6: [relay] servers: number 2: http://one is there twice");
    BOOST_TEST(refusal(start + "key = \"env:NOT_SET\"")
                   .ends_with("servers: http://one: key: environment variable NOT_SET is not set"));
    BOOST_TEST(refusal("[relay]\nservers = [5]")
                   .ends_with("servers: expected tables [[relay.servers]] with url, key and all"));
}

BOOST_AUTO_TEST_CASE(app_servers_of_the_relay_are_tables_each_address_and_organisation_once) {
    const std::string start = "[[relay.app_servers]]\nurl = \"https://one\"\nkey = \"k\"\n";
    const Config config = loaded(start + start + "org = \"o-1\"\n");
    BOOST_REQUIRE(config.relay.app_servers.size() == 2U);
    BOOST_TEST(config.relay.app_servers[0].key.reveal() == "k");
    BOOST_TEST(config.relay.app_servers[0].org == "");
    BOOST_TEST(config.relay.app_servers[1].org == "o-1");
    BOOST_TEST(refusal(start + start) == "F:6: [relay] app_servers: number 2: https://one is there twice");
    BOOST_TEST(refusal(start + "org = \"a\\nb\"")
                   .starts_with("F:4: [relay] app_servers: org: expected the id of an organisation"));
    BOOST_TEST(refusal(start + "all = true") ==
               "F:4: [relay] app_servers: all: unknown key: expected url, key or org");
}

BOOST_AUTO_TEST_CASE(every_key_of_the_contract_is_read_from_a_file) {
    const Config config = loaded(R"(
[kafka]
brokers = "k1:9092,k2:9092"
topic = "t"
group = "g"
start = "error"
dead_letter_topic = "d"
oauth_token_command = "get-token --quiet"
properties = {"security.protocol" = "SSL", "socket.timeout.ms" = 5000, "debug.on" = true, "ratio" = 0.5}
[database]
host = "db"
port = 3307
socket = "/s"
user = "u"
password = "p"
name = "n"
tls = "verified"
tls_ca = "/ca"
tls_certificate = "/c"
tls_key = "/k"
[security]
keys = [")" + key64 + R"("]
[worker]
batch_max_records = 1
batch_max_bytes = 2048
batch_max_wait_ms = 0
appliers = 3
senders = 4
http_timeout_s = 5
lease_s = 11
settle_ms = 100
hook_wait_s = 61
inactivity_timeout_s = 3
timeout_storm = "post"
adopt_max_age_s = 0
drain_s = 9
http_listen = "[::1]:0"
api_key = "a"
[summary]
sources = ["digest"]
deadline_s = 7
web_url = "https://x/{conversation_id}"
language = "de"
figures = true
llm = "fast"
questions_per_day = 5
instructions_per_day = 6
[llm.fast]
base_url = "https://llm/v1/"
model = "small"
max_tokens = 100
[agent_server]
url = "http://agent:8000/"
session_api_key = "s"
[relay]
http_listen = "0.0.0.0:1"
keys = ["k1", "k2 k3"]
leave_out = ["TokenEvent"]
max_event_bytes = 300000
buffer_bytes = 2000000
threads = 3
servers = [{url = "http://one/", key = "s1", all = true}, {url = "http://two:2"}]
[slack]
api_url = "http://s/api"
token = "xoxb"
budget = "off"
[slack.teams.T1]
token = "xoxb-1"
[github]
api_url = "http://gh"
token = "ght"
budget = "1/s 5000/h"
[gitlab]
api_url = "http://gl"
token = "glt"
budget = "3/min"
[gitlab.namespaces."group/sub"]
token = "glt-sub"
[outcomes]
topic = "outcomes"
[linear]
api_url = "http://li/graphql"
token = "lin"
budget = "9/min"
[linear.workspaces.acme]
token = "lin-acme"
[jira]
api_url = "https://j/"
email = "bot@j"
token = "jt"
budget = "off"
[jira.sites.acme]
api_url = "https://acme/"
email = "bot@acme"
token = "at"
[webhook]
secrets = ["whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]
[webhook.endpoints.ci]
url = "http://ci/hook/"
secrets = ["whsec_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"]
[egress]
allow = ["10.0.0.0/8", "ci.internal:8443"]
guard_agent_urls = true
[retention]
bodies_days = 1
ledger_days = 2
conversations_days = 3
dead_letters_days = 4
[log]
level = "debug"
format = "json"
)");
    Config expected;
    expected.kafka = {"k1:9092,k2:9092",
                      "t",
                      "g",
                      OffsetReset::error,
                      "d",
                      "get-token --quiet",
                      {{"security.protocol", "SSL"},
                       {"socket.timeout.ms", "5000"},
                       {"debug.on", "true"},
                       {"ratio", "0.5"}}};
    expected.database = {"db", 3307, "/s", "u", Secret("p"), "n", DatabaseTls::verified, "/ca", "/c", "/k"};
    expected.security.keys = {Secret(std::string(32, '\xAA'))};
    expected.worker = {1,  2048, 0ms,       3,          4, 5s, 11s, 100ms, 61s, 3s, TimeoutStorm::post,
                       0s, 9s,   "[::1]:0", Secret("a")};
    auto& summary = expected.extensions.edit<SummarySection>();
    summary.sources = {"digest"};
    summary.deadline = 7s;
    summary.web_url = "https://x/{conversation_id}";
    summary.language = Language::german;
    summary.figures = true;
    summary.questions_per_day = 5;
    summary.instructions_per_day = 6;
    summary.llm = "fast";
    auto& fast = expected.extensions.edit<LlmSection>().models["fast"];
    fast.base_url = "https://llm/v1";
    fast.model = "small";
    fast.max_tokens = 100;
    expected.agent_server = {"http://agent:8000", Secret("s")};
    expected.relay = {"0.0.0.0:1", {Secret("k1"), Secret("k2 k3")}, {"TokenEvent"}, 300000, 2000000, 3, {},
                      {}};
    expected.relay.servers = {{"http://one", Secret("s1"), true}, {"http://two:2", Secret(), false}};
    expected.extensions.edit<SlackSection>() = {
        "http://s/api", Secret("xoxb"), {{"T1", Secret("xoxb-1")}}, "off"};
    expected.extensions.edit<GithubSection>() = {"http://gh", Secret("ght"), "1/s 5000/h"};
    expected.extensions.edit<GitlabSection>() = {
        "http://gl", Secret("glt"), "3/min", {{"group/sub", Secret("glt-sub")}}};
    expected.extensions.edit<JiraSection>() = {
        {"https://j", "bot@j", Secret("jt")}, {{"acme", {"https://acme", "bot@acme", Secret("at")}}}, "off"};
    expected.extensions.edit<LinearSection>() = {
        "http://li/graphql", Secret("lin"), {{"acme", Secret("lin-acme")}}, "9/min"};
    expected.extensions.edit<OutcomesSection>() = {"outcomes"};
    expected.extensions.edit<WebhookSection>() = {
        {Secret("whsec_" + std::string(32, 'A'))},
        {{"ci", {"http://ci/hook/", {Secret("whsec_" + std::string(32, 'B'))}}}}};
    expected.egress = {{"10.0.0.0/8", "ci.internal:8443"}, true};
    expected.retention = {std::chrono::days(1), std::chrono::days(2), std::chrono::days(3),
                          std::chrono::days(4)};
    expected.log = {LogLevel::debug, LogFormat::json};
    BOOST_TEST((config == expected));
    BOOST_TEST((config.kafka == expected.kafka));
    BOOST_TEST((config.worker == expected.worker));
}

BOOST_AUTO_TEST_CASE(outcomes_have_a_topic_of_their_own) {
    for (const std::string& kafka : {std::string("topic"), std::string("dead_letter_topic")}) {
        const auto refused = refusal("[kafka]\n" + kafka + " = \"one\"\n[outcomes]\ntopic = \"one\"");
        BOOST_TEST(refused.find("is a topic of [kafka]") != std::string::npos, refused);
    }
}

BOOST_AUTO_TEST_CASE(a_receiver_needs_its_url_and_a_secret_that_can_sign) {
    const std::string ci = "[webhook.endpoints.ci]\n";
    const std::string url = "url = \"http://ci\"\n";
    BOOST_TEST(refusal(ci + url).find("endpoints: ci: secrets is missing") != std::string::npos);
    BOOST_TEST(refusal(ci + url + "token = \"x\"").find("ci.token: unknown key: expected url or secrets") !=
               std::string::npos);
    for (const std::string& section : {std::string("[webhook]\n"), ci + url}) {
        const auto refused = refusal(section + "secrets = [\"a password\"]");
        BOOST_TEST(refused.find("expected \"whsec_\" and the base64 of 24 to 64 bytes") != std::string::npos,
                   refused);
        BOOST_TEST(refused.find("a password") == std::string::npos, refused);
    }
}

BOOST_AUTO_TEST_CASE(egress_lists_networks_addresses_and_hosts) {
    for (const char* entry : {"10.0.0.0/33", "http://ci.internal", "*.internal", ""})
        BOOST_TEST(refusal("[egress]\nallow = [\"" + std::string(entry) + "\"]")
                       .starts_with("F:2: [egress] allow: expected a list of networks"),
                   entry);
}

BOOST_AUTO_TEST_CASE(the_environment_wins_over_the_file_and_a_flag_over_both) {
    const Environment environment{{"EPILOGUE_KAFKA_BROKERS", "from-environment:1"}};
    Config config = loaded("[kafka]\nbrokers = \"from-file:1\"\ntopic = \"t\"\n", environment);
    BOOST_TEST(config.kafka.brokers == "from-environment:1");
    BOOST_TEST(config.kafka.topic == "t");
    BOOST_TEST(set_key(config, "kafka.brokers", "from-flag:1", environment, all_sections()).has_value());
    BOOST_TEST(config.kafka.brokers == "from-flag:1");
}

BOOST_AUTO_TEST_CASE(variables_hold_text_integers_lists_and_tables) {
    const auto config = load_config(std::nullopt,
                                    {{"EPILOGUE_DATABASE_PASSWORD", "\"quotes\" = kept"},
                                     {"EPILOGUE_WORKER_SENDERS", "8"},
                                     {"EPILOGUE_AGENT_SERVER_URL", "http://a"},
                                     {"EPILOGUE_SUMMARY_SOURCES", "digest, final"},
                                     {"EPILOGUE_SECURITY_KEYS", "[\"" + key64 + "\", \"env:K\"]"},
                                     {"K", std::string(64, '0')},
                                     {"EPILOGUE_KAFKA_PROPERTIES", R"({"a.b"="c", d.e=1})"},
                                     {"EPILOGUE_SLACK_TEAMS", R"({T1 = {token = "one"}})"},
                                     {"EPILOGUE_SLACK_TEAMS_T2_TOKEN", "env:T2"},
                                     {"T2", "two"}},
                                    all_sections());
    BOOST_REQUIRE_MESSAGE(config.has_value(), (config ? "" : config.error().text));
    BOOST_TEST(config->database.password.reveal() == "\"quotes\" = kept");
    BOOST_TEST(config->worker.senders == 8);
    BOOST_TEST(config->agent_server.url == "http://a");
    BOOST_TEST(
        (config->extensions.get<SummarySection>().sources == std::vector<std::string>{"digest", "final"}));
    BOOST_TEST(config->security.keys.size() == 2U);
    BOOST_TEST(config->security.keys[1].reveal() == std::string(32, '\0'));
    BOOST_TEST((config->kafka.properties == std::map<std::string, std::string>{{"a.b", "c"}, {"d.e", "1"}}));
    BOOST_TEST(config->extensions.get<SlackSection>().teams.at("T1").reveal() == "one");
    BOOST_TEST(config->extensions.get<SlackSection>().teams.at("T2").reveal() == "two");
}

BOOST_AUTO_TEST_CASE(a_github_app_has_an_id_and_a_key_and_no_token) {
    const std::string app = "[github]\napp_id = 12\n";
    const Environment pem{{"PEM", testing::new_rsa_key().private_pem}};
    const std::string key = "private_key = \"env:PEM\"\n";
    const Config config = loaded(app + key, pem);
    BOOST_TEST(config.extensions.get<GithubSection>().app_id == 12);
    BOOST_TEST(config.extensions.get<GithubSection>().private_key.reveal() == pem.at("PEM"));
    BOOST_TEST(refusal(app) ==
               "F:2: [github] app_id: private_key is missing: make one where the App is registered");
    BOOST_TEST(refusal("[github]\n" + key, pem) ==
               "F:2: [github] private_key: app_id is missing: it stands where the App is registered");
    BOOST_TEST(refusal(app + key + "token = \"t\"", pem) ==
               "F:2: [github] app_id: token is set, too: posts are an App's or a token's, remove one");
    BOOST_TEST(
        refusal(app + key, {{"PEM", "hunter2"}}) ==
        "F:3: [github] private_key: expected an RSA private key as PEM (BEGIN PRIVATE KEY), unencrypted");
}

BOOST_AUTO_TEST_CASE(a_variable_of_a_known_section_must_name_a_key) {
    BOOST_TEST(refusal_of_variable("EPILOGUE_KAFKA_BROKER", "x") ==
               "EPILOGUE_KAFKA_BROKER: unknown key of [kafka]; did you mean \"EPILOGUE_KAFKA_BROKERS\"?");
    BOOST_TEST(refusal_of_variable("EPILOGUE_AGENT_SERVER_COLOUR", "x") ==
               "EPILOGUE_AGENT_SERVER_COLOUR: unknown key of [agent_server]");
    BOOST_TEST(refusal_of_variable("EPILOGUE_TEST_DATABASE", "x") == "");
    BOOST_TEST(refusal_of_variable("EPILOGUE_HOME", "x") == "");
    BOOST_TEST(refusal_of_variable("KAFKA_BROKER", "x") == "");
}

BOOST_AUTO_TEST_CASE(a_variable_of_the_wrong_type_is_named) {
    BOOST_TEST(refusal_of_variable("EPILOGUE_WORKER_SENDERS", "many") ==
               "EPILOGUE_WORKER_SENDERS: expected an integer from 1 to 1024, got \"many\"");
    for (const char* value : {"", "8x", "1.5", "0", "1025", "0x10", "99999999999999999999"})
        BOOST_TEST(refusal_of_variable("EPILOGUE_WORKER_SENDERS", value) != "", value);
    for (const char* value : {"", "[", "[]", "[\"final\"", "final,final", "[\"final\"]\n[x]", "other", "[1]"})
        BOOST_TEST(refusal_of_variable("EPILOGUE_SUMMARY_SOURCES", value) != "", value);
    for (const char* value : {"", "a=b", "{a=", "{a=[1]}", "{a=1979-05-27}"})
        BOOST_TEST(refusal_of_variable("EPILOGUE_KAFKA_PROPERTIES", value) != "", value);
}

BOOST_AUTO_TEST_CASE(an_error_in_a_file_names_file_line_key_and_what_was_expected) {
    BOOST_TEST(refusal("# one\n[worker]\n\nsenders = \"many\"\n") ==
               "F:4: [worker] senders: expected an integer from 1 to 1024, got \"many\"");
    BOOST_TEST(refusal("[worker]\nsenders = 0") ==
               "F:2: [worker] senders: expected an integer from 1 to 1024, got 0");
    BOOST_TEST(refusal("[kafka]\ntopic = \"\"") ==
               "F:2: [kafka] topic: expected text that is not empty, got \"\"");
    BOOST_TEST(refusal("[kafka]\nstart = \"latest \"") ==
               "F:2: [kafka] start: expected \"earliest\", \"latest\" or \"error\", got \"latest \"");
    BOOST_TEST(
        refusal("[summary]\nsources = [\"final\", \"llama\"]") ==
        "F:2: [summary] sources: expected a list of \"final\", \"ask_agent\", \"instruct\", \"llm\" or "
        "\"digest\", each at most once, got \"llama\"");
    BOOST_TEST(refusal("[slack]\napi_url = \"slack.com\"") ==
               "F:2: [slack] api_url: expected an http:// or https:// URL, got \"slack.com\"");
    BOOST_TEST(refusal("[github]\nbudget = \"1/s 80/minute\"") ==
               "F:2: [github] budget: expected \"auto\", \"off\" or limits such as \"1/s 80/min 500/h\", got "
               "\"1/s 80/minute\"");
    BOOST_TEST(refusal("[log]\nlevel = true").starts_with("F:2: [log] level: expected \"debug\""));
}

BOOST_AUTO_TEST_CASE(unknown_keys_and_sections_are_named_with_the_nearest_known) {
    BOOST_TEST(refusal("\n[kafka]\nbrokerz = \"x\"") ==
               "F:3: [kafka] brokerz: unknown key; did you mean \"brokers\"?");
    BOOST_TEST(refusal("[kafka]\nsomething_else = 1") == "F:2: [kafka] something_else: unknown key");
    BOOST_TEST(refusal("[kafak]\ntopic = \"x\"") == "F:1: [kafak]: unknown section; did you mean \"kafka\"?");
    BOOST_TEST(refusal("brokers = \"x\"") ==
               "F:1: brokers: a key must stand under a section, such as [kafka]");
    BOOST_TEST(refusal("kafka = 5") == "F:1: [kafka]: expected a section, got 5");
    BOOST_TEST(refusal("[[kafka]]\ntopic = \"x\"") == "F:1: [kafka]: expected a section, got an array");
}

BOOST_AUTO_TEST_CASE(a_file_that_is_missing_or_no_toml_is_refused) {
    BOOST_TEST(refusal("[kafka]\ntopic = \"x\"\n[worker\n").starts_with("F:3: not valid TOML: "));
    BOOST_TEST(refusal("[kafka]\ntopic = \"x\"\ntopic = \"y\"\n").starts_with("F:3: not valid TOML: "));
    const auto missing = load_config("/nonexistent/epilogue.toml", {}, all_sections());
    BOOST_REQUIRE(!missing.has_value());
    BOOST_TEST(missing.error().text ==
               "file /nonexistent/epilogue.toml cannot be read: No such file or directory");
    BOOST_TEST(!load_config(std::filesystem::temp_directory_path().string(), {}, all_sections()).has_value());
}

BOOST_AUTO_TEST_CASE(settings_that_contradict_each_other_are_refused) {
    BOOST_TEST(
        refusal("[worker]\nlease_s = 40\nhttp_timeout_s = 20")
            .starts_with("F:3: [worker] http_timeout_s: 20 is not under half of lease_s, which is 40"));
    BOOST_TEST(refusal("[worker]\nlease_s = 41\nhttp_timeout_s = 20") == "");
    BOOST_TEST(
        refusal("", {{"EPILOGUE_WORKER_LEASE_S", "30"}}).starts_with("[worker] http_timeout_s: 20 is not"));
    BOOST_TEST(refusal("[database]\nhost = \"\"") ==
               "F:2: [database] host: host and socket are both empty: one of them is needed");
    BOOST_TEST(refusal("[database]\nhost = \"\"\nsocket = \"/run/db.sock\"") == "");
    BOOST_TEST(refusal("[kafka]\ndead_letter_topic = \"conversation.events\"")
                   .starts_with("F:2: [kafka] dead_letter_topic: is"));
    BOOST_TEST(refusal("[relay]\nbuffer_bytes = 2000000")
                   .starts_with("F:2: [relay] buffer_bytes: 2000000 is under twice max_event_bytes"));
}

BOOST_AUTO_TEST_CASE(events_that_steer_cannot_be_left_out_of_the_topic) {
    for (const char* kind : {"MessageEvent", "ConversationStateUpdateEvent", "HookExecutionEvent", ""})
        BOOST_TEST(refusal("[relay]\nleave_out = [\"" + std::string(kind) + "\"]")
                       .starts_with("F:2: [relay] leave_out: expected a list of event kinds, without those"));
    BOOST_TEST(refusal("[relay]\nleave_out = [\"TokenEvent\"]") == "");
    BOOST_TEST(refusal("[relay]\nleave_out = []") == "");
}

BOOST_AUTO_TEST_CASE(properties_that_would_break_the_contract_are_refused_on_their_line) {
    BOOST_TEST(
        refusal("[kafka.properties]\n\"socket.timeout.ms\" = 1\nenable.auto.commit = true") ==
        "F:3: [kafka] properties: enable.auto.commit cannot be set: offsets are committed only after the "
        "database has the batch");
    for (const char* name :
         {"enable.auto.offset.store", "group.id", "bootstrap.servers", "metadata.broker.list"})
        BOOST_TEST(
            refusal("[kafka]\nproperties = {\"" + std::string(name) + "\" = \"x\"}").find("cannot be set") !=
                std::string::npos,
            name);
    BOOST_TEST(
        loaded("[kafka.properties]\nsecurity.protocol = \"SSL\"").kafka.properties.at("security.protocol") ==
        "SSL");
}

BOOST_AUTO_TEST_CASE(a_flag_is_checked_like_a_key) {
    Config config;
    BOOST_TEST(set_key(config, "worker.lease_s", "many", {}, all_sections()).error().text ==
               "worker.lease_s: expected an integer from 2 to 3600, got \"many\"");
    BOOST_TEST(set_key(config, "worker.leas_s", "1", {}, all_sections()).error().text ==
               "worker.leas_s: unknown key");
    BOOST_TEST(set_key(config, "worker", "1", {}, all_sections()).error().text == "worker: unknown key");
    BOOST_TEST(set_key(config, "", "1", {}, all_sections()).error().text == ": unknown key");
    BOOST_TEST(set_key(config, "worker.lease_s", "30", {}, all_sections()).has_value());
    BOOST_TEST(!validate_for_use(config, all_sections()).has_value());
}

BOOST_AUTO_TEST_CASE(listen_addresses_are_host_and_port) {
    BOOST_TEST(parse_listen_address("127.0.0.1:9464")->host == "127.0.0.1");
    BOOST_TEST(parse_listen_address("127.0.0.1:9464")->port == 9464);
    BOOST_TEST(parse_listen_address("[::1]:0")->host == "::1");
    for (const char* bad :
         {"", ":1", "host", "host:", "host:65536", "host:-1", "host:1x", "::1:80", "[]:1", "[::1]", "a b:1"})
        BOOST_TEST(!parse_listen_address(bad).has_value(), bad);
}
