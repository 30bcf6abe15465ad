// One PostgreSQL session over libpq that only reads. It is one attempt: it never reconnects by itself.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/secret.h"

namespace epilogue {

/// Where a PostgreSQL database is, and as whom to connect.
struct PostgresAddress {
    std::string url;  ///< postgres://user@host:port/database?sslmode=…, without a password
    Secret password;  ///< empty: none, or what libpq's own files and variables say

    /// Reads a URL as people write it; a password in it is taken out of it. Fatal when libpq could not use
    /// it; the text says what is wrong and never shows the password.
    static Result<PostgresAddress> parse(const std::string& url);
};

/// One row of a result; every value as text, NULL as nullopt.
using PostgresRow = std::vector<std::optional<std::string>>;

/// Not thread-safe: one thread at a time. Errors are Remedy::retry; their text is one line of PostgreSQL's
/// own words.
class PostgresSession {
  public:
    /// Connects, and has the server refuse every statement of the session that would write. Each of the
    /// addresses that the URL's host names is tried for four seconds, unless the URL has a `connect_timeout`.
    static Result<std::unique_ptr<PostgresSession>> open(const PostgresAddress& address);
    ~PostgresSession();
    PostgresSession(const PostgresSession&) = delete;
    PostgresSession& operator=(const PostgresSession&) = delete;

    /// Runs one statement with $1, $2, … as texts, and waits for its answer for a minute at most.
    Result<std::vector<PostgresRow>> query(const std::string& sql,
                                           const std::vector<std::string>& values = {});

    /// True once the server went away or did not answer in time: throw the session away.
    bool is_broken() const { return broken_; }

  private:
    struct Driver;
    explicit PostgresSession(std::unique_ptr<Driver> driver);
    Failure failed(const std::string& text);

    std::unique_ptr<Driver> driver_;
    bool broken_ = false;
};

}  // namespace epilogue
