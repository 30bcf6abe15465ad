#include "tests/support/database.h"

#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>

#include <cppconn/connection.h>
#include <cppconn/exception.h>
#include <cppconn/resultset.h>
#include <cppconn/resultset_metadata.h>
#include <cppconn/statement.h>
#include <mysql_driver.h>

#include "base/ids.h"
#include "tests/support/ports.h"
#include "tests/support/requirements.h"

namespace epilogue::testing {
namespace {

sql::mysql::MySQL_Driver* driver() {
    static std::mutex mutex;  // the connector's own initialisation is not thread-safe
    const std::scoped_lock lock(mutex);
    return sql::mysql::get_mysql_driver_instance();
}

/// The connector's per-thread state.
struct ConnectorThread {
    ConnectorThread() { driver()->threadInit(); }
    ~ConnectorThread() { driver()->threadEnd(); }
    ConnectorThread(const ConnectorThread&) = delete;
    ConnectorThread& operator=(const ConnectorThread&) = delete;
};

/// Throws sql::SQLException.
std::unique_ptr<sql::Connection> connect(const std::string& socket) {
    static thread_local const ConnectorThread thread;
    std::unique_ptr<sql::Connection> connection(driver()->connect("unix://" + socket, "root", ""));
    const std::unique_ptr<sql::Statement> statement(connection->createStatement());
    statement->execute("SET NAMES utf8mb4");  // the client library's own default is latin1
    return connection;
}

std::vector<Row> rows_of(sql::Statement& statement) {
    std::vector<Row> rows;
    const std::unique_ptr<sql::ResultSet> result(statement.getResultSet());
    const unsigned columns = result->getMetaData()->getColumnCount();
    while (result->next()) {
        auto& row = rows.emplace_back();
        for (unsigned column = 1; column <= columns; ++column) {
            const std::string text = result->getString(column);
            row.push_back(result->wasNull() ? std::nullopt : std::optional(text));
        }
    }
    return rows;
}

/// Runs it as often as a deadlock with another transaction undoes it. Throws sql::SQLException.
std::vector<Row> run_undisturbed(sql::Statement& statement, const std::string& sql) {
    constexpr int deadlock = 1213;
    constexpr int most = 20;
    for (int tried = 1;; ++tried) {
        try {
            return statement.execute(sql) ? rows_of(statement) : std::vector<Row>();
        } catch (const sql::SQLException& error) {
            if (error.getErrorCode() != deadlock || tried == most) throw;
        }
    }
}

/// MySQL 8.0 where a fixture of ctest has put it. Its account plug-in, binary log and durability are the
/// defaults.
process::DatabaseProgram mysql() {
    const std::string folder = EPILOGUE_BINARY_DIR "/mysql-8.0";
    const std::string server = folder + "/bin/mysqld";
    return {"MySQL",
            {server, "--basedir=" + folder, "--initialize-insecure"},
            {server, "--basedir=" + folder, "--mysqlx=OFF", "--performance-schema=OFF"}};
}

process::DatabaseProgram program_of(DatabaseKind kind) {
    return kind == DatabaseKind::mysql ? mysql() : process::mariadb();
}

/// In this order: a suite that is skipped for want of a server leaves no folder.
process::DatabaseServer server_on(unsigned short port, DatabaseKind kind,
                                  const std::vector<std::string>& more) {
    const auto program = program_of(kind);
    require_programs({program.install[0], program.serve[0]});
    std::vector<std::string> options{"--port=" + std::to_string(port), "--bind-address=127.0.0.1",
                                     "--skip-name-resolve", "--innodb-flush-log-at-trx-commit=1"};
    options.insert(options.end(), more.begin(), more.end());
    return {program, options};
}

}  // namespace

DatabaseKind chosen_database() {
    const char* const chosen = std::getenv("EPILOGUE_TEST_DATABASE");
    const std::string word = chosen == nullptr ? "mariadb" : chosen;
    if (word == "mysql") return DatabaseKind::mysql;
    if (word == "mariadb") return DatabaseKind::mariadb;
    throw std::runtime_error("EPILOGUE_TEST_DATABASE: expected mariadb or mysql, got " + word);
}

Database::Database(DatabaseKind kind, const std::vector<std::string>& options)
    : kind_(kind), port_(free_port()), server_(server_on(port_, kind, options)), password_(random_uuid()) {
    query("CREATE USER " + user_ + "@'127.0.0.1' IDENTIFIED BY '" + password_ + "'");
}

void Database::create_database(const std::string& name) const {
    query("CREATE DATABASE `" + name + "` CHARACTER SET utf8mb4");
    query("GRANT ALL ON `" + name + "`.* TO " + user_ + "@'127.0.0.1'");
}

MysqlSettings Database::settings(const std::string& database) const {
    MysqlSettings settings;
    settings.port = port_;
    settings.user = user_;
    settings.password = password_;
    settings.database = database;
    settings.tls = MysqlSettings::Tls::off;
    return settings;
}

std::vector<Row> Database::query(const std::string& sql, const std::string& database) const {
    try {
        const auto connection = connect(server_.administrator().socket);
        if (!database.empty()) connection->setSchema(database);
        const std::unique_ptr<sql::Statement> statement(connection->createStatement());
        return run_undisturbed(*statement, sql);
    } catch (const sql::SQLException& error) {
        throw std::runtime_error(std::to_string(error.getErrorCode()) + " " + error.what() + ": " + sql);
    }
}

std::int64_t Database::number(const std::string& sql, const std::string& database) const {
    const auto rows = query(sql, database);
    if (rows.size() != 1 || rows[0].size() != 1 || !rows[0][0])
        throw std::runtime_error("not one number: " + sql);
    return std::stoll(*rows[0][0]);
}

void Database::stop() {
    server_.stop();
}

void Database::kill9() {
    server_.kill9();
}

void Database::start_again() {
    server_.start_again();
}

}  // namespace epilogue::testing
