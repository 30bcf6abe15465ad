// One pass over the rows of OpenHands' own database: what is new becomes callbacks of ours, what was changed
// is followed, what cannot be read is listed (contract §4 "Import").
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ops/importer/import_report.h"
#include "ops/importer/upstream_database.h"
#include "worker/store/imported_rows.h"
#include "worker/store/store.h"

namespace epilogue {

/// How far a pass is.
struct ImportProgress {
    std::int64_t done = 0;
    std::int64_t rows = 0;  ///< of all tables
};

/// Used by one thread.
class Importer {
  public:
    /// `source` is the operator's name of the database: its rows are recognised by it. With `dry_run` every
    /// transaction is undone.
    Importer(Store& store, std::string source, bool dry_run)
        : store_(store), source_(std::move(source)), dry_run_(dry_run) {}

    /// Takes over what is new and follows what was changed. Later passes say nothing again of rows that the
    /// first one left or could not read, unless they were changed. Calls `on_progress` after each page, and
    /// ends early, with what it has, when `stop` is requested. Errors: the databases', and fatal when a row
    /// of another database has been taken over as `source`; what is done by then is durable.
    Result<ImportReport> pass(UpstreamDatabase& upstream, const std::stop_token& stop,
                              const std::function<void(const ImportProgress&)>& on_progress);

  private:
    struct Chunk;
    Result<void> take_page(UpstreamDatabase& upstream, UpstreamGeneration generation,
                           const std::vector<ListedRow>& page, ImportReport& report);
    /// Cancels what became of rows that are there no more. `listed`: those that are.
    Result<void> follow_deletions(UpstreamGeneration generation,
                                  const std::unordered_set<std::string>& listed, ImportReport& report);
    Result<void> take_chunk(UpstreamDatabase& upstream, Chunk& chunk, ImportReport& report);
    Result<void> take_row(Chunk& chunk, const UpstreamRow& row, ImportReport& report);
    Result<void> write(const Store::Work& work);
    UpstreamTable table_of(UpstreamGeneration generation) const;

    Store& store_;
    const std::string source_;
    const bool dry_run_;
    /// Versions of ACTIVE rows that were left or could not be read: they are not read again.
    std::map<std::pair<UpstreamGeneration, std::string>, std::string> passed_over_;
};

}  // namespace epilogue
