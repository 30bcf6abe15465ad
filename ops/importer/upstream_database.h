// OpenHands' own database, read only: the rows of its callback tables.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/io/postgres.h"
#include "base/result.h"
#include "ops/importer/upstream_row.h"

namespace epilogue {

/// As much of a row as says whether it has to be read.
struct ListedRow {
    std::string id;
    std::string status;
    std::string version;
};

/// Not thread-safe. Errors: PostgreSQL's (Remedy::retry).
class UpstreamDatabase {
  public:
    /// Connects and looks which of the tables are there. Fatal when none is: it is not OpenHands' database,
    /// or not its schema.
    static Result<UpstreamDatabase> open(const PostgresAddress& address);

    /// The generations whose table is there.
    const std::vector<UpstreamGeneration>& generations() const { return generations_; }

    /// All that is read until end() is of one moment.
    Result<void> begin();
    Result<void> end();

    Result<std::int64_t> count(UpstreamGeneration generation);
    /// The rows behind `after` ("": from the first on), in the order of their ids, at most `limit`.
    Result<std::vector<ListedRow>> list(UpstreamGeneration generation, const std::string& after,
                                        std::size_t limit);
    /// These rows, in the order of their ids.
    Result<std::vector<UpstreamRow>> read(UpstreamGeneration generation, const std::vector<std::string>& ids);

    /// True once the connection is gone.
    bool is_lost() const { return session_->is_broken(); }

  private:
    explicit UpstreamDatabase(std::unique_ptr<PostgresSession> session) : session_(std::move(session)) {}
    Result<void> add_posted_events(std::vector<UpstreamRow>& rows, const std::string& ids);

    std::unique_ptr<PostgresSession> session_;
    std::vector<UpstreamGeneration> generations_;
    bool has_results_ = false;  ///< event_callback_result is there
};

}  // namespace epilogue
