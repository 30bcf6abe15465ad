// What a database server was asked, statement by statement, as its general log has it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/database.h"

namespace epilogue::testing {

/// One round trip. What is only prepared is none of them: a session prepares each statement once.
struct LoggedStatement {
    std::int64_t session = 0;
    std::string text;  ///< of a prepared statement with its values in their places
};

/// Logs what the programs under test ask, from its beginning to its end; the administrator's statements are
/// left out. One at a time for each server. Errors are std::runtime_error.
class StatementLog {
  public:
    /// `server` has to outlive it.
    explicit StatementLog(const Database& server);
    ~StatementLog();
    StatementLog(const StatementLog&) = delete;
    StatementLog& operator=(const StatementLog&) = delete;

    /// All until now, in their order.
    std::vector<LoggedStatement> statements() const;
    /// Whether these words, which have no quotes, stand in one of them.
    bool has(const std::string& words) const;

  private:
    const Database& server_;
};

}  // namespace epilogue::testing
