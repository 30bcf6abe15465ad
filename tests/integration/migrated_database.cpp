#include "tests/integration/migrated_database.h"

#include "tests/support/expect.h"
#include "worker/mysql/migrate.h"

namespace epilogue::testing {

MigratedDatabase::MigratedDatabase(const Database& server, const std::string& name)
    : server_(server), settings_(server.settings(name)) {
    server.query("SET GLOBAL innodb_flush_log_at_trx_commit=0");
    server.create_database(name);
    expect(migrate(*expect(MysqlSession::open(settings_))));
}

std::vector<Row> MigratedDatabase::query(const std::string& sql) const {
    return server_.query(sql, settings_.database);
}

std::int64_t MigratedDatabase::number(const std::string& sql) const {
    return server_.number(sql, settings_.database);
}

}  // namespace epilogue::testing
