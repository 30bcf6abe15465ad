#include "tests/support/statement_log.h"

#include <exception>

namespace epilogue::testing {
namespace {

std::string from_log(const Database& server) {
    return "FROM mysql.general_log WHERE command_type IN ('Execute','Query') AND user_host LIKE '" +
           server.user() + "[%'";
}

}  // namespace

StatementLog::StatementLog(const Database& server) : server_(server) {
    server.query("SET GLOBAL log_output='TABLE'");
    server.query("SET GLOBAL general_log=0");
    server.query("TRUNCATE TABLE mysql.general_log");
    server.query("SET GLOBAL general_log=1");
}

StatementLog::~StatementLog() {
    try {
        server_.query("SET GLOBAL general_log=0");
    } catch (const std::exception&) {
        return;  // the server is gone, and its log with it
    }
}

std::vector<LoggedStatement> StatementLog::statements() const {
    std::vector<LoggedStatement> statements;
    for (const Row& row :
         server_.query("SELECT thread_id, CONVERT(argument USING utf8mb4) " + from_log(server_)))
        statements.push_back({std::stoll(row.at(0).value()), row.at(1).value_or("")});
    return statements;
}

bool StatementLog::has(const std::string& words) const {
    return server_.number("SELECT COUNT(*) " + from_log(server_) + " AND LOCATE(\"" + words +
                          "\", argument)>0") > 0;
}

}  // namespace epilogue::testing
