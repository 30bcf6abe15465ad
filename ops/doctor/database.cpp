#include "ops/doctor/database.h"

#include <cmath>
#include <regex>

#include <fmt/format.h>

#include "base/io/mysql.h"
#include "base/text.h"
#include "ops/doctor/relay.h"
#include "worker/mysql/columns.h"
#include "worker/mysql/migrate.h"
#include "worker/settings.h"

namespace epilogue::doctor {
namespace {

const std::string database = "database";
constexpr std::chrono::seconds connect_within{3};
constexpr std::chrono::seconds answer_within{3};

Finding ok(std::string check, std::string text) {
    return {Severity::ok, database, std::move(check), std::move(text), ""};
}

/// All tables that `migrate` makes.
std::vector<std::string> our_tables() {
    std::vector<std::string> tables;
    const std::regex made("CREATE TABLE IF NOT EXISTS (\\w+)");
    for (const Migration& migration : migrations())
        for (std::sregex_iterator at(migration.sql.begin(), migration.sql.end(), made), end; at != end; ++at)
            tables.push_back((*at)[1].str());
    return tables;
}

/// What is refused when EXPLAIN asks how a statement would be done is refused when it is done, and asking
/// changes nothing.
std::string missing_rights(MysqlSession& session, const std::string& table) {
    const auto column = session.query(
        "SELECT column_name FROM information_schema.columns WHERE table_schema=DATABASE() AND table_name=? "
        "AND ordinal_position=1",
        {table});
    const std::string first = column && !column->empty() ? column->at(0).at(0).value_or("1") : "1";
    const std::vector<std::pair<std::string, std::string>> statements{
        {"SELECT", "SELECT 1 FROM " + table + " LIMIT 0"},
        {"INSERT", "EXPLAIN INSERT INTO " + table + " SELECT * FROM " + table + " WHERE 1=0"},
        {"UPDATE", "EXPLAIN UPDATE " + table + " SET " + first + "=" + first + " WHERE 1=0"},
        {"DELETE", "EXPLAIN DELETE FROM " + table + " WHERE 1=0"}};
    std::string missing;
    for (const auto& [right, statement] : statements)
        if (const auto asked = session.query(statement); !asked && !is_lost_connection(asked.error()))
            missing += (missing.empty() ? "" : ", ") + right;
    return missing;
}

Finding judge_rights(MysqlSession& session, const std::string& user) {
    std::string missing;
    for (const std::string& table : our_tables())
        if (const std::string rights = missing_rights(session, table); !rights.empty())
            missing += (missing.empty() ? "" : "; ") + rights + " on " + table;
    if (missing.empty()) return ok("rights", "the account reads, writes and deletes our rows");
    return {Severity::error, database, "rights", "the account \"" + user + "\" lacks " + missing,
            "grant SELECT, INSERT, UPDATE and DELETE on the tables"};
}

/// Rights that only `migrate` needs. What comes by a role is not seen here.
Finding judge_migration_rights(MysqlSession& session) {
    const auto granted = session.query(
        "SELECT privilege_type FROM information_schema.user_privileges WHERE "
        "REPLACE(grantee, '''', '')=CURRENT_USER() UNION SELECT privilege_type FROM "
        "information_schema.schema_privileges WHERE REPLACE(grantee, '''', '')=CURRENT_USER() AND "
        "DATABASE() LIKE table_schema");
    std::string missing;
    for (const char* right : {"CREATE", "ALTER", "INDEX"}) {
        bool found = false;
        if (granted)
            for (const SqlRow& row : *granted) found = found || row.at(0).value_or("") == right;
        if (!found) missing += (missing.empty() ? "" : ", ") + std::string(right);
    }
    if (missing.empty()) return ok("rights of migrate", "the account may create and alter tables");
    return {Severity::warning, database, "rights of migrate",
            "the account seems to lack " + missing + ", which only `epilogue migrate` needs",
            "run `epilogue migrate` with an account that has them, or grant them"};
}

Result<Variables> variables_of(MysqlSession& session) {
    TRY(const auto rows,
        session.query("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('innodb_flush_log_at_trx_commit', "
                      "'sync_binlog', 'log_bin', 'binlog_format', 'max_allowed_packet', 'read_only')"));
    Variables variables;
    for (const SqlRow& row : rows) variables[lowered(row.at(0).value_or(""))] = row.at(1).value_or("");
    return variables;
}

Findings judge_encryption(MysqlSession& session, const Config& config) {
    const auto cipher = session.query("SHOW STATUS LIKE 'Ssl_cipher'");
    const bool is_plain = !cipher || cipher->empty() || cipher->at(0).at(1).value_or("").empty();
    if (!is_plain || !config.database.socket.empty() || is_loopback(config.database.host)) return {};
    return {{Severity::warning, database, "encryption", "rows travel unencrypted to " + config.database.host,
             "give the server a certificate and set [database] tls = \"required\""}};
}

Result<Finding> ask_clock(MysqlSession& session) {
    const auto before = std::chrono::system_clock::now();
    TRY(const auto rows, session.query("SELECT UTC_TIMESTAMP(6)"));
    const auto after = std::chrono::system_clock::now();
    const auto middle = before + (after - before) / 2;
    const auto theirs = Columns(rows.at(0)).instant().value_or(Instant{});
    return judge_clock(theirs - std::chrono::time_point_cast<Micros>(middle),
                       std::chrono::duration_cast<Micros>(after - before));
}

Result<StoredPositions> positions_of(MysqlSession& session, const std::string& topic) {
    TRY(const auto rows,
        session.query("SELECT partition_id, next_offset, consumer_group, cluster_id, first_partitions FROM "
                      "partition_progress WHERE topic=? ORDER BY generation",
                      {topic}));
    StoredPositions positions;  // of several rows of a partition the newest generation stays
    for (const SqlRow& row : rows) {
        Columns columns(row);
        const auto partition = static_cast<int>(columns.number());
        StoredPosition& stored = positions[partition];
        stored.next_offset = columns.number();
        stored.group = columns.text();
        stored.cluster_id = columns.text();
        const auto first = columns.number_or_null();
        stored.first_partitions = first ? std::optional(static_cast<int>(*first)) : std::nullopt;
    }
    return positions;
}

Result<std::map<std::string, Watching>> watching_in(MysqlSession& session) {
    TRY(const auto rows, session.query("SELECT processor_type, COUNT(*), MAX(id) FROM conversation_callbacks "
                                       "WHERE status='ACTIVE' GROUP BY processor_type"));
    std::map<std::string, Watching> watching;
    for (const SqlRow& row : rows) {
        Columns columns(row);
        const std::string type = columns.text();
        const auto sink = sink_named(type);
        if (!sink) continue;
        Watching& ones = watching[*sink];
        ones.callbacks += columns.number();
        TRY(const auto newest, session.query("SELECT processor_json FROM conversation_callbacks WHERE id=?",
                                             {columns.number()}));
        if (newest.empty()) continue;
        if (auto processor = decode_processor(type, newest[0].at(0).value_or("")))
            ones.newest = std::move(*processor);
    }
    return watching;
}

Findings judge_ledger(MysqlSession& session) {
    const auto rows = session.query(
        "SELECT sink, COUNT(*), MIN(cause) FROM deliveries WHERE state='PARKED' GROUP BY sink ORDER BY sink");
    Findings findings;
    if (!rows) return findings;
    for (const SqlRow& row : *rows) {
        Columns columns(row);
        const std::string sink = columns.text();
        const auto count = columns.number();
        findings.push_back({Severity::warning, sink, "parked",
                            fmt::format("{} posts are parked, e.g. because of: {}", count, columns.text()),
                            "mend the cause, then `epilogue deliveries list` and `retry` or `resolve`"});
    }
    return findings;
}

void append(Findings& all, Findings more) {
    for (Finding& finding : more) all.push_back(std::move(finding));
}

/// Everything that needs the tables.
Result<void> visit_tables(MysqlSession& session, const Config& config, DatabaseVisit& visit) {
    visit.findings.push_back(judge_rights(session, config.database.user));
    TRY(visit.positions, positions_of(session, config.kafka.topic));
    TRY(visit.watching, watching_in(session));
    append(visit.findings, judge_ledger(session));
    TRY(const auto relayed, relay_rows(session));
    append(visit.findings, judge_relay_rows(relayed, !config.relay.keys.empty()));
    return {};
}

Result<void> visit_server(MysqlSession& session, const Config& config, DatabaseVisit& visit) {
    TRY(const auto version, session.query("SELECT VERSION()"));
    visit.findings.push_back(judge_version(version.at(0).at(0).value_or("")));
    append(visit.findings, judge_encryption(session, config));
    TRY(const auto variables, variables_of(session));
    append(visit.findings, judge_variables(variables));
    TRY(Finding clock, ask_clock(session));
    visit.findings.push_back(std::move(clock));
    visit.findings.push_back(judge_migration_rights(session));
    TRY(const auto status, migration_status(session));
    visit.has_tables = status.present >= status.needed;
    if (!visit.has_tables) {
        visit.findings.push_back(
            {Severity::error, database, "tables",
             fmt::format("they are of version {}, and {} is needed", status.present, status.needed),
             "run `epilogue migrate`"});
        return {};
    }
    visit.findings.push_back(ok("tables", fmt::format("they are of version {}", status.present)));
    return visit_tables(session, config, visit);
}

}  // namespace

Finding judge_version(const std::string& version) {
    const bool is_maria = version.find("MariaDB") != std::string::npos;
    int major = 0;
    int minor = 0;
    std::sscanf(version.c_str(), "%d.%d", &major, &minor);
    const bool fits = is_maria ? std::pair(major, minor) >= std::pair(10, 11) : major >= 8;
    if (fits) return ok("server", (is_maria ? "" : "MySQL ") + version);
    return {Severity::warning, database, "server", version + " is older than what Epilogue is tested with",
            "use MySQL 8 or MariaDB 10.11, or newer ones"};
}

Findings judge_variables(const Variables& variables) {
    const auto value = [&](const std::string& name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::string() : found->second;
    };
    const auto warn = [](std::string check, std::string text, std::string remedy) {
        return Finding{Severity::warning, database, std::move(check), std::move(text), std::move(remedy)};
    };
    Findings findings;
    const bool has_binlog = value("log_bin") == "ON" || value("log_bin") == "1";
    if (const auto flush = value("innodb_flush_log_at_trx_commit"); flush != "1")
        findings.push_back(warn("durability",
                                "innodb_flush_log_at_trx_commit is " + flush +
                                    ": a crash of the server loses what was committed, and then posts are "
                                    "made twice",
                                "set innodb_flush_log_at_trx_commit=1"));
    if (const auto sync = value("sync_binlog"); has_binlog && sync != "1")
        findings.push_back(warn("durability",
                                "sync_binlog is " + sync +
                                    ": after a crash of the server a replica lacks what was committed, and "
                                    "then posts are made twice",
                                "set sync_binlog=1"));
    if (findings.empty()) findings.push_back(ok("durability", "a COMMIT that is answered is on disk"));
    if (has_binlog && value("binlog_format") == "STATEMENT")
        findings.push_back({Severity::error, database, "isolation",
                            "with binlog_format=STATEMENT no transaction at READ COMMITTED can write",
                            "set binlog_format=ROW or MIXED"});
    else
        findings.push_back(ok("isolation", "READ COMMITTED"));
    constexpr std::int64_t least_packet = std::int64_t{16} << 20U;
    const std::int64_t packet = std::strtoll(value("max_allowed_packet").c_str(), nullptr, 10);
    if (packet < least_packet)
        findings.push_back(warn("packet",
                                fmt::format("max_allowed_packet is {} bytes: large batches and dead "
                                            "letters are refused",
                                            packet),
                                "set max_allowed_packet to 64M, at least 16M"));
    if (const auto mode = value("read_only"); mode == "ON" || mode == "1")
        findings.push_back({Severity::error, database, "read-only", "the server takes no writes",
                            "point [database] at the primary server"});
    return findings;
}

Finding judge_clock(std::chrono::microseconds ahead, std::chrono::microseconds asking) {
    constexpr std::chrono::seconds unharmful{2};
    constexpr std::chrono::seconds harmful{60};
    const auto apart = std::chrono::abs(ahead) - asking / 2;
    const auto text = fmt::format("the database's clock is {:.1f} s {} this machine's",
                                  std::abs(static_cast<double>(ahead.count())) / 1e6,
                                  ahead.count() < 0 ? "behind" : "ahead of");
    if (apart <= unharmful) return ok("clock", text);
    return {apart <= harmful ? Severity::warning : Severity::error, database, "clock",
            text + ": waiting times, and where look-ups begin, go by the database's",
            "synchronise both by NTP"};
}

DatabaseVisit visit_database(const Config& config) {
    DatabaseVisit visit;
    MysqlSettings settings = mysql_settings(config);
    settings.connect_timeout = connect_within;
    settings.answer_timeout = answer_within;
    const auto session = MysqlSession::open(settings);
    if (!session) {
        visit.findings.push_back({Severity::unreachable, database, "connection", session.error().text,
                                  "check [database] host, port or socket, user, password, name and tls, and "
                                  "that the server runs"});
        return visit;
    }
    visit.findings.push_back(ok("connection", "connected as " + config.database.user));
    if (const auto visited = visit_server(**session, config, visit); !visited)
        visit.findings.push_back(
            {is_lost_connection(visited.error()) ? Severity::unreachable : Severity::error, database,
             "questions", visited.error().text, "see the server's log; then ask again"});
    return visit;
}

}  // namespace epilogue::doctor
