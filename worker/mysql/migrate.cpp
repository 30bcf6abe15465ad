#include "worker/mysql/migrate.h"

#include "base/ids.h"
#include "base/text.h"
#include "worker/mysql/columns.h"

namespace epilogue {
namespace {

constexpr const char* ledger_table =
    "CREATE TABLE IF NOT EXISTS schema_migrations (version INT NOT NULL PRIMARY KEY, name VARCHAR(255) NOT "
    "NULL, "
    "applied_at DATETIME(6) NOT NULL) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin";

/// The statements of a step, without comment lines.
std::vector<std::string> statements_of(const std::string& sql) {
    std::string bare;
    for (const std::string& line : split(sql, '\n'))
        if (!line.starts_with("--")) bare += line + "\n";
    std::vector<std::string> statements;
    std::string_view rest = bare;
    while (true) {
        const auto end = rest.find(";\n");
        if (const auto statement = trimmed(rest.substr(0, end)); !statement.empty())
            statements.emplace_back(statement);
        if (end == std::string_view::npos) return statements;
        rest.remove_prefix(end + 2);
    }
}

Result<void> apply(MysqlSession& session, const Migration& migration) {
    // A step that was cut off runs again from its beginning.
    for (const std::string& statement : statements_of(migration.sql))
        if (const auto done = session.run(statement); !done && !is_already_done(done.error()))
            return Failure(done.error());
    TRY_VOID(session.execute(
        "INSERT INTO schema_migrations (version, name, applied_at) VALUES (?,?,UTC_TIMESTAMP(6)) "
        "ON DUPLICATE KEY UPDATE name=VALUES(name)",
        {std::int64_t{migration.version}, migration.name}));
    return {};
}

Result<std::vector<std::string>> apply_missing(MysqlSession& session) {
    TRY_VOID(session.run(ledger_table));
    TRY(const auto status, migration_status(session));
    std::vector<std::string> taken;
    for (const Migration& migration : migrations()) {
        if (migration.version <= status.present) continue;
        TRY_VOID(apply(session, migration));
        taken.push_back(migration.name);
    }
    TRY_VOID(session.execute(
        "INSERT INTO installation (singleton, installation_id, created_at) VALUES (1,?,UTC_TIMESTAMP(6)) "
        "ON DUPLICATE KEY UPDATE singleton=singleton",
        {random_uuid()}));
    return taken;
}

}  // namespace

Result<MigrationStatus> migration_status(MysqlSession& session) {
    MigrationStatus status;
    status.needed = migrations().back().version;
    const auto rows = session.query("SELECT MAX(version) FROM schema_migrations");
    if (rows)
        status.present = static_cast<int>(Columns(rows->at(0)).number());
    else if (!is_missing_table(rows.error()))
        return Failure(rows.error());
    return status;
}

Result<std::vector<std::string>> migrate(MysqlSession& session) {
    constexpr const char* lock = "CONCAT('epilogue_migrate_', DATABASE())";
    TRY(const auto locked, session.query(std::string("SELECT GET_LOCK(") + lock + ", 60)"));
    if (Columns(locked.at(0)).number() != 1)
        return retryable("another migration is running; it did not end within 60 s");
    auto taken = apply_missing(session);
    if (const auto released = session.query(std::string("SELECT RELEASE_LOCK(") + lock + ")");
        !released && taken)
        return Failure(released.error());
    return taken;
}

}  // namespace epilogue
