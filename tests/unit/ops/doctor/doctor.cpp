#define BOOST_TEST_MODULE doctor
#include <filesystem>
#include <fstream>

#include <boost/test/unit_test.hpp>

#include "base/process/temp_dir.h"
#include "ops/doctor/broker.h"
#include "ops/doctor/database.h"
#include "ops/doctor/model.h"
#include "ops/doctor/platforms.h"
#include "ops/doctor/relay.h"
#include "ops/doctor/secret_files.h"
#include "sinks/port/descriptor.h"
#include "sinks/processor.h"
#include "sinks/registry.h"
#include "sinks/webhook/webhook_section.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue;
using namespace epilogue::doctor;
using namespace std::chrono_literals;
using testing::contains;

Severity severity_of(const Findings& findings, const std::string& check) {
    for (const Finding& finding : findings)
        if (finding.check == check) return finding.severity;
    return Severity::ok;
}

TopicFacts topic_with(std::map<std::string, std::string> config) {
    TopicFacts topic;
    topic.cluster_id = "c";
    topic.partitions = {{0, {0, 10}}, {1, {0, 10}}};
    topic.config = std::move(config);
    return topic;
}

const Variables good{{"innodb_flush_log_at_trx_commit", "1"},
                     {"sync_binlog", "1"},
                     {"log_bin", "ON"},
                     {"binlog_format", "ROW"},
                     {"max_allowed_packet", "67108864"},
                     {"read_only", "OFF"}};

Findings judged(const std::string& name, const std::string& value) {
    Variables variables = good;
    variables[name] = value;
    return judge_variables(variables);
}

TokenStatus accepted(Permission post, Permission look_up) {
    TokenStatus report{.setting = "[slack] token", .state = TokenState::accepted};
    report.post = post;
    report.look_up = look_up;
    return report;
}

BOOST_AUTO_TEST_CASE(every_finding_that_is_not_ok_says_how_to_mend_it) {
    const Config config;
    Findings all = judge_topic(config, topic_with({{"retention.ms", "-1"},
                                                   {"max.message.bytes", "200000000"},
                                                   {"cleanup.policy", "compact"}}));
    for (const auto& [name, value] : Variables{{"innodb_flush_log_at_trx_commit", "2"},
                                               {"sync_binlog", "0"},
                                               {"binlog_format", "STATEMENT"},
                                               {"max_allowed_packet", "1048576"},
                                               {"read_only", "ON"}})
        for (const Finding& finding : judged(name, value)) all.push_back(finding);
    all.push_back(judge_clock(5s, 0s));
    all.push_back(judge_version("5.7.40"));
    for (const TokenState state : {TokenState::missing, TokenState::unreachable, TokenState::refused})
        all.push_back(judge_token("slack", TokenStatus{.setting = "[slack] token", .state = state}, 1));
    all.push_back(judge_token("slack", accepted(Permission::no, Permission::yes), 1));
    all.push_back(judge_token("slack", accepted(Permission::yes, Permission::no), 1));
    std::size_t bad = 0;
    for (const Finding& finding : all) {
        BOOST_TEST(!finding.text.empty());
        BOOST_TEST((finding.severity == Severity::ok) == finding.remedy.empty(), finding.text);
        bad += finding.severity == Severity::ok ? 0U : 1U;
    }
    BOOST_TEST(bad == 15U);
}

BOOST_AUTO_TEST_CASE(the_topic_may_not_outlive_the_ledger) {
    const Config config;  // ledger_days = 400
    const auto judged_as = [&](const std::string& retention) {
        return severity_of(judge_topic(config, topic_with({{"retention.ms", retention}})), "retention");
    };
    BOOST_TEST((judged_as("604800000") == Severity::ok));
    BOOST_TEST((judged_as("34560000000") == Severity::ok));  // 400 days
    BOOST_TEST((judged_as("34560000001") == Severity::warning));
    BOOST_TEST((judged_as("-1") == Severity::warning));
}

BOOST_AUTO_TEST_CASE(a_record_must_fit_into_a_fetch) {
    Config config;
    const auto judged_as = [&](const std::string& bytes) {
        return severity_of(judge_topic(config, topic_with({{"max.message.bytes", bytes}})), "record size");
    };
    BOOST_TEST((judged_as("16777217") == Severity::ok));
    BOOST_TEST((judged_as("100000000") == Severity::error));
    config.kafka.properties["receive.message.max.bytes"] = "500000000";
    BOOST_TEST((judged_as("100000000") == Severity::ok));
}

BOOST_AUTO_TEST_CASE(a_topic_that_refuses_an_agents_largest_event_is_a_warning) {
    const Config config;
    const auto judged_as = [&](const std::string& bytes) {
        return severity_of(judge_topic(config, topic_with({{"max.message.bytes", bytes}})), "record size");
    };
    BOOST_TEST((judged_as("1048588") == Severity::warning));
    BOOST_TEST((judged_as("16777215") == Severity::warning));
    BOOST_TEST((judged_as("16777216") == Severity::ok));
}

BOOST_AUTO_TEST_CASE(one_partition_is_a_warning_since_it_occupies_one_worker) {
    auto topic = topic_with({{"max.message.bytes", "20971520"}});
    BOOST_TEST((worst_of(judge_topic({}, topic)) == Severity::ok));
    topic.partitions.erase(1);
    BOOST_TEST((severity_of(judge_topic({}, topic), "partitions") == Severity::warning));
}

BOOST_AUTO_TEST_CASE(a_librdkafka_with_known_faults_is_named_with_them) {
    const Finding old = judge_client({"2.0.2", 0x020002ff, false});
    BOOST_TEST((old.severity == Severity::warning));
    BOOST_TEST(old.text.find("SCRAM") != std::string::npos);
    BOOST_TEST(old.text.find("rights") != std::string::npos);
    BOOST_TEST((judge_client({"2.6.0", 0x020600ff, false}).severity == Severity::warning));
    BOOST_TEST((judge_client({"2.6.1", 0x020601ff, true}).severity == Severity::ok));
    const Finding foreign = judge_client({"2.12.1", 0x020c01ff, false});
    BOOST_TEST((foreign.severity == Severity::warning));
    BOOST_TEST(foreign.text.find("forget them") != std::string::npos);
    BOOST_TEST((judge_client({"2.12.1", 0x020c01ff, true}).severity == Severity::ok));
}

BOOST_AUTO_TEST_CASE(a_file_of_a_secret_that_everybody_may_read_is_a_warning) {
    using std::filesystem::perms;
    const process::TempDir folder;
    const auto file = folder.path() / "key";
    std::ofstream(file) << "k\n";
    Config config;
    BOOST_TEST(judge_secret_files(config).empty());
    config.secret_files = {file};
    std::filesystem::permissions(file, perms::owner_read | perms::group_read);
    BOOST_TEST((worst_of(judge_secret_files(config)) == Severity::ok));
    std::filesystem::permissions(file, perms::owner_read | perms::others_read);
    BOOST_TEST((worst_of(judge_secret_files(config)) == Severity::warning));
    config.secret_files.clear();
    config.kafka.properties["ssl.key.location"] = file;
    BOOST_TEST((worst_of(judge_secret_files(config)) == Severity::warning));
}

BOOST_AUTO_TEST_CASE(more_partitions_are_a_warning_only_while_something_is_unread) {
    const Config config;
    const auto topic = topic_with({});
    const auto positions = [](std::int64_t next) {
        return StoredPositions{{0, {next, "epilogue", "c", 1}}, {1, {next, "epilogue", "c", 1}}};
    };
    BOOST_TEST((severity_of(judge_positions(config, topic, positions(10)), "partitions") == Severity::ok));
    BOOST_TEST(
        (severity_of(judge_positions(config, topic, positions(3)), "partitions") == Severity::warning));
    BOOST_TEST((worst_of(judge_positions(config, topic, {})) == Severity::ok));
    auto others = positions(10);
    others[0].cluster_id = "another";
    others[0].group = "another";
    BOOST_TEST((severity_of(judge_positions(config, topic, others), "cluster") == Severity::warning));
    BOOST_TEST((severity_of(judge_positions(config, topic, others), "group") == Severity::warning));
}

BOOST_AUTO_TEST_CASE(the_servers_settings_are_judged_by_what_they_lose) {
    BOOST_TEST((worst_of(judge_variables(good)) == Severity::ok));
    BOOST_TEST((worst_of(judged("innodb_flush_log_at_trx_commit", "0")) == Severity::warning));
    BOOST_TEST((worst_of(judged("sync_binlog", "0")) == Severity::warning));
    BOOST_TEST((worst_of(judged("binlog_format", "STATEMENT")) == Severity::error));
    BOOST_TEST((worst_of(judged("read_only", "ON")) == Severity::error));
    BOOST_TEST((worst_of(judged("max_allowed_packet", "16777216")) == Severity::ok));
    Variables without_binlog = good;
    without_binlog["log_bin"] = "OFF";
    without_binlog["sync_binlog"] = "0";
    without_binlog["binlog_format"] = "STATEMENT";
    BOOST_TEST((worst_of(judge_variables(without_binlog)) == Severity::ok));
}

BOOST_AUTO_TEST_CASE(versions_and_clocks) {
    BOOST_TEST((judge_version("10.11.6-MariaDB-0+deb12u1").severity == Severity::ok));
    BOOST_TEST((judge_version("11.4.2-MariaDB").severity == Severity::ok));
    BOOST_TEST((judge_version("10.6.16-MariaDB").severity == Severity::warning));
    BOOST_TEST((judge_version("8.0.15").severity == Severity::ok));
    BOOST_TEST((judge_version("5.7.40").severity == Severity::warning));
    BOOST_TEST((judge_clock(-1s, 0s).severity == Severity::ok));
    BOOST_TEST((judge_clock(5s, 0s).severity == Severity::warning));
    BOOST_TEST((judge_clock(-61s, 0s).severity == Severity::error));
    BOOST_TEST((judge_clock(3s, 4s).severity == Severity::ok));  // asking took longer than they are apart
}

BOOST_AUTO_TEST_CASE(what_is_promised_follows_from_what_the_token_may) {
    const auto promise = [](const std::vector<TokenStatus>& reports, std::optional<LookupResult> trial = {}) {
        return guarantee_of("slack", reports, trial).promise;
    };
    LookupResult looked;
    looked.ok = true;
    LookupResult forbidden;
    forbidden.forbidden = true;
    BOOST_TEST((promise({}) == Promise::at_least_once));
    BOOST_TEST((promise({TokenStatus{.setting = "t", .state = TokenState::missing}}) == Promise::none));
    BOOST_TEST((promise({TokenStatus{.setting = "t", .state = TokenState::refused}}) == Promise::none));
    BOOST_TEST((promise({accepted(Permission::no, Permission::yes)}) == Promise::none));
    BOOST_TEST((promise({accepted(Permission::yes, Permission::no)}) == Promise::at_most_once));
    BOOST_TEST((promise({accepted(Permission::yes, Permission::yes)}) == Promise::exactly_once));
    BOOST_TEST((promise({accepted(Permission::yes, Permission::yes)}, forbidden) == Promise::at_most_once));
    BOOST_TEST((promise({accepted(Permission::unknown, Permission::unknown)}) == Promise::exactly_once));
    BOOST_TEST(
        (promise({accepted(Permission::unknown, Permission::unknown)}, looked) == Promise::exactly_once));
    BOOST_TEST((promise({accepted(Permission::yes, Permission::yes),
                         accepted(Permission::yes, Permission::no)}) == Promise::at_most_once));
}

/// What the doctor says of a sink of the registry that cannot reach anything.
PlatformVisit visit_alone(const std::string& name, const SinkSettings& settings,
                          const std::string& processor_json = "") {
    Watching watching;
    if (!processor_json.empty())
        watching = {.callbacks = 1, .newest = decode_processor(name, processor_json).value()};
    const Transport nowhere{.send = [&](const HttpRequest& request) {
        BOOST_ERROR(name << " asks " << request.url);
        return HttpAnswer{};
    }};
    return visit_platform(name, *make_sinks(settings).at(name), nowhere, watching);
}

BOOST_AUTO_TEST_CASE(of_every_sink_it_is_said_what_is_promised_where_nothing_is_set) {
    for (const SinkDescriptor* sink : sink_descriptors()) {
        const std::string name(sink->name);
        const auto visit = visit_alone(name, {});
        BOOST_TEST(visit.guarantee.sink == name);
        BOOST_TEST((visit.guarantee.promise == (name == "log" ? Promise::at_least_once : Promise::none)),
                   name);
        if (name == "log") continue;
        BOOST_REQUIRE_MESSAGE(visit.findings.size() == 1U, name);
        BOOST_TEST(contains(visit.findings[0].text, "is not set"), visit.findings[0].text);
        BOOST_TEST(contains(visit.guarantee.why, "is not set: posts are parked"), visit.guarantee.why);
    }
}

BOOST_AUTO_TEST_CASE(a_webhook_is_promised_as_far_as_there_is_something_to_sign_with) {
    SinkSettings settings;
    auto& section = settings.sections.edit<WebhookSection>();
    section.endpoints["ci"] = {"https://ci.example.com/", {Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")}};
    const auto known = visit_alone("webhook", settings, R"({"endpoint": "ci"})");
    BOOST_TEST((known.guarantee.promise == Promise::at_least_once));
    BOOST_TEST((worst_of(known.findings) == Severity::ok));
    BOOST_TEST(known.findings.at(0).text == "[webhook.endpoints.ci]: set");
    const auto unknown = visit_alone("webhook", settings, R"({"endpoint": "billing"})");
    BOOST_TEST((severity_of(unknown.findings, "place") == Severity::error));
    BOOST_TEST(contains(unknown.findings.back().text, "set [webhook.endpoints.billing]"),
               unknown.findings.back().text);
    const auto by_address = visit_alone("webhook", settings, R"({"url": "https://example.com/"})");
    BOOST_TEST((severity_of(by_address.findings, "place") == Severity::error));
    section.endpoints["ci"].secrets.clear();
    const auto unsigned_one = visit_alone("webhook", settings, R"({"endpoint": "ci"})");
    BOOST_TEST((unsigned_one.guarantee.promise == Promise::none));
}

BOOST_AUTO_TEST_CASE(a_sink_that_cannot_look_is_promised_what_it_does_in_doubt) {
    const auto promise = [](InDoubt in_doubt, TokenState state = TokenState::accepted) {
        return guarantee_of("email", {TokenStatus{.setting = "s", .state = state, .in_doubt = in_doubt}}, {})
            .promise;
    };
    BOOST_TEST((promise(InDoubt::parks) == Promise::at_most_once));
    BOOST_TEST((promise(InDoubt::sends_again) == Promise::at_least_once));
    BOOST_TEST((promise(InDoubt::looks) == Promise::exactly_once));
    BOOST_TEST((promise(InDoubt::parks, TokenState::refused) == Promise::none));
}

BOOST_AUTO_TEST_CASE(only_this_machine_is_loopback) {
    BOOST_TEST(is_loopback("127.0.0.1:9092,localhost:9093,[::1]:9094"));
    BOOST_TEST(!is_loopback("127.0.0.1:9092,kafka:9092"));
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_agent_server_is_judged_by_its_answer_and_its_clock) {
    const auto severity = [](const ServerVisit& visit) {
        return severity_of(judge_agent_server(visit), "agent server");
    };
    BOOST_CHECK(severity({"http://a", "", 200}) == Severity::ok);
    BOOST_CHECK(severity({"http://a", "connection refused", 0}) == Severity::unreachable);
    BOOST_CHECK(severity({"http://a", "", 401}) == Severity::error);
    BOOST_CHECK(severity({"http://a", "", 404}) == Severity::error);
    BOOST_CHECK(severity_of(judge_agent_server({"http://a", "", 200, 5s}), "clock") == Severity::ok);
    BOOST_CHECK(severity_of(judge_agent_server({"http://a", "", 200, 6s}), "clock") == Severity::warning);
    const auto behind = judge_agent_server({"http://a", "", 200, -90s});
    BOOST_REQUIRE(behind.size() == 2U);
    BOOST_TEST(behind[1].text == "the clock of http://a is 90 s behind ours");
    for (const auto& finding : behind)
        BOOST_TEST((finding.severity == Severity::ok) == finding.remedy.empty());
}

BOOST_AUTO_TEST_CASE(an_app_server_that_is_away_refuses_the_key_fails_or_is_another_page_is_told_apart) {
    const auto finding = [](ServerVisit visit, bool lists = true) {
        visit.lists = lists;
        return judge_app_server(visit).at(0);
    };
    const auto well = finding({"https://app", "", 200});
    BOOST_CHECK(well.severity == Severity::ok);
    BOOST_TEST(well.remedy.empty());
    const auto away = finding({"https://app#org", "connection refused", 0}, false);
    BOOST_CHECK(away.severity == Severity::unreachable);
    BOOST_TEST(away.text == "https://app#org cannot be reached: connection refused");
    const auto refused = finding({"https://app", "", 403}, false);
    BOOST_CHECK(refused.severity == Severity::error);
    BOOST_TEST(contains(refused.remedy, "[[relay.app_servers]]"), refused.remedy);
    const auto failing = finding({"https://app", "", 502}, false);
    BOOST_TEST(failing.text == "https://app fails with 502 when its conversations are listed");
    for (const auto& elsewhere :
         {finding({"https://app", "", 404}, false), finding({"https://app", "", 200}, false)}) {
        BOOST_CHECK(elsewhere.severity == Severity::error);
        BOOST_TEST(contains(elsewhere.remedy, "V1 API"), elsewhere.remedy);
    }
    BOOST_CHECK(severity_of(judge_app_server({"https://app", "", 200, 9s}), "clock") == Severity::warning);
}

BOOST_AUTO_TEST_CASE(app_servers_that_the_relay_could_not_read_are_a_warning_that_names_one) {
    const auto findings = judge_relay_rows({{}, 0, 0, "", 1, "https://app: it answered 502"}, false);
    BOOST_REQUIRE(findings.size() == 1U);
    BOOST_CHECK(findings[0].severity == Severity::warning);
    BOOST_TEST(findings[0].text == "1 could not be read the last time, e.g.: https://app: it answered 502");
}

BOOST_AUTO_TEST_CASE(a_model_that_does_not_let_us_in_or_is_not_there_is_a_warning) {
    const auto severity = [](const ModelVisit& visit) { return judge_model(visit).severity; };
    BOOST_CHECK(severity({"fast", "small", "", 200, true}) == Severity::ok);
    BOOST_CHECK(severity({"fast", "small", "", 200, false}) == Severity::warning);
    BOOST_CHECK(severity({"fast", "small", "", 404, false}) == Severity::warning);
    BOOST_CHECK(severity({"fast", "small", "connection refused", 0, false}) == Severity::warning);
    BOOST_TEST(judge_model({"fast", "small", "", 401, false}).text ==
               "[llm.fast] refuses the key: the next source is taken");
}

BOOST_AUTO_TEST_CASE(keys_for_webhooks_of_which_none_ever_came_are_a_warning) {
    BOOST_CHECK(severity_of(judge_relay_rows({}, true), "webhooks") == Severity::warning);
    BOOST_TEST(judge_relay_rows({}, false).empty());
    BOOST_CHECK(severity_of(judge_relay_rows({120s}, true), "webhooks") == Severity::ok);
}

BOOST_AUTO_TEST_CASE(followed_conversations_with_trouble_are_a_warning_that_names_one) {
    const auto findings = judge_relay_rows({{}, 7, 2, "no route"}, false);
    BOOST_REQUIRE(findings.size() == 1U);
    BOOST_CHECK(findings[0].severity == Severity::warning);
    BOOST_TEST(findings[0].text == "2 of 7 followed conversations have trouble, e.g.: no route");
    BOOST_CHECK(severity_of(judge_relay_rows({{}, 7, 0, ""}, false), "followed") == Severity::ok);
}
