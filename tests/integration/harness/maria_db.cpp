#include "tests/integration/harness/maria_db.h"

#include <memory>
#include <mutex>
#include <stdexcept>

#include <cppconn/connection.h>
#include <cppconn/exception.h>
#include <cppconn/resultset.h>
#include <cppconn/resultset_metadata.h>
#include <cppconn/statement.h>
#include <mysql_driver.h>
#include <unistd.h>

#include "base/ids.h"
#include "tests/integration/harness/eventually.h"
#include "tests/integration/harness/ports.h"
#include "tests/integration/harness/requirements.h"

namespace epilogue::testing {
namespace {

constexpr Milliseconds install_deadline{120000};
constexpr Milliseconds start_deadline{60000};
constexpr Milliseconds stop_deadline{60000};

/// The options that both programs need: no file of this machine's is read.
std::vector<std::string> server_command(const std::string& program, const std::filesystem::path& data) {
    std::vector<std::string> command{program, "--no-defaults", "--datadir=" + data.string(),
                                     "--innodb-log-file-size=32M", "--innodb-buffer-pool-size=64M"};
    if (::geteuid() == 0) command.emplace_back("--user=root");  // it refuses to run as root unless told to
    return command;
}

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
std::unique_ptr<sql::Connection> connect(const std::filesystem::path& socket) {
    static thread_local const ConnectorThread thread;
    std::unique_ptr<sql::Connection> connection(driver()->connect("unix://" + socket.string(), "root", ""));
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

/// In this order: a suite that is skipped for want of a server leaves no folder.
TempDir folder_for_server() {
    require_programs({"mariadbd", "mariadb-install-db"});
    return {};
}

}  // namespace

MariaDb::MariaDb() : folder_(folder_for_server()), port_(free_port()), password_(random_uuid()) {
    install();
    start_again();
    query("CREATE USER " + user_ + "@'127.0.0.1' IDENTIFIED BY '" + password_ + "'");
}

void MariaDb::install() const {
    auto command = server_command("mariadb-install-db", folder_.path() / "data");
    command.insert(command.end(), {"--auth-root-authentication-method=normal", "--skip-test-db"});
    const auto done = run({command}, install_deadline);
    if (done.status != 0) throw std::runtime_error("mariadb-install-db: " + done.out + done.err);
}

void MariaDb::create_database(const std::string& name) const {
    query("CREATE DATABASE `" + name + "` CHARACTER SET utf8mb4");
    query("GRANT ALL ON `" + name + "`.* TO " + user_ + "@'127.0.0.1'");
}

std::vector<Row> MariaDb::query(const std::string& sql, const std::string& database) const {
    try {
        const auto connection = connect(folder_.path() / "s");
        if (!database.empty()) connection->setSchema(database);
        const std::unique_ptr<sql::Statement> statement(connection->createStatement());
        return statement->execute(sql) ? rows_of(*statement) : std::vector<Row>();
    } catch (const sql::SQLException& error) {
        throw std::runtime_error(std::to_string(error.getErrorCode()) + " " + error.what() + ": " + sql);
    }
}

void MariaDb::stop() {
    process_->stop(stop_deadline);
}

void MariaDb::kill9() {
    process_->kill9();
}

void MariaDb::start_again() {
    auto command = server_command("mariadbd", folder_.path() / "data");
    command.insert(command.end(),
                   {"--socket=" + (folder_.path() / "s").string(), "--port=" + std::to_string(port_),
                    "--bind-address=127.0.0.1", "--skip-name-resolve", "--innodb-flush-log-at-trx-commit=1"});
    process_.emplace(Command{command});
    eventually("MariaDB answers", start_deadline, [this] {
        if (!process_->running()) throw std::runtime_error("MariaDB ended: " + process_->err());
        try {
            return connect(folder_.path() / "s") != nullptr;
        } catch (const sql::SQLException&) {
            return false;
        }
    });
}

}  // namespace epilogue::testing
