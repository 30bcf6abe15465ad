#include "tests/support/postgres_server.h"

#include <csignal>
#include <fstream>
#include <stdexcept>

#include <libpq-fe.h>
#include <unistd.h>

#include "base/ids.h"
#include "tests/support/eventually.h"
#include "tests/support/ports.h"
#include "tests/support/requirements.h"

namespace epilogue::testing {
namespace {

using namespace std::chrono_literals;

const std::string programs = EPILOGUE_BINARY_DIR "/postgresql/bin/";
constexpr uid_t nobody = 65534;

struct CloseConnection {
    void operator()(PGconn* connection) const { PQfinish(connection); }
};
using Connection = std::unique_ptr<PGconn, CloseConnection>;

struct CloseResult {
    void operator()(PGresult* result) const { PQclear(result); }
};

Connection connect(const std::string& url, const std::string& password) {
    const char* const names[] = {"dbname", "password", nullptr};
    const char* const values[] = {url.c_str(), password.c_str(), nullptr};
    return Connection(PQconnectdbParams(names, values, 1));
}

}  // namespace

PostgresServer::PostgresServer() : port_(free_port()), password_(random_uuid()) {
    require_programs({programs + "initdb", programs + "postgres", "setpriv"});
    const std::string secret = folder_.path() / "password";
    std::ofstream(secret) << password_;
    if (::geteuid() == 0 && (::chown(folder_.path().c_str(), nobody, nobody) != 0 ||
                             ::chown(secret.c_str(), nobody, nobody) != 0))
        throw std::runtime_error("the data folder cannot be given to its user");
    const auto made = run(as_its_user({programs + "initdb", "--pgdata=" + (folder_.path() / "data").string(),
                                       "--username=postgres", "--pwfile=" + secret, "--auth=scram-sha-256",
                                       "--encoding=UTF8", "--no-locale", "--no-sync"}),
                          120s);
    if (made.status != 0) throw std::runtime_error("initdb: " + made.out + made.err);
    start_again();
}

PostgresServer::~PostgresServer() = default;

/// It refuses to run as root; its programs may lie where only root can go.
Command PostgresServer::as_its_user(std::vector<std::string> program) const {
    Command command{.argv = std::move(program), .environment = {{"LC_ALL", "C"}}, .folder = "/"};
    if (::geteuid() != 0) return command;
    const std::vector<std::string> user{"setpriv",
                                        "--reuid=" + std::to_string(nobody),
                                        "--regid=" + std::to_string(nobody),
                                        "--clear-groups",
                                        "--inh-caps=+dac_override",
                                        "--ambient-caps=+dac_override",
                                        "--pdeathsig=SIGKILL"};
    command.argv.insert(command.argv.begin(), user.begin(), user.end());
    return command;
}

void PostgresServer::create_database(const std::string& name) const {
    query("postgres", "CREATE DATABASE " + name);
}

std::string PostgresServer::url(const std::string& database, const std::string& user) const {
    return "postgres://" + user + "@127.0.0.1:" + std::to_string(port_) + "/" + database;
}

std::vector<PostgresRow> PostgresServer::query(const std::string& database, const std::string& sql) const {
    const Connection connection = connect(url(database), password_);
    const std::unique_ptr<PGresult, CloseResult> result(PQexec(connection.get(), sql.c_str()));
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        throw std::runtime_error(std::string(PQerrorMessage(connection.get())) + ": " + sql.substr(0, 300));
    std::vector<PostgresRow> rows;
    for (int i = 0; i < PQntuples(result.get()); ++i) {
        PostgresRow& row = rows.emplace_back();
        for (int column = 0; column < PQnfields(result.get()); ++column)
            row.push_back(PQgetisnull(result.get(), i, column) != 0
                              ? std::nullopt
                              : std::optional<std::string>(PQgetvalue(result.get(), i, column)));
    }
    return rows;
}

std::string PostgresServer::value(const std::string& database, const std::string& sql) const {
    const auto rows = query(database, sql);
    if (rows.size() != 1 || rows[0].size() != 1 || !rows[0][0])
        throw std::runtime_error("not one value: " + sql);
    return *rows[0][0];
}

void PostgresServer::stop() {
    process_->signal(SIGINT);
    if (!process_->wait(patience)) throw std::runtime_error("PostgreSQL goes on: " + process_->err());
}

void PostgresServer::start_again() {
    process_ = std::make_unique<Process>(as_its_user(
        {programs + "postgres", "-D", (folder_.path() / "data").string(), "-p", std::to_string(port_), "-c",
         "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off"}));
    eventually("PostgreSQL answers", [&] {
        if (!process_->running()) throw std::runtime_error("PostgreSQL ended: " + process_->err());
        return PQstatus(connect(url("postgres"), password_).get()) == CONNECTION_OK;
    });
}

}  // namespace epilogue::testing
