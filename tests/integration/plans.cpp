// How the database finds what a worker asks for: on tables that have grown for years no statement goes
// through a whole one.
#define BOOST_TEST_MODULE plans
#include <map>
#include <regex>

#include <boost/test/unit_test.hpp>

#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/statement_log.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;

constexpr int grown = 8000;  ///< rows of each table that grows
/// What one look may go through: the adopter's is the longest.
constexpr std::int64_t readable = 6000;

/// 0 to 9999 as `n`.
const std::string numbers = [] {
    const std::string digits =
        "(SELECT 0 d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL "
        "SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) ";
    return "(SELECT a.d+10*b.d+100*c.d+1000*e.d AS n FROM " + digits + "a, " + digits + "b, " + digits +
           "c, " + digits + "e) numbers WHERE n<" + std::to_string(grown);
}();

/// How old each of them is, in seconds: some so old that the janitor takes them.
const std::string age = "IF(n<" + std::to_string(grown - 100) + ", n, n*100000)";

/// Rows of conversations that are over, as a worker leaves them; what is due in the far future.
const std::map<std::string, std::string> rows_that_grow{
    {"conversations (conversation_id, partition_id, status, turn_key, recent_ids, fold, last_event_at)",
     "CONCAT('old-',n), n%2, 'finished', 't', '', '', UTC_TIMESTAMP(6) - INTERVAL " + age + " SECOND"},
    {"conversation_callbacks (id, conversation_id, status, processor_type, processor_json)",
     "n+1, CONCAT('old-',n), 'COMPLETED', 'github', '{}'"},
    {"callback_progress (callback_id, conversation_id, phase, options, adopted_at, generation)",
     "n+1, CONCAT('old-',n), 'done', '{}', UTC_TIMESTAMP(6), 1"},
    {"summaries (conversation_id, turn_key, source, state, body, created_at)",
     "CONCAT('old-',n), 't', 'final', 'READY', '{}', UTC_TIMESTAMP(6) - INTERVAL " + age + " SECOND"},
    {"deliveries (delivery_id, callback_id, turn_key, conversation_id, sink, target, verdict, state, body, "
     "credential, rate_window, sent_at, created_at)",
     "CONCAT('old-',n), n+1, 't', CONCAT('old-',n), 'github', 'o/r#1', 'finished', 'SENT', 'Done.', "
     "'github:old', CONCAT('github:old/',n%50), UTC_TIMESTAMP(6) - INTERVAL " +
         age +
         " SECOND, "
         "UTC_TIMESTAMP(6) - INTERVAL " +
         age + " SECOND"},
    {"dead_letters (cluster_id, topic, partition_id, record_offset, reason, length, sha256, created_at)",
     "'c', 'old', 0, n, 'not_json', 1, REPEAT('0',64), UTC_TIMESTAMP(6) - INTERVAL " + age + " SECOND"},
    {"agent_endpoints (conversation_id, url)", "CONCAT('old-',n), 'http://127.0.0.1:9'"},
    {"catch_ups (conversation_id, why, asked_at, next_try_at)",
     "CONCAT('asked-',n), 'gap', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 DAY"},
    {"kept_requests (request_key, body_sha256, registration, created_at)",
     "CONCAT('old-',n), REPEAT('0',64), CONCAT('old-',n), UTC_TIMESTAMP(6)"},
    {"imported_rows (source, generation, row_id, conversation_id, version, digest, status, callback_id, "
     "imported_at)",
     "'s', 'v0', CONCAT('old-',n), CONCAT('old-',n), '1', REPEAT('0',64), 'ACTIVE', n+1, UTC_TIMESTAMP(6)"},
    {"instructions (conversation_id, turn_key, ask_id, created_at)",
     "CONCAT('old-',n), 't', 'a', UTC_TIMESTAMP(6)"},
    {"relay_owners (conversation_id, owner, created_at)",
     "CONCAT('old-',n), REPEAT('0',64), UTC_TIMESTAMP(6)"},
    {"rate_windows (rate_window, open_at)", "CONCAT('github:old/',n), UTC_TIMESTAMP(6)"}};

void grow(const Rig& rig) {
    for (const auto& [table, values] : rows_that_grow) {
        rig.query("INSERT INTO " + table + " SELECT " + values + " FROM " + numbers);
        rig.query("ANALYZE TABLE " + table.substr(0, table.find(' ')));
    }
}

/// The statement without its values and without how many there are: the same for each call.
std::string shape_of(const std::string& statement) {
    static const std::regex text(R"('(?:[^'\\]|\\.|'')*')");
    static const std::regex number(R"(\b[0-9][0-9.]*\b)");
    static const std::regex list(R"(\?(, *\?)+)");
    const auto replaced = [](const std::string& where, const std::regex& what) {
        return std::regex_replace(where, what, "?");
    };
    return replaced(replaced(replaced(statement, text), number), list);
}

bool has_plan(const std::string& statement) {
    for (const std::string verb : {"SELECT", "UPDATE", "DELETE"})
        if (statement.rfind(verb, 0) == 0) return contains(statement, " FROM ") || verb == "UPDATE";
    return statement.rfind("INSERT", 0) == 0 && contains(statement, " SELECT ");
}

/// One statement of each shape that reads tables.
std::map<std::string, std::string> shapes(const StatementLog& log) {
    std::map<std::string, std::string> found;
    for (const LoggedStatement& statement : log.statements())
        if (has_plan(statement.text)) found.try_emplace(shape_of(statement.text), statement.text);
    return found;
}

/// A table of a statement, as the server means to read it.
struct Step {
    std::string table;
    std::string access;  ///< "ALL": all its rows; "index": all of an index
    std::int64_t rows = 0;
    std::string extra;
};

std::vector<Step> plan_of(const Rig& rig, const std::string& statement) {
    const bool is_mysql = chosen_database() == DatabaseKind::mysql;
    const std::size_t access = is_mysql ? 4 : 3;
    const std::size_t rows = is_mysql ? 9 : 8;
    std::vector<Step> steps;
    for (const Row& row : rig.query("EXPLAIN " + statement))
        steps.push_back({row.at(2).value_or(""), row.at(access).value_or(""),
                         std::stoll(row.at(rows).value_or("0")), row.back().value_or("")});
    return steps;
}

/// What a worker says to its database from its start to its end, with all that may become of a post.
class WorkingRig {
  public:
    WorkingRig()
        : rig_("plans", 2,
               {{"worker.inactivity_timeout_s", 2}, {"worker.http_timeout_s", 1}, {"worker.lease_s", 30}}) {
        server_of_this_program().query("SET GLOBAL innodb_flush_log_at_trx_commit=0");
        grow(rig_);
        rig_.platform().rules(
            {{{"do", "status"}, {"status", 403}, {"method", "POST"}, {"path", "/o/parked/"}, {"times", -1}},
             {{"do", "status"},
              {"status", 429},
              {"headers", {{"retry-after", "2"}}},
              {"method", "POST"},
              {"path", "/o/paced/"},
              {"times", 2}},
             {{"do", "status"}, {"status", 401}, {"method", "POST"}, {"path", "^/gitlab/"}, {"times", -1}},
             {{"do", "apply_then_reset"}, {"method", "POST"}, {"path", "/o/lost/"}, {"times", 1}}});
    }

    void work() {
        auto worker = rig_.epilogue().worker();
        std::vector<V0Conversation> conversations;
        for (const std::string name : {"well", "paced", "lost", "parked"})
            for (int i = 0; i < 3; ++i) add(name, i, conversations);
        rig_.add_callback({"--conversation", "refused", "--processor", "gitlab", "--processor-json",
                           R"({"project": "o/refused", "iid": 1, "kind": "issue"})"});
        conversations.push_back(V0Conversation("refused").user("Go.").agent_finishes("Done."));
        rig_.add_github("silent", "o/silent", 1, "once");
        rig_.query(
            "INSERT INTO conversation_callbacks (conversation_id, processor_type, processor_json, "
            "created_at) VALUES ('foreign','github','{\"repo\":\"o/foreign\",\"number\":1}',"
            "UTC_TIMESTAMP(6))");
        conversations.push_back(V0Conversation("foreign").user("Go.").agent_finishes("Done."));
        rig_.publish(records_of(conversations));
        rig_.publish({{.key = "letter", .value = "{not json"}});
        rig_.publish(V0Conversation("silent").user("Go.").records());
        V1Conversation living("living");
        rig_.publish({living.stats()});
        eventually("all that can be is posted, the silence too", [&] {
            rig_.hurry_look_ups();
            return rig_.number(
                       "SELECT COUNT(*) FROM deliveries WHERE state='SENT' AND conversation_id NOT "
                       "LIKE 'old-%'") == 11;
        });
        rig_.query("UPDATE deliveries SET heal_due_at=UTC_TIMESTAMP(6) WHERE heal_due_at IS NOT NULL");
        eventually("they are checked for twins", [&] {
            return rig_.number("SELECT COUNT(*) FROM deliveries WHERE heal_due_at IS NOT NULL") == 0;
        });
        eventually("the janitor has passed", [&] { return was_asked("DELETE FROM relay_owners"); });
        eventually("the refused credential is parked",
                   [&] { return was_asked("(ix_deliveries_credential)"); });
        eventually("the gauges are read", [&] { return was_asked("AS why, COUNT(*) FROM deliveries"); });
    }

    const Rig& rig() const { return rig_; }
    const StatementLog& log() const { return log_; }
    bool was_asked(const std::string& words) const { return log_.has(words); }

  private:
    void add(const std::string& name, int number, std::vector<V0Conversation>& conversations) {
        const std::string id = name + std::to_string(number);
        rig_.add_github(id, "o/" + name, number + 1, "once");
        conversations.push_back(V0Conversation(id).user("Go.").agent_finishes("Done."));
    }

    const Rig rig_;
    const StatementLog log_{server_of_this_program()};
};

}  // namespace

BOOST_AUTO_TEST_CASE(no_statement_of_a_worker_goes_through_a_table_that_grows) {
    WorkingRig working;
    working.work();
    const auto found = shapes(working.log());
    for (const auto& [shape, statement] : found) {
        for (const Step& step : plan_of(working.rig(), statement)) {
            if (step.table.rfind('<', 0) == 0) continue;  // rows of another step
            const bool is_scan = (step.access == "ALL" || step.access == "index") && step.rows > grown / 4;
            BOOST_TEST((!is_scan && step.rows <= readable), shape << "\n  reads " << step.rows << " rows of "
                                                                  << step.table << " by " << step.access
                                                                  << "; " << step.extra);
        }
    }
    // What was looked at is what a worker lives by, not a part of it.
    for (const std::string part : {"FROM partition_progress",
                                   "FROM conversations WHERE conversation_id IN",
                                   "FROM conversations WHERE partition_id=",
                                   "FROM conversations WHERE let_go_at>=",
                                   "FROM callback_progress p",
                                   "SELECT DISTINCT conversation_id FROM callback_progress",
                                   "SELECT id FROM conversation_callbacks WHERE id>",
                                   "(ix_deliveries_due)",
                                   "(ix_deliveries_heal)",
                                   "(ix_deliveries_line)",
                                   "(ix_deliveries_credential)",
                                   "(ix_deliveries_created)",
                                   "(ix_deliveries_conversation)",
                                   "UPDATE deliveries SET state=",
                                   "FROM deliveries e JOIN deliveries",
                                   "FROM rate_windows WHERE",
                                   "FROM rate_windows w",
                                   "FROM credentials",
                                   "FROM catch_ups WHERE",
                                   "FROM summaries WHERE state='OWED'",
                                   "(ix_summaries_created)",
                                   "(ix_conversations_last_event)",
                                   "DELETE FROM dead_letters",
                                   "FROM log_gaps"})
        BOOST_TEST(working.was_asked(part), part);
}
