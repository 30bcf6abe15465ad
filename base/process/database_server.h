// A private database server as a child process.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/io/mysql.h"
#include "base/process/process.h"
#include "base/process/temp_dir.h"

namespace epilogue::process {

/// A server's programs, as they are called besides where its files are.
struct DatabaseProgram {
    std::string name;                  ///< for people
    std::vector<std::string> install;  ///< makes the data folder
    std::vector<std::string> serve;
};

/// Debian's MariaDB: mariadb-server-core and mariadb-client-core have its programs.
DatabaseProgram mariadb();
/// Those programs' names.
const std::vector<std::string>& maria_programs();

/// One server with its data in a temporary folder that goes away with the object; no file of the machine's
/// own server is read. Errors are std::runtime_error. Not thread-safe.
class DatabaseServer {
  public:
    /// Makes the data folder, starts the server and waits until it answers. `options` are added to its
    /// command line, e.g. where to listen besides the socket.
    DatabaseServer(DatabaseProgram program, std::vector<std::string> options);

    /// Where its administrator connects: a Unix socket in a folder that only this user can enter; user root,
    /// no password, no database chosen.
    MysqlSettings administrator() const;
    pid_t pid() const { return process_->pid(); }

    /// SIGTERM; returns when it has ended.
    void stop();
    /// SIGKILL; returns when it has ended.
    void kill9();
    /// After stop() or kill9(): starts it on the same data with the same options and waits until it answers.
    void start_again();

  private:
    void install() const;

    TempDir folder_;
    DatabaseProgram program_;
    std::vector<std::string> options_;
    std::optional<Process> process_;
};

}  // namespace epilogue::process
