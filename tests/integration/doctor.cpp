// `epilogue doctor` against real servers, well and unwell.
#define BOOST_TEST_MODULE doctor
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "ops/fake_platform/http_server.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;
using Json = nlohmann::json;

const std::string token = "a token of the tests";
const std::string nobody_listens = "http://127.0.0.1:9";

/// A rig on a topic without any fault.
Rig sound_rig(const std::string& name) {
    broker_of_this_program().create_topic(name, 2, {{"max.message.bytes", "20971520"}});
    return {broker_of_this_program(), server_of_this_program(), {.name = name, .partitions = 0}};
}

/// One rig for the cases that change nothing that lasts.
struct DoctorEnvironment {
    Rig rig = sound_rig("examined");
};
DoctorEnvironment& environment() {
    static DoctorEnvironment one;
    return one;
}

struct Examination {
    int status = 0;
    Json document;

    /// "severity: text" of one check; empty when it was not made or found.
    std::string finding(const std::string& component, const std::string& check) const {
        for (const auto& each : document.at("findings"))
            if (each.at("component") == component && each.at("check") == check &&
                (each.at("severity") == "ok") == each.at("remedy").get<std::string>().empty())
                return each.at("severity").get<std::string>() + ": " + each.at("text").get<std::string>();
        return "";
    }
    std::string promise(const std::string& sink) const {
        for (const auto& each : document.at("guarantees"))
            if (each.at("sink") == sink) return each.at("promise").get<std::string>();
        return "";
    }
};

Examination examine(const Settings& more = {}) {
    const auto done = Epilogue(merged({environment().rig.settings(), more})).run({"doctor", "--json"});
    BOOST_TEST(!contains(done.out + done.err, token));
    BOOST_TEST_REQUIRE(!done.out.empty(), done.status << done.err);
    return {done.status, Json::parse(done.out)};
}

bool is_said(const std::string& finding, const std::string& severity, const std::string& part) {
    return finding.starts_with(severity + ": ") && contains(finding, part);
}

/// The scopes of a platform's tokens, as they were again at the end.
class Scopes {
  public:
    Scopes(std::string platform, const std::string& scopes, std::string usual)
        : platform_(std::move(platform)), usual_(std::move(usual)) {
        set(scopes);
    }
    ~Scopes() { set(usual_); }
    Scopes(const Scopes&) = delete;
    Scopes& operator=(const Scopes&) = delete;

  private:
    void set(const std::string& scopes) const {
        environment().rig.platform().control("POST", "/scopes", {{"platform", platform_}, {"scopes", scopes}},
                                             std::chrono::seconds(10));
    }
    std::string platform_;
    std::string usual_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(where_all_is_well_it_says_so_and_leaves_no_trace) {
    const auto& rig = environment().rig;
    const auto rows = [&] {
        return rig.number(
            "SELECT (SELECT COUNT(*) FROM conversations) + (SELECT COUNT(*) FROM deliveries) + (SELECT "
            "COUNT(*) FROM conversation_callbacks) + (SELECT COUNT(*) FROM partition_progress)");
    };
    const auto before = rows();
    const auto well = examine();
    BOOST_TEST(well.status == 0);
    for (const auto& finding : well.document.at("findings"))
        BOOST_TEST(finding.at("severity") == "ok", finding.dump());
    for (const char* sink : {"github", "gitlab", "slack"}) BOOST_TEST(well.promise(sink) == "exactly_once");
    BOOST_TEST(well.promise("log") == "at_least_once");
    BOOST_TEST(is_said(well.finding("github", "token"), "ok", "epilogue-bot"));
    BOOST_TEST(is_said(well.finding("slack", "token"), "ok", "channels:history"));
    BOOST_TEST(rows() == before);
    for (const auto& request : rig.platform().log()) BOOST_TEST(request.at("method") == "GET");

    const auto people = Epilogue(environment().rig.settings()).run({"doctor"});
    BOOST_TEST(people.status == 0, people.err);
    BOOST_TEST(contains(people.out, "What is promised"), people.out);
    BOOST_TEST(contains(people.out, "exactly_once"), people.out);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_reached_is_named_each_by_itself) {
    const auto broker = examine({{"kafka.brokers", "127.0.0.1:9"}});
    BOOST_TEST(broker.status == 69);
    BOOST_TEST(is_said(broker.finding("kafka", "broker"), "unreachable", "127.0.0.1:9"));
    BOOST_TEST(broker.promise("github") == "exactly_once");  // the rest was asked all the same

    const auto database = examine({{"database.port", std::int64_t{9}}});
    BOOST_TEST(database.status == 69);
    BOOST_TEST(is_said(database.finding("database", "connection"), "unreachable", ""));

    const auto password = examine({{"database.password", "wrong"}});
    BOOST_TEST(password.status == 69);
    BOOST_TEST(is_said(password.finding("database", "connection"), "unreachable", "denied"));

    const auto platforms = examine({{"github.api_url", nobody_listens},
                                    {"gitlab.api_url", nobody_listens},
                                    {"slack.api_url", nobody_listens}});
    BOOST_TEST(platforms.status == 69);
    for (const char* sink : {"github", "gitlab", "slack"}) {
        BOOST_TEST(is_said(platforms.finding(sink, "token"), "unreachable", sink));
        BOOST_TEST(platforms.promise(sink) == "none");
    }
}

BOOST_AUTO_TEST_CASE(
    app_servers_that_are_away_refuse_the_key_or_are_another_page_are_told_apart_with_what_to_do) {
    using epilogue::fake_platform::json_reply;
    const epilogue::fake_platform::HttpServer page(0, [](const auto& request) {
        if (request.path.starts_with("/spa")) return json_reply(200, "\"<!doctype html>\"");
        if (!request.path.starts_with("/app/api/v1/app-conversations/search") &&
            !request.path.starts_with("/other/api/v1/app-conversations/search"))
            return json_reply(404, "{}");
        const auto key = request.headers.find("authorization");
        const bool is_known = key != request.headers.end() && key->second == "Bearer " + token;
        return is_known ? json_reply(200, R"({"items":[],"next_page_id":null})") : json_reply(401, "{}");
    });
    const std::string base = "http://127.0.0.1:" + std::to_string(page.port());
    std::string servers;
    for (const auto& [url, key] :
         std::vector<std::pair<std::string, std::string>>{{base + "/app", token},
                                                          {base + "/other", "another"},
                                                          {base, token},
                                                          {base + "/spa", token},
                                                          {nobody_listens, token}})
        servers += (servers.empty() ? "" : ", ") + ("{url = \"" + url + "\", key = \"" + key + "\"}");
    const Epilogue doctor(environment().rig.settings());
    auto command = doctor.start({"doctor", "--json"}, {{"EPILOGUE_RELAY_APP_SERVERS", "[" + servers + "]"}});
    BOOST_REQUIRE(command.wait(patience));
    BOOST_TEST(!contains(command.out(), token));
    std::vector<std::string> said;
    const Json diagnosis = Json::parse(command.out());
    for (const auto& finding : diagnosis.at("findings"))
        if (finding.at("check") == "app server")
            said.push_back(finding.at("severity").get<std::string>() + ": " +
                           finding.at("text").get<std::string>() + " > " +
                           finding.at("remedy").get<std::string>());
    BOOST_REQUIRE(said.size() == 5U);
    BOOST_TEST(said[0] == "ok: " + base + "/app answers and lets us in > ");
    BOOST_TEST(contains(said[1], "error: " + base + "/other refuses the key > set `key`"), said[1]);
    BOOST_TEST(contains(said[2], "error: " + base + " answers 404"), said[2]);
    BOOST_TEST(contains(said[3], "with no list of conversations > name the address"), said[3]);
    BOOST_TEST(contains(said[4], "unreachable: " + nobody_listens + " cannot be reached"), said[4]);
}

BOOST_AUTO_TEST_CASE(a_configuration_that_cannot_be_used_is_78) {
    const auto done =
        Epilogue(merged({environment().rig.settings(), {{"security.keys", std::vector<std::string>{}}}}))
            .run({"doctor"});
    BOOST_TEST(done.status == 78);
    BOOST_TEST(contains(done.err, "keys"), done.err);
}

BOOST_AUTO_TEST_CASE(the_topic_is_judged) {
    const auto missing = examine({{"kafka.topic", "no-such-topic"}});
    BOOST_TEST(missing.status == 1);
    BOOST_TEST(is_said(missing.finding("kafka", "topic"), "error", "no-such-topic"));

    const auto& broker = broker_of_this_program();
    broker.create_topic("as-brokers-make-them", 1, {{"max.message.bytes", "1048588"}});
    const auto plain = examine({{"kafka.topic", "as-brokers-make-them"}});
    BOOST_TEST(plain.status == 0);
    BOOST_TEST(is_said(plain.finding("kafka", "record size"), "warning", "1048588"),
               plain.finding("kafka", "record size"));
    BOOST_TEST(is_said(plain.finding("kafka", "partitions"), "warning", "one partition"));
    broker.create_topic("kept-for-ever", 1, {{"retention.ms", "-1"}});
    const auto kept = examine({{"kafka.topic", "kept-for-ever"}});
    BOOST_TEST(kept.status == 0);
    BOOST_TEST(is_said(kept.finding("kafka", "retention"), "warning", "for ever"));
    BOOST_TEST(is_said(examine({{"retention.ledger_days", std::int64_t{3}}}).finding("kafka", "retention"),
                       "warning", "7 days"));

    broker.create_topic("compacted", 1, {{"cleanup.policy", "compact"}, {"max.message.bytes", "104857600"}});
    const auto compacted = examine({{"kafka.topic", "compacted"}});
    BOOST_TEST(compacted.status == 1);
    BOOST_TEST(is_said(compacted.finding("kafka", "cleanup policy"), "error", "compacted"));
    BOOST_TEST(is_said(compacted.finding("kafka", "record size"), "error", "104857600"));
}

BOOST_AUTO_TEST_CASE(the_database_is_judged) {
    const auto& server = server_of_this_program();
    server.create_database("empty_one");
    const auto empty = examine({{"database.name", "empty_one"}});
    BOOST_TEST(empty.status == 1);
    BOOST_TEST(is_said(empty.finding("database", "tables"), "error", "version 0"));

    server.query("CREATE USER reader@'127.0.0.1' IDENTIFIED BY 'reader-s'");
    server.query("GRANT SELECT, INSERT, UPDATE ON examined.* TO reader@'127.0.0.1'");
    const auto reader = examine({{"database.user", "reader"}, {"database.password", "reader-s"}});
    BOOST_TEST(reader.status == 1);
    const auto rights = reader.finding("database", "rights");
    BOOST_TEST(is_said(rights, "error", "DELETE on kept_requests"), rights);
    BOOST_TEST(!contains(rights, "UPDATE"), rights);
    BOOST_TEST(is_said(reader.finding("database", "rights of migrate"), "warning", "CREATE, ALTER"));

    server.query("SET GLOBAL innodb_flush_log_at_trx_commit=2");
    const auto hasty = examine();
    server.query("SET GLOBAL innodb_flush_log_at_trx_commit=1");
    BOOST_TEST(hasty.status == 0);
    BOOST_TEST(
        is_said(hasty.finding("database", "durability"), "warning", "innodb_flush_log_at_trx_commit is 2"));
}

BOOST_AUTO_TEST_CASE(a_tokens_scopes_decide_what_is_promised) {
    {
        const Scopes scopes("slack", "chat:write", "chat:write,channels:history,groups:history");
        const auto unable = examine();
        BOOST_TEST(unable.status == 0);
        BOOST_TEST(is_said(unable.finding("slack", "token"), "warning", "look up"));
        BOOST_TEST(unable.promise("slack") == "at_most_once");
    }
    {
        const Scopes scopes("slack", "channels:history", "chat:write,channels:history,groups:history");
        const auto mute = examine();
        BOOST_TEST(mute.status == 1);
        BOOST_TEST(is_said(mute.finding("slack", "token"), "error", "may not post"));
        BOOST_TEST(mute.promise("slack") == "none");
    }
    {
        const Scopes scopes("gitlab", "read_api", "api");
        BOOST_TEST(is_said(examine().finding("gitlab", "token"), "error", "may not post"));
    }
    {
        const Scopes scopes("github", "gist", "repo");
        BOOST_TEST(is_said(examine().finding("github", "token"), "error", "may not post"));
    }
    const Scopes scopes("github", "", "repo");
    const auto fine_grained = examine();
    BOOST_TEST(fine_grained.status == 0);
    BOOST_TEST(fine_grained.promise("github") == "exactly_once");
}

BOOST_AUTO_TEST_CASE(tokens_that_are_refused_or_missing_are_errors_where_callbacks_wait) {
    const auto& rig = environment().rig;
    const auto control = [&](const std::string& path, const Json& body) {
        rig.platform().control("POST", path, body, std::chrono::seconds(10));
    };
    control("/tokens", {{"tokens", {"another token"}}});
    const auto refused = examine();
    control("/tokens", {{"tokens", Json::array()}});
    BOOST_TEST(refused.status == 1);
    for (const char* sink : {"github", "gitlab", "slack"})
        BOOST_TEST(is_said(refused.finding(sink, "token"), "error", "refuses"),
                   refused.finding(sink, "token"));

    BOOST_TEST(examine({{"gitlab.token", ""}}).status == 0);  // no callback needs it
    rig.add_callback({"--conversation", "c", "--processor", "gitlab", "--processor-json",
                      R"({"project": "g/n", "iid": 3, "kind": "issue"})"});
    const auto missing = examine({{"gitlab.token", ""}});
    BOOST_TEST(missing.status == 1);
    BOOST_TEST(is_said(missing.finding("gitlab", "token"), "error", "1 active callbacks"));
}

BOOST_AUTO_TEST_CASE(a_place_that_callbacks_post_to_is_looked_at) {
    const auto& rig = environment().rig;
    rig.add_github("c", "o/seen", 7, "once");
    BOOST_TEST(is_said(examine().finding("github", "look-up"), "ok", "o/seen#7"));
    rig.add_github("c", "o/hidden", 7, "once");
    rig.platform().control("POST", "/issues", {{"repo", "o/hidden"}, {"number", 7}, {"state", "missing"}},
                           std::chrono::seconds(10));
    const auto hidden = examine();
    BOOST_TEST(hidden.status == 0);
    BOOST_TEST(is_said(hidden.finding("github", "look-up"), "warning", "o/hidden#7"));
    BOOST_TEST(rig.platform().counts().at("attempts") == 0U);
}

BOOST_AUTO_TEST_CASE(partitions_that_were_added_while_records_are_unread_are_a_warning) {
    const Rig rig("repartitioned", 1);
    const auto told = [&](const std::string& id) { rig.publish(V0Conversation(id).user("Go.").records()); };
    {
        told("a");
        auto worker = rig.epilogue().worker();
        eventually("it is read", [&] { return rig.stored() == rig.ends(); });
        worker.process().stop(std::chrono::seconds(30));
    }
    told("b");
    broker_of_this_program().raise_partitions(rig.name(), 2);
    const auto done = rig.epilogue().run({"doctor", "--json"});
    BOOST_TEST(done.status == 0, done.err);
    const Examination examined{done.status, Json::parse(done.out)};
    BOOST_TEST(is_said(examined.finding("kafka", "partitions"), "warning", "had 1 partition and has 2"));
    BOOST_TEST(is_said(examined.finding("kafka", "position"), "ok", "2 records"),
               examined.finding("kafka", "position"));
}
