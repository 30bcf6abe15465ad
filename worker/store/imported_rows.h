// Rows of imported_rows: which row of OpenHands' own database became which callback of ours.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/instant.h"
#include "base/result.h"

namespace epilogue {

/// One of OpenHands' tables, in a database that the operator has given a name.
struct UpstreamTable {
    std::string source;
    std::string generation;  ///< "v0" or "v1"
};

/// ImportedRow::status of a row that is there no more.
constexpr const char* status_of_gone = "DELETED";

/// What is remembered of a row that was taken over.
struct ImportedRow {
    std::string row_id;
    ConversationId conversation_id;
    std::string version;  ///< as OpenHands' database numbers the row's changes
    std::string digest;   ///< SHA-256 of what is read of it
    std::string status;   ///< there
    std::string told;     ///< CallbackOptions::told
    CallbackId callback_id;
};

/// A row that is to be taken over, and the callback that it becomes.
struct NewImport {
    ImportedRow row;  ///< without a callback_id
    std::string processor_type;
    std::string processor_json;
    std::optional<Instant> created_at;
};

/// Not thread-safe; valid as long as its transaction.
class ImportedRows {
  public:
    ImportedRows() = default;
    ImportedRows(const ImportedRows&) = delete;
    ImportedRows& operator=(const ImportedRows&) = delete;
    virtual ~ImportedRows() = default;

    /// Those of these rows that were taken over, in no order.
    virtual Result<std::vector<ImportedRow>> find(const UpstreamTable& table,
                                                  const std::vector<std::string>& row_ids) = 0;
    /// Ids of rows that were taken over and are not known to be gone, behind `after` ("": from the first on),
    /// in their order, at most `limit`.
    virtual Result<std::vector<std::string>> present(const UpstreamTable& table, const std::string& after,
                                                     std::size_t limit) = 0;
    /// Takes over the rows that were not, each as an ACTIVE callback that is still to be adopted; returns
    /// how many. Waits for a transaction that takes over one of them.
    virtual Result<std::size_t> insert(const UpstreamTable& table, const std::vector<NewImport>& rows) = 0;
    /// Writes what is remembered of a row that was taken over.
    virtual Result<void> update(const UpstreamTable& table, const ImportedRow& row) = 0;

    /// Whether the callback that a row became is ACTIVE; locks its row of conversation_callbacks, so that
    /// no worker adopts it meanwhile.
    virtual Result<bool> lock_active(CallbackId id) = 0;
    /// Gives it another processor_json.
    virtual Result<void> replace_processor(CallbackId id, const std::string& processor_json) = 0;
    /// Completes one that is not adopted yet: no worker will adopt it.
    virtual Result<void> complete_unadopted(CallbackId id) = 0;
};

}  // namespace epilogue
