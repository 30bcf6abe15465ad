#include "base/process/database_server.h"

#include <chrono>
#include <stdexcept>

#include <unistd.h>

namespace epilogue::process {
namespace {

using namespace std::chrono_literals;

constexpr auto install_deadline = 120s;
constexpr auto start_deadline = 60s;
constexpr auto stop_deadline = 60s;
constexpr auto ask_every = 20ms;

/// A program with the options that all of them need, which come first. A starting server removes what looks
/// like its own left-overs from the folder for temporary files: two that share it take each other's.
std::vector<std::string> command_line(const std::vector<std::string>& program,
                                      const std::filesystem::path& folder) {
    std::vector<std::string> command{program.at(0),
                                     "--no-defaults",
                                     "--datadir=" + (folder / "data").string(),
                                     "--tmpdir=" + folder.string(),
                                     "--innodb-log-file-size=32M",
                                     "--innodb-buffer-pool-size=64M"};
    if (::geteuid() == 0) command.emplace_back("--user=root");  // it refuses to run as root unless told to
    command.insert(command.end(), program.begin() + 1, program.end());
    return command;
}

}  // namespace

const std::vector<std::string>& maria_programs() {
    static const std::vector<std::string> programs{"mariadbd", "mariadb-install-db"};
    return programs;
}

DatabaseProgram mariadb() {
    return {"MariaDB",
            {maria_programs()[1], "--auth-root-authentication-method=normal", "--skip-test-db"},
            {maria_programs()[0]}};
}

DatabaseServer::DatabaseServer(DatabaseProgram program, std::vector<std::string> options)
    : program_(std::move(program)), options_(std::move(options)) {
    install();
    start_again();
}

void DatabaseServer::install() const {
    const auto done = run({command_line(program_.install, folder_.path())}, install_deadline);
    if (done.status != 0) throw std::runtime_error(program_.install.at(0) + ": " + done.out + done.err);
}

MysqlSettings DatabaseServer::administrator() const {
    MysqlSettings settings;
    settings.socket = folder_.path() / "s";
    settings.user = "root";
    settings.tls = MysqlSettings::Tls::off;
    return settings;
}

void DatabaseServer::stop() {
    process_->stop(stop_deadline);
}

void DatabaseServer::kill9() {
    process_->kill9();
}

void DatabaseServer::start_again() {
    auto command = command_line(program_.serve, folder_.path());
    command.push_back("--socket=" + administrator().socket);
    command.insert(command.end(), options_.begin(), options_.end());
    process_.emplace(Command{command});
    const auto end = std::chrono::steady_clock::now() + start_deadline;
    while (!MysqlSession::open(administrator())) {
        if (process_->wait(ask_every)) throw std::runtime_error(program_.name + " ended: " + process_->err());
        if (std::chrono::steady_clock::now() > end)
            throw std::runtime_error(program_.name + " does not answer: " + process_->err());
    }
}

}  // namespace epilogue::process
