#include "worker/mysql/imported_rows.h"

#include <algorithm>
#include <bit>
#include <set>

#include "worker/mysql/chunks.h"
#include "worker/mysql/columns.h"

namespace epilogue {
namespace {

constexpr std::size_t statement_bytes = std::size_t{4} << 20U;  ///< far below max_allowed_packet's 16 MiB

/// How many of the rows from `first` on go into one statement: a power of two, as in in_chunks().
std::size_t rows_in_statement(const std::vector<const NewImport*>& rows, std::size_t first) {
    std::size_t bytes = 0;
    std::size_t count = 0;
    while (first + count < rows.size() && count < rows_per_statement) {
        bytes += rows[first + count]->processor_json.size();
        if (count > 0 && bytes > statement_bytes) break;
        ++count;
    }
    return std::bit_floor(count);
}

}  // namespace

Result<std::vector<ImportedRow>> MysqlImportedRows::find(const UpstreamTable& table,
                                                         const std::vector<std::string>& row_ids) {
    std::vector<ImportedRow> found;
    TRY_VOID(in_id_chunks(row_ids, [&](const std::vector<SqlValue>& ids) -> Result<void> {
        std::vector<SqlValue> values{table.source, table.generation};
        values.insert(values.end(), ids.begin(), ids.end());
        TRY(const auto rows,
            session_.query("SELECT row_id, conversation_id, version, digest, status, told, callback_id FROM "
                           "imported_rows WHERE source=? AND generation=? AND row_id IN " +
                               placeholders(ids.size()),
                           values));
        for (const SqlRow& row : rows) {
            Columns columns(row);
            ImportedRow imported;
            imported.row_id = columns.text();
            imported.conversation_id = columns.id<ConversationId>();
            imported.version = columns.text();
            imported.digest = columns.text();
            imported.status = columns.text();
            imported.told = columns.text();
            imported.callback_id = {columns.number()};
            found.push_back(std::move(imported));
        }
        return {};
    }));
    return found;
}

Result<std::vector<std::string>> MysqlImportedRows::present(const UpstreamTable& table,
                                                            const std::string& after, std::size_t limit) {
    TRY(const auto rows,
        session_.query("SELECT row_id FROM imported_rows WHERE source=? AND generation=? AND row_id>? AND "
                       "status<>? ORDER BY row_id LIMIT " +
                           std::to_string(limit),
                       {table.source, table.generation, after, std::string(status_of_gone)}));
    std::vector<std::string> ids;
    for (const SqlRow& row : rows) ids.push_back(Columns(row).text());
    return ids;
}

Result<std::size_t> MysqlImportedRows::insert(const UpstreamTable& table,
                                              const std::vector<NewImport>& rows) {
    // What another import has taken over, or is about to, stays its own.
    TRY_VOID(in_chunks(rows.size(), [&](std::size_t first, std::size_t count) -> Result<void> {
        std::vector<SqlValue> values;
        for (std::size_t i = first; i < first + count; ++i) {
            const ImportedRow& row = rows[i].row;
            values.insert(values.end(), {table.source, table.generation, row.row_id, row.conversation_id,
                                         row.version, row.digest, row.status, sql_value_or_null(row.told)});
        }
        TRY_VOID(
            session_.execute("INSERT INTO imported_rows (source, generation, row_id, conversation_id, "
                             "version, digest, status, told, imported_at) VALUES " +
                                 repeated("(?,?,?,?,?,?,?,?,UTC_TIMESTAMP(6))", count) +
                                 " ON DUPLICATE KEY UPDATE row_id=VALUES(row_id)",
                             values));
        return {};
    }));
    std::vector<std::string> ids;
    for (const NewImport& row : rows) ids.push_back(row.row.row_id);
    TRY(const auto present, find(table, ids));
    std::set<std::string> fresh;
    for (const ImportedRow& row : present)
        if (row.callback_id.value == 0) fresh.insert(row.row_id);
    std::vector<const NewImport*> taken;
    for (const NewImport& row : rows)
        if (fresh.contains(row.row.row_id)) taken.push_back(&row);
    TRY_VOID(insert_callbacks(table, taken));
    return taken.size();
}

Result<void> MysqlImportedRows::insert_callbacks(const UpstreamTable& table,
                                                 const std::vector<const NewImport*>& rows) {
    for (std::size_t first = 0; first < rows.size();) {
        const std::size_t count = rows_in_statement(rows, first);
        std::vector<SqlValue> values;
        for (std::size_t i = first; i < first + count; ++i) {
            const NewImport& row = *rows[i];
            values.insert(values.end(), {row.row.conversation_id, row.processor_type, row.processor_json,
                                         sql_value(row.created_at)});
        }
        TRY_VOID(
            session_.execute("INSERT INTO conversation_callbacks (conversation_id, processor_type, "
                             "processor_json, created_at, updated_at) VALUES " +
                                 repeated("(?,?,?,?,UTC_TIMESTAMP(6))", count),
                             values));
        // The server gives the rows of one INSERT … VALUES ids in a row, and says the first.
        TRY(const auto numbers, session_.query("SELECT LAST_INSERT_ID(), @@auto_increment_increment"));
        Columns columns(numbers.at(0));
        const std::int64_t first_id = columns.number();
        const std::int64_t step = columns.number();
        std::vector<SqlValue> pairs;
        for (std::size_t i = 0; i < count; ++i)
            pairs.insert(pairs.end(), {table.source, table.generation, rows[first + i]->row.row_id,
                                       first_id + static_cast<std::int64_t>(i) * step});
        TRY_VOID(
            session_.execute("INSERT INTO imported_rows (source, generation, row_id, callback_id, "
                             "conversation_id, version, digest, status, imported_at) VALUES " +
                                 repeated("(?,?,?,?,'','','','',UTC_TIMESTAMP(6))", count) +
                                 " ON DUPLICATE KEY UPDATE callback_id=VALUES(callback_id)",
                             pairs));
        first += count;
    }
    return {};
}

Result<void> MysqlImportedRows::update(const UpstreamTable& table, const ImportedRow& row) {
    TRY_VOID(
        session_.execute("UPDATE imported_rows SET version=?, digest=?, status=?, told=?, "
                         "changed_at=UTC_TIMESTAMP(6) WHERE source=? AND generation=? AND row_id=?",
                         {row.version, row.digest, row.status, sql_value_or_null(row.told), table.source,
                          table.generation, row.row_id}));
    return {};
}

Result<bool> MysqlImportedRows::lock_active(CallbackId id) {
    TRY(const auto rows,
        session_.query("SELECT status FROM conversation_callbacks WHERE id=? FOR UPDATE", {id.value}));
    return !rows.empty() && rows[0].at(0) == "ACTIVE";
}

Result<void> MysqlImportedRows::replace_processor(CallbackId id, const std::string& processor_json) {
    TRY_VOID(
        session_.execute("UPDATE conversation_callbacks SET processor_json=?, "
                         "updated_at=UTC_TIMESTAMP(6) WHERE id=? AND processor_json<>?",
                         {processor_json, id.value, processor_json}));
    return {};
}

Result<void> MysqlImportedRows::complete_unadopted(CallbackId id) {
    TRY_VOID(
        session_.execute("UPDATE conversation_callbacks SET status='COMPLETED', "
                         "updated_at=UTC_TIMESTAMP(6) WHERE id=? AND status='ACTIVE'",
                         {id.value}));
    return {};
}

}  // namespace epilogue
