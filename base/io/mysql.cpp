#include "base/io/mysql.h"

#include <algorithm>
#include <array>
#include <map>

#include <cppconn/connection.h>
#include <cppconn/driver.h>
#include <cppconn/exception.h>
#include <cppconn/prepared_statement.h>
#include <cppconn/resultset.h>
#include <cppconn/resultset_metadata.h>
#include <cppconn/statement.h>
#include <mysql_connection.h>
#include <mysql_driver.h>

namespace epilogue {
namespace {

constexpr std::size_t max_cached_statements = 128;

/// Errors that the data cause: the same record fails on every database and at every time.
bool is_data_error(int code) {
    constexpr std::array codes{1048, 1153, 1264, 1292, 1300, 1366, 1406, 3140, 3819, 4025};
    return std::find(codes.begin(), codes.end(), code) != codes.end();
}

struct Binder {
    sql::PreparedStatement& statement;
    unsigned index;

    void operator()(std::nullptr_t) const { statement.setNull(index, 0); }
    void operator()(std::int64_t number) const { statement.setInt64(index, number); }
    void operator()(const std::string& text) const { statement.setString(index, text); }
    void operator()(Instant at) const { statement.setString(index, to_sql(at)); }
};

/// The connector's driver. Its own function makes it at the first call, without a lock: of two threads that
/// call it at the same time one would keep a driver that the other's replaces.
sql::mysql::MySQL_Driver& the_driver() {
    static sql::mysql::MySQL_Driver& driver = *sql::mysql::get_driver_instance();
    return driver;
}

/// The connector wants each thread that uses it registered with the client library.
void register_thread(sql::mysql::MySQL_Driver& driver) {
    struct Registration {
        sql::mysql::MySQL_Driver& driver;
        explicit Registration(sql::mysql::MySQL_Driver& d) : driver(d) { driver.threadInit(); }
        ~Registration() { driver.threadEnd(); }
        Registration(const Registration&) = delete;
        Registration& operator=(const Registration&) = delete;
    };
    thread_local const Registration registration(driver);
}

/// sslEnforce does not enforce: where the server has no TLS the client library goes on without. With
/// sslVerify it does not.
void add_tls(const MysqlSettings& settings, sql::ConnectOptionsMap& options) {
    using Tls = MysqlSettings::Tls;
    if (settings.tls == Tls::off) return;
    options["sslEnforce"] = true;
    if (settings.tls == Tls::verified) options["sslVerify"] = true;
    if (!settings.tls_ca.empty()) options["sslCA"] = settings.tls_ca;
    if (!settings.tls_certificate.empty()) options["sslCert"] = settings.tls_certificate;
    if (!settings.tls_key.empty()) options["sslKey"] = settings.tls_key;
}

}  // namespace

struct MysqlSession::Driver {
    std::unique_ptr<sql::Connection> connection;
    std::map<std::string, std::unique_ptr<sql::PreparedStatement>> statements;

    sql::PreparedStatement& prepared(const std::string& sql, const std::vector<SqlValue>& values) {
        register_thread(the_driver());
        if (statements.size() > max_cached_statements) statements.clear();
        auto& statement = statements[sql];
        if (!statement) statement.reset(connection->prepareStatement(sql));
        for (std::size_t i = 0; i < values.size(); ++i)
            std::visit(Binder{*statement, static_cast<unsigned>(i + 1)}, values[i]);
        return *statement;
    }
};

SqlValue sql_value(const std::optional<Instant>& at) {
    return at ? SqlValue(*at) : SqlValue(nullptr);
}

SqlValue sql_value_or_null(const std::string& text) {
    return text.empty() ? SqlValue(nullptr) : SqlValue(text);
}

bool is_lost_connection(const Error& error) {
    // The server is going down (1053, 1077), the session was killed (1317, 1927, 3169) or too long silent
    // (4031).
    constexpr std::array codes{1053, 1077, 1317, 1927, 3169, 4031};
    return (error.code >= 2000 && error.code < 3000) ||
           std::find(codes.begin(), codes.end(), error.code) != codes.end();
}

bool is_conflict(const Error& error) {
    return error.code == 1205 || error.code == 1213 || error.code == 1020;
}

bool is_missing_table(const Error& error) {
    return error.code == 1146 || error.code == 1054 || error.code == 1049;
}

bool is_already_done(const Error& error) {
    return error.code == 1060 || error.code == 1061 || error.code == 1091;
}

std::string placeholders(std::size_t columns, std::size_t rows) {
    std::string row = "(?";
    for (std::size_t i = 1; i < columns; ++i) row += ",?";
    row += ")";
    return repeated(row, rows);
}

std::string repeated(const std::string& row, std::size_t rows) {
    std::string all = row;
    for (std::size_t i = 1; i < rows; ++i) (all += ',') += row;
    return all;
}

MysqlSession::MysqlSession(std::unique_ptr<Driver> driver) : driver_(std::move(driver)) {}
MysqlSession::~MysqlSession() {
    register_thread(the_driver());
    driver_->statements.clear();
}

Failure MysqlSession::failed(const std::string& text, int code) {
    Error error{is_data_error(code) ? Remedy::poison : Remedy::retry, code, text};
    if (code == 0 || is_lost_connection(error)) broken_ = true;
    return Failure(std::move(error));
}

Result<std::unique_ptr<MysqlSession>> MysqlSession::open(const MysqlSettings& settings) {
    try {
        auto& driver = the_driver();
        register_thread(driver);
        sql::ConnectOptionsMap options;
        options["hostName"] = settings.socket.empty()
                                  ? "tcp://" + settings.host + ":" + std::to_string(settings.port)
                                  : "unix://" + settings.socket;
        options["userName"] = settings.user;
        options["password"] = settings.password;
        options["OPT_CONNECT_TIMEOUT"] = static_cast<int>(settings.connect_timeout.count());
        options["OPT_READ_TIMEOUT"] = static_cast<int>(settings.answer_timeout.count());
        options["OPT_WRITE_TIMEOUT"] = static_cast<int>(settings.answer_timeout.count());
        options["OPT_CHARSET_NAME"] = "utf8mb4";
        add_tls(settings, options);
        auto made = std::make_unique<Driver>();
        made->connection.reset(driver.connect(options));
        std::unique_ptr<MysqlSession> session(new MysqlSession(std::move(made)));
        TRY_VOID(session->run(
            "SET SESSION sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', "
            "time_zone='+00:00', innodb_lock_wait_timeout=5, wait_timeout=120"));
        TRY_VOID(session->run("SET NAMES utf8mb4"));
        TRY_VOID(session->run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"));
        TRY(const auto about, session->query("SELECT CONNECTION_ID(), VERSION()"));
        session->connection_id_ = std::stoll(about.at(0).at(0).value_or("0"));
        if (about.at(0).at(1).value_or("").find("MariaDB") != std::string::npos)
            TRY_VOID(session->run("SET SESSION idle_transaction_timeout=10"));
        if (settings.tls >= MysqlSettings::Tls::required) {
            TRY(const auto cipher, session->query("SHOW STATUS LIKE 'Ssl_cipher'"));
            if (cipher.empty() || cipher[0].at(1).value_or("").empty())
                return retryable("the database offers no TLS, but [database] tls wants it", 2026);
        }
        if (!settings.database.empty()) TRY_VOID(session->run("USE `" + settings.database + "`"));
        return session;
    } catch (const sql::SQLException& error) {
        return retryable(error.what(), error.getErrorCode() == 0 ? 2002 : error.getErrorCode());
    }
}

Result<std::vector<SqlRow>> MysqlSession::query(const std::string& sql, const std::vector<SqlValue>& values) {
    try {
        const std::unique_ptr<sql::ResultSet> result(driver_->prepared(sql, values).executeQuery());
        const unsigned columns = result->getMetaData()->getColumnCount();
        std::vector<SqlRow> rows;
        while (result->next()) {
            SqlRow row(columns);
            for (unsigned i = 0; i < columns; ++i)
                if (!result->isNull(i + 1)) row[i] = std::string(result->getString(i + 1));
            rows.push_back(std::move(row));
        }
        return rows;
    } catch (const sql::SQLException& error) {
        return failed(error.what(), error.getErrorCode());
    }
}

Result<std::int64_t> MysqlSession::execute(const std::string& sql, const std::vector<SqlValue>& values) {
    try {
        return std::int64_t{driver_->prepared(sql, values).executeUpdate()};
    } catch (const sql::SQLException& error) {
        return failed(error.what(), error.getErrorCode());
    }
}

Result<void> MysqlSession::run(const std::string& sql) {
    try {
        register_thread(the_driver());
        const std::unique_ptr<sql::Statement> statement(driver_->connection->createStatement());
        statement->execute(sql);
        return {};
    } catch (const sql::SQLException& error) {
        return failed(error.what(), error.getErrorCode());
    }
}

}  // namespace epilogue
