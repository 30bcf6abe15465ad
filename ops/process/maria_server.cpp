#include "ops/process/maria_server.h"

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

/// The options that both programs need. A starting server removes what looks like its own left-overs from the
/// folder for temporary files: two that share it take each other's.
std::vector<std::string> server_command(const std::string& program, const std::filesystem::path& folder) {
    std::vector<std::string> command{program,
                                     "--no-defaults",
                                     "--datadir=" + (folder / "data").string(),
                                     "--tmpdir=" + folder.string(),
                                     "--innodb-log-file-size=32M",
                                     "--innodb-buffer-pool-size=64M"};
    if (::geteuid() == 0) command.emplace_back("--user=root");  // it refuses to run as root unless told to
    return command;
}

}  // namespace

const std::vector<std::string>& maria_programs() {
    static const std::vector<std::string> programs{"mariadbd", "mariadb-install-db"};
    return programs;
}

MariaServer::MariaServer(std::vector<std::string> options) : options_(std::move(options)) {
    install();
    start_again();
}

void MariaServer::install() const {
    auto command = server_command("mariadb-install-db", folder_.path());
    command.insert(command.end(), {"--auth-root-authentication-method=normal", "--skip-test-db"});
    const auto done = run({command}, install_deadline);
    if (done.status != 0) throw std::runtime_error("mariadb-install-db: " + done.out + done.err);
}

MysqlSettings MariaServer::administrator() const {
    MysqlSettings settings;
    settings.socket = folder_.path() / "s";
    settings.user = "root";
    settings.tls = "off";
    return settings;
}

void MariaServer::stop() {
    process_->stop(stop_deadline);
}

void MariaServer::kill9() {
    process_->kill9();
}

void MariaServer::start_again() {
    auto command = server_command("mariadbd", folder_.path());
    command.push_back("--socket=" + administrator().socket);
    command.insert(command.end(), options_.begin(), options_.end());
    process_.emplace(Command{command});
    const auto end = std::chrono::steady_clock::now() + start_deadline;
    while (!MysqlSession::open(administrator())) {
        if (process_->wait(ask_every)) throw std::runtime_error("MariaDB ended: " + process_->err());
        if (std::chrono::steady_clock::now() > end)
            throw std::runtime_error("MariaDB does not answer: " + process_->err());
    }
}

}  // namespace epilogue::process
