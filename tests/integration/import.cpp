// `epilogue import`: callbacks of a real OpenHands database, from a real PostgreSQL.
#define BOOST_TEST_MODULE import
#include <algorithm>
#include <csignal>
#include <iostream>
#include <map>
#include <sstream>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/ids.h"
#include "tests/integration/openhands_database.h"
#include "tests/integration/upstream_row.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;
using Json = nlohmann::json;

/// "00000000-0000-4000-8000-0000000000NN", as V1 has ids.
std::string uuid(std::size_t number) {
    std::string digits = std::to_string(number);
    return "00000000-0000-4000-8000-" + std::string(12 - digits.size(), '0') + digits;
}

/// Our tables and OpenHands', without a broker and a worker.
struct Tables {
    explicit Tables(const std::string& case_name)
        : name("import_" + case_name),
          openhands(postgres_of_this_program(), "openhands_" + case_name),
          epilogue((server_of_this_program().create_database(name),
                    settings_for(server_of_this_program(), name))) {
        if (const auto made = epilogue.run({"migrate"}); made.status != 0) throw std::runtime_error(made.err);
    }

    Finished import(const std::vector<std::string>& more = {}) const {
        std::vector<std::string> all{"import", "--from", openhands.url()};
        all.insert(all.end(), more.begin(), more.end());
        return epilogue.run(all, "", patience);
    }
    /// What it says with --json; it has to end with `status`.
    Json report(int status, std::vector<std::string> more = {}) const {
        more.emplace_back("--json");
        const auto done = import(more);
        BOOST_TEST(done.status == status, done.err);
        return Json::parse(done.out);
    }
    std::int64_t number(const std::string& sql) const { return server_of_this_program().number(sql, name); }

    std::string name;
    OpenHandsDatabase openhands;
    Epilogue epilogue;
};

std::size_t posts_in(const Rig& rig, const std::string& path, const std::string& words) {
    const auto visible = rig.platform().visible();
    return static_cast<std::size_t>(std::count_if(visible.begin(), visible.end(), [&](const auto& comment) {
        return comment.path == path && contains(comment.body, words);
    }));
}

Finished import_into(const Rig& rig, const OpenHandsDatabase& openhands) {
    auto done = rig.epilogue().run({"import", "--from", openhands.url(), "--json"});
    BOOST_TEST(done.status == 0, done.err);
    return done;
}

const std::string unadopted =
    "SELECT COUNT(*) FROM conversation_callbacks c LEFT JOIN callback_progress p ON p.callback_id=c.id WHERE "
    "p.callback_id IS NULL AND c.status='ACTIVE'";

}  // namespace

BOOST_AUTO_TEST_CASE(rows_of_both_generations_get_their_conversations_end_once_and_in_the_right_place) {
    const Rig rig("imported", 2);
    const OpenHandsDatabase openhands(postgres_of_this_program(), "openhands_imported");
    std::vector<V0Conversation> conversations;
    std::vector<UpstreamRow> rows;
    for (std::size_t i = 0; i < upstream_shapes; ++i) {
        rows.push_back(upstream_row(rig.platform(), i + 1));
        conversations.emplace_back(epilogue::normalise_conversation_id(uuid(i)));
        if (contains(rows[i].processor_type, "V1"))
            openhands.add_v1(uuid(i), rows[i].processor_json);
        else
            openhands.add_v0(uuid(i), rows[i].processor_type, rows[i].processor_json);
    }
    const auto first = Json::parse(import_into(rig, openhands).out);
    BOOST_TEST(first.at("imported") == upstream_shapes - 1);
    BOOST_TEST(first.at("left").at("posted_already") == 1);
    BOOST_TEST(Json::parse(import_into(rig, openhands).out).at("unchanged") == upstream_shapes - 1);

    const auto worker = rig.epilogue().worker();
    eventually("all rows are adopted", [&] { return rig.number(unadopted) == 0; });
    for (auto& conversation : conversations)
        conversation.user("Go on.").agent_finishes("First in " + conversation.id() + ".");
    rig.publish(records_of(conversations));
    // One row was dealt with by OpenHands up to message 14, one has had its only post.
    const auto silent = [&](std::size_t i) {
        return contains(rows[i].note, "already posted") ||
               contains(rows[i].processor_json, "\"last_user_msg_id\":14");
    };
    std::size_t told = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (silent(i)) continue;
        ++told;
        eventually(rows[i].note, [&] {
            return posts_in(rig, rows[i].path, "First in " + conversations[i].id() + ".") == 1;
        });
    }
    BOOST_TEST(told == upstream_shapes - 2);
    eventually("all are done", [&] {
        return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'") == std::int64_t(told);
    });
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM deliveries") == static_cast<std::int64_t>(told));
    import_into(rig, openhands);
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM conversation_callbacks") ==
               static_cast<std::int64_t>(upstream_shapes - 1));
}

BOOST_AUTO_TEST_CASE(what_openhands_has_told_is_not_told_again_and_what_comes_then_is) {
    const Rig rig("told", 1);
    const OpenHandsDatabase openhands(postgres_of_this_program(), "openhands_told");
    V0Conversation v0("imported-v0");
    const auto handled = [&](std::size_t message) {
        return R"({"channel_id":"CV0","message_ts":"17.5","thread_ts":null,"team_id":"T1","last_user_msg_id":)" +
               std::to_string(message) + "}";
    };
    v0.user("One.").agent_finishes("Told by OpenHands.");
    openhands.add_v0(v0.id(), "x.SlackCallbackProcessor", handled(1));

    V1Conversation v1(epilogue::normalise_conversation_id(uuid(1)));
    const auto opening = v1.user("u-1");
    const auto end = v1.status("stuck");
    const auto row = openhands.add_v1(uuid(1), slack_v1("CV1"));
    openhands.add_result(row, "an-older-event", "SUCCESS");
    openhands.add_result(row, Json::parse(*end.value).at("id"), "SUCCESS");
    openhands.add_result(row, "a-later-event-that-failed", "ERROR");

    // The ends are known before the rows are adopted.
    const auto worker = rig.epilogue().worker();
    rig.publish(v0.records());
    rig.publish({opening, end});
    eventually("the ends are known", [&] {
        return rig.number("SELECT COUNT(*) FROM conversations WHERE verdict IS NOT NULL") == 2;
    });
    import_into(rig, openhands);
    eventually("both are adopted", [&] { return rig.number("SELECT COUNT(*) FROM callback_progress") == 2; });
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM deliveries") == 0);

    const auto before = v0.records().size();
    v0.user("Two.").agent_finishes("Told by us.");
    rig.publish(v0.records_since(before));
    rig.publish({v1.user("u-2"), v1.status("stuck")});
    eventually("the next ends are told", [&] {
        return posts_in(rig, "CV0", "Told by us.") == 1 && posts_in(rig, "CV1", "Got stuck") == 1;
    });
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM deliveries") == 2);
}

BOOST_AUTO_TEST_CASE(a_row_that_openhands_changed_meanwhile_is_noticed_and_followed) {
    const Rig rig("changed", 1);
    const OpenHandsDatabase openhands(postgres_of_this_program(), "openhands_changed");
    V0Conversation reported("reported");
    reported.user("Go.").agent_finishes("Done.");
    std::map<std::string, std::string> ids;
    int number = 0;
    for (const char* what :
         {"completed-before", "completed", "moved", "reported", "broken", "rewritten", "deleted"})
        ids[what] = openhands.add_v0(what, github_v0, github_view(++number));
    import_into(rig, openhands);
    const auto complete = [&](const std::string& what) {
        openhands.query("UPDATE conversation_callbacks SET status='COMPLETED' WHERE id=" + ids[what]);
    };
    complete("completed-before");
    const auto cancelled = Json::parse(import_into(rig, openhands).out).at("changed");
    BOOST_REQUIRE(cancelled.size() == 1U);
    BOOST_TEST(cancelled[0].at("outcome") == "cancelled");
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM conversation_callbacks WHERE status='COMPLETED'") == 1);

    const auto worker = rig.epilogue().worker();
    rig.publish(reported.records());
    eventually("one has reported",
               [&] { return rig.number("SELECT COUNT(*) FROM callback_progress WHERE phase='done'") == 1; });
    eventually("the others are adopted", [&] { return rig.number(unadopted) == 0; });
    complete("completed");
    complete("reported");
    openhands.query("UPDATE conversation_callbacks SET processor_json=" + pg_quoted(github_view(77)) +
                    " WHERE id=" + ids["moved"]);
    openhands.query("UPDATE conversation_callbacks SET processor_json='{}' WHERE id=" + ids["broken"]);
    openhands.query("UPDATE conversation_callbacks SET updated_at=now() WHERE id=" + ids["rewritten"]);
    openhands.query("DELETE FROM conversation_callbacks WHERE id=" + ids["deleted"]);
    const auto done = rig.epilogue().run({"import", "--from", openhands.url(), "--json"});
    BOOST_TEST(done.status == 1, done.err);
    const auto report = Json::parse(done.out);
    std::map<std::string, std::string> outcomes;
    for (const auto& change : report.at("changed"))
        outcomes[change.at("id").get<std::string>()] = change.at("outcome").get<std::string>();
    BOOST_TEST(outcomes[ids["completed"]] == "cancelled");
    BOOST_TEST(outcomes[ids["moved"]] == "replaced");
    BOOST_TEST(outcomes[ids["reported"]] == "kept");
    BOOST_TEST(outcomes[ids["deleted"]] == "cancelled");
    BOOST_TEST(outcomes.size() == 4U);
    BOOST_REQUIRE(report.at("unreadable").size() == 1U);
    BOOST_TEST(report.at("unreadable")[0].at("id") == ids["broken"]);
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM callback_progress WHERE phase='cancelled' AND "
                          "conversation_id='completed'") == 1);

    // It goes to where OpenHands has it now, and what was cancelled says nothing.
    V0Conversation moved("moved");
    V0Conversation completed("completed");
    V0Conversation deleted("deleted");
    for (V0Conversation* one : {&moved, &completed, &deleted})
        one->user("Go.").agent_finishes("In " + one->id() + ".");
    rig.publish(records_of({completed, deleted, moved}));
    eventually("it is posted to the new place",
               [&] { return posts_in(rig, "octo/imported#77", "In moved.") == 1; });
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM deliveries") == 2);
    BOOST_TEST(Json::parse(rig.epilogue().run({"import", "--from", openhands.url(), "--json"}).out)
                   .at("changed")
                   .empty());
}

BOOST_AUTO_TEST_CASE(each_row_that_cannot_be_read_is_listed_and_the_rest_is_imported) {
    const Tables tables("unreadable");
    const auto& openhands = tables.openhands;
    const auto good = openhands.add_v0("good", github_v0, github_view(1));
    const auto bad = openhands.add_v0("bad", github_v0, R"({"github_view":{"issue_number":"x"}})");
    const auto trello = openhands.add_v0("trello", "x.TrelloCallbackProcessor", R"({"card":"A-1"})");
    const auto all = openhands.add_v1("", slack_v1("C1"));
    const auto linear = openhands.add_v1(uuid(1), R"({"kind":"LinearV1CallbackProcessor"})");
    openhands.add_v1(uuid(1), R"({"kind":"SetTitleCallbackProcessor"})");
    openhands.add_v1(uuid(1), slack_v1("C1"), "DISABLED");
    openhands.add_v0("done", "x.TrelloCallbackProcessor", "{}", "COMPLETED");
    const auto report = tables.report(1);
    BOOST_TEST(report.at("rows") == 8);
    BOOST_TEST(report.at("imported") == 1);
    BOOST_TEST(report.at("left").at("not_active") == 2);
    BOOST_TEST(report.at("left").at("tells_nobody") == 1);
    std::map<std::string, std::string> reasons;
    for (const auto& row : report.at("unreadable"))
        reasons[row.at("id").get<std::string>()] = row.at("reason").get<std::string>();
    BOOST_TEST(reasons.size() == 4U);
    BOOST_TEST(contains(reasons[bad], "github_view.full_repo_name"), reasons[bad]);
    BOOST_TEST(contains(reasons[trello], "TrelloCallbackProcessor"), reasons[trello]);
    BOOST_TEST(contains(reasons[all], "conversation_id"), reasons[all]);
    BOOST_TEST(contains(reasons[linear], "linear_view_data"), reasons[linear]);
    const auto people = tables.import();
    BOOST_TEST(people.status == 1);
    BOOST_TEST(contains(people.out, "cannot be read: v0 " + bad + " (conversation bad): "), people.out);
    BOOST_TEST(contains(people.out, "8 rows: 0 imported, 1 imported before"), people.out);
    BOOST_TEST(tables.number("SELECT COUNT(*) FROM imported_rows WHERE generation='v0' AND row_id=" + good) ==
               1);
}

BOOST_AUTO_TEST_CASE(an_api_key_in_a_row_of_jiras_is_not_stored_and_the_import_says_what_to_set) {
    const Tables tables("keys");
    const std::string row = R"("decrypted_api_key":"planted","issue_key":"P-1","jira_cloud_id":"678"})";
    tables.openhands.add_v1(uuid(1), R"({"kind":"JiraV1CallbackProcessor",)" + row);
    BOOST_TEST(contains(tables.import({"--dry-run"}).out, "set [jira.sites.\"678\"]"));
    BOOST_TEST(tables.report(0).at("keys_left_out").at(0).at("rows") == 1);
    BOOST_TEST(tables.number("SELECT SUM(processor_json LIKE '%plant%') FROM conversation_callbacks") == 0);
}

BOOST_AUTO_TEST_CASE(times_are_taken_as_utc_and_conversation_ids_are_normalised) {
    const Tables tables("columns");
    tables.openhands.add_v0(uuid(1), github_v0, github_view(1, R"(,"unknown":{"kept":[1]})"), "ACTIVE",
                            "'2026-03-01 02:03:04.567891'");
    tables.openhands.add_v0("old", github_v0, github_view(2), "ACTIVE", "NULL");
    const auto zoned = tables.openhands.add_v1(uuid(2), slack_v1("C1"));
    tables.openhands.query("UPDATE event_callback SET created_at='2026-03-01 02:03:04+02' WHERE id='" +
                           zoned + "'");
    BOOST_TEST(tables.report(0).at("imported") == 3);
    const auto rows = server_of_this_program().query(
        "SELECT conversation_id, created_at, processor_type, processor_json FROM conversation_callbacks "
        "ORDER BY id",
        tables.name);
    BOOST_REQUIRE(rows.size() == 3U);
    BOOST_TEST(rows[0][0].value() == "00000000000040008000000000000001");
    BOOST_TEST(rows[0][1].value() == "2026-03-01 02:03:04.567891");
    BOOST_TEST(rows[0][2].value() == github_v0);
    BOOST_TEST(rows[0][3].value() == github_view(1, R"(,"unknown":{"kept":[1]})"));
    BOOST_TEST(!rows[1][1].has_value());
    BOOST_TEST(rows[2][1].value() == "2026-03-01 00:03:04.000000");
    BOOST_TEST(rows[2][2].value() == "SlackV1CallbackProcessor");
}

BOOST_AUTO_TEST_CASE(openhands_database_is_only_read) {
    const Tables tables("read_only");
    tables.openhands.add_v0("one", github_v0, github_view(1));
    const auto row = tables.openhands.add_v1(uuid(1), slack_v1("C1"));
    tables.openhands.add_result(row, "e", "SUCCESS");
    const auto before = tables.openhands.content();
    BOOST_TEST(tables.report(0).at("imported") == 2);
    BOOST_TEST(tables.openhands.content() == before);
    // The server refuses whatever would write, also from one who may.
    auto administrator =
        epilogue::PostgresAddress::parse(postgres_of_this_program().url("openhands_read_only")).value();
    administrator.password = epilogue::Secret(postgres_of_this_program().password());
    const auto session = epilogue::PostgresSession::open(administrator);
    BOOST_REQUIRE(session.has_value());
    for (const char* sql : {"DELETE FROM event_callback", "CREATE TABLE t (a int)",
                            "UPDATE conversation_callbacks SET status='COMPLETED'"}) {
        const auto refused = (*session)->query(sql);
        BOOST_REQUIRE(!refused.has_value());
        BOOST_TEST(contains(refused.error().text, "read-only transaction"), refused.error().text);
    }
    BOOST_TEST(tables.openhands.content() == before);
}

BOOST_AUTO_TEST_CASE(a_dry_run_says_what_would_be_done_and_writes_nothing) {
    const Tables tables("dry");
    const auto first = tables.openhands.add_v0("one", github_v0, github_view(1));
    BOOST_TEST(tables.report(0, {"--dry-run"}).at("imported") == 1);
    BOOST_TEST(tables.number("SELECT COUNT(*) FROM conversation_callbacks") == 0);
    BOOST_TEST(tables.number("SELECT COUNT(*) FROM imported_rows") == 0);
    BOOST_TEST(tables.report(0).at("imported") == 1);
    tables.openhands.query("UPDATE conversation_callbacks SET status='COMPLETED'");
    BOOST_TEST(tables.report(0, {"--dry-run"}).at("changed")[0].at("outcome") == "cancelled");
    BOOST_TEST(tables.number("SELECT COUNT(*) FROM conversation_callbacks WHERE status='ACTIVE'") == 1);
    BOOST_TEST(tables.report(0).at("changed").size() == 1U);
}

BOOST_AUTO_TEST_CASE(rows_of_another_database_need_another_name) {
    const Tables tables("first");
    const OpenHandsDatabase other(postgres_of_this_program(), "openhands_second");
    tables.openhands.add_v0("one", github_v0, github_view(1));
    other.add_v0("another", github_v0, github_view(2));
    BOOST_TEST(tables.report(0).at("imported") == 1);
    const auto mixed = tables.epilogue.run({"import", "--from", other.url()});
    BOOST_TEST(mixed.status == 1, mixed.out);
    BOOST_TEST(contains(mixed.err, "--source NAME"), mixed.err);
    const auto named = tables.epilogue.run({"import", "--from", other.url(), "--source", "second"});
    BOOST_TEST(named.status == 0, named.err);
    BOOST_TEST(tables.number("SELECT COUNT(*) FROM conversation_callbacks") == 2);
}

BOOST_AUTO_TEST_CASE(following_takes_over_what_is_new_and_outlives_a_database_that_goes_away) {
    const Tables tables("follow");
    const auto callbacks = [&] { return tables.number("SELECT COUNT(*) FROM conversation_callbacks"); };
    const auto broken = tables.openhands.add_v0("broken", github_v0, "{}");
    auto follower = tables.epilogue.start({"import", "--from", tables.openhands.url(), "--follow", "--json"});
    eventually("the first pass is over", [&] { return contains(follower.out(), "\n"); });
    tables.openhands.add_v0("new", github_v0, github_view(1));
    eventually("the new row is taken over", [&] { return callbacks() == 1; });
    postgres_of_this_program().stop();
    eventually("it says that it waits", [&] { return contains(follower.err(), "wait to be imported"); });
    BOOST_TEST(follower.running());
    postgres_of_this_program().start_again();
    tables.openhands.add_v1(uuid(1), slack_v1("C1"));
    eventually("it has come back", [&] { return callbacks() == 2; });
    tables.openhands.query(
        "UPDATE conversation_callbacks SET status='COMPLETED' WHERE conversation_id='new'");
    eventually("the change is followed", [&] {
        return tables.number("SELECT COUNT(*) FROM conversation_callbacks WHERE status='COMPLETED'") == 1;
    });
    for (const auto& [signal, said] :
         {std::pair(SIGHUP, "SIGHUP is ignored"), std::pair(SIGUSR1, "SIGUSR1 is ignored")}) {
        follower.signal(signal);
        eventually(said, [&] { return contains(follower.err(), said); });
    }
    BOOST_TEST(follower.running());
    follower.signal(SIGTERM);
    BOOST_TEST(follower.wait(patience).value_or(-1) == 0);
    // A line for each pass that had news; a row that cannot be read is said once.
    std::istringstream lines(follower.out());
    std::size_t said = 0;
    for (std::string line; std::getline(lines, line);) said += Json::parse(line).at("unreadable").size();
    BOOST_TEST(said == 1U);
    BOOST_TEST(!contains(follower.out() + follower.err(), "r3ad"));
}

BOOST_AUTO_TEST_CASE(exit_codes_say_what_is_wrong) {
    const Tables tables("codes");
    const auto import = [&](const std::string& from, const std::vector<std::string>& more = {}) {
        std::vector<std::string> all{"import", "--from", from};
        all.insert(all.end(), more.begin(), more.end());
        return tables.epilogue.run(all, "", 10s);  // within ten seconds, each of them
    };
    BOOST_TEST(import("mysql://h/d").status == 78);
    BOOST_TEST(import("postgres://me@h/d?nonsense=1").status == 78);
    const auto foreign =
        import("postgres://postgres:" + postgres_of_this_program().password() +
               "@127.0.0.1:" + std::to_string(postgres_of_this_program().port()) + "/postgres");
    BOOST_TEST(foreign.status == 78, foreign.err);
    BOOST_TEST(contains(foreign.err, "OpenHands"), foreign.err);
    BOOST_TEST(import("postgres://me@127.0.0.1:9/d").status == 69);
    const auto denied =
        import("postgres://reader:wr0ng@127.0.0.1:" + std::to_string(postgres_of_this_program().port()) +
               "/openhands_codes");
    BOOST_TEST(denied.status == 69);
    BOOST_TEST(contains(denied.err, "password authentication failed"), denied.err);
    BOOST_TEST(!contains(denied.err, "wr0ng"), denied.err);
    BOOST_TEST(import(tables.openhands.url(), {"--password", "r3ad/only"}).status == 64);
    BOOST_TEST(import(tables.openhands.url(), {"--follow", "--dry-run"}).status == 64);
    BOOST_TEST(tables.epilogue.run({"import"}).status == 64);
    const Epilogue lonely(Settings{{"database.port", 9}});
    BOOST_TEST(lonely.run({"import", "--from", tables.openhands.url()}, "", 10s).status == 69);
}

BOOST_AUTO_TEST_CASE(a_hundred_thousand_rows_are_taken_over_once_by_two_imports_at_once) {
    constexpr std::int64_t rows_of_each = 50'000;
    const Tables tables("many");
    const auto series = " FROM generate_series(1, " + std::to_string(rows_of_each) + ") n";
    // As long as the rows that hold a webhook's whole body; every fourth is over.
    tables.openhands.query(
        "INSERT INTO conversation_callbacks (conversation_id, status, processor_type, processor_json) SELECT "
        "md5(n::text), (CASE WHEN n % 4 = 0 THEN 'COMPLETED' ELSE 'ACTIVE' END)::callbackstatus, " +
        pg_quoted(github_v0) +
        ", '{\"github_view\":{\"full_repo_name\":\"octo/many\",\"issue_number\":' || n || "
        "',\"raw_payload\":\"' || repeat('x', 3000) || '\"}}'" +
        series);
    tables.openhands.query(
        "INSERT INTO event_callback (id, conversation_id, processor) SELECT md5('row' || n)::uuid, "
        "md5(n::text)::uuid, json_build_object('kind', 'SlackV1CallbackProcessor', 'slack_view_data', "
        "json_build_object('channel_id', 'C' || n, 'message_ts', '17.5', 'team_id', 'T1'))" +
        series);
    constexpr std::int64_t active = rows_of_each * 3 / 4 + rows_of_each;
    const auto begun = std::chrono::steady_clock::now();
    auto beside = tables.epilogue.start({"import", "--from", tables.openhands.url(), "--json"});
    const auto report = tables.report(0);
    BOOST_TEST(beside.wait(patience).value_or(-1) == 0, beside.err());
    std::cout << "100,000 rows by two imports at once: "
              << std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() << " s\n";
    BOOST_TEST(report.at("rows") == 2 * rows_of_each);
    BOOST_TEST(report.at("imported").get<std::int64_t>() +
                   Json::parse(beside.out()).at("imported").get<std::int64_t>() ==
               active);
    BOOST_TEST(tables.number("SELECT COUNT(*) FROM conversation_callbacks") == active);
    // Each row became the callback that it says.
    BOOST_TEST(tables.number("SELECT COUNT(*) FROM imported_rows i JOIN conversation_callbacks c ON "
                             "c.id=i.callback_id AND c.conversation_id=i.conversation_id AND "
                             "(c.processor_type LIKE '%V1%')=(i.generation='v1')") == active);
    const auto again = std::chrono::steady_clock::now();
    BOOST_TEST(tables.report(0).at("unchanged") == active);
    std::cout << "again: " << std::chrono::duration<double>(std::chrono::steady_clock::now() - again).count()
              << " s\n";
    BOOST_TEST(tables.number("SELECT COUNT(*) FROM conversation_callbacks") == active);
}
