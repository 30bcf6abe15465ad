#include "ops/importer/importer.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace epilogue {
namespace {

constexpr std::size_t rows_in_page = 2048;  ///< listed at once: three short columns
constexpr std::size_t rows_in_chunk = 256;  ///< read at once, and taken over in one transaction

/// When all of so many are gone, it is no deletion.
constexpr std::size_t many_rows = 10;

constexpr std::size_t max_status_bytes = 16;  ///< imported_rows.status

using KnownRows = std::map<std::string, ImportedRow>;

ImportedRow remembered(const UpstreamRow& row, const std::string& digest) {
    ImportedRow imported;
    imported.row_id = row.id;
    imported.version = row.version;
    imported.digest = digest;
    imported.status = prefix_of(row.status, max_status_bytes);
    return imported;
}

void count(LeftOut why, ImportReport& report) {
    switch (why) {
        case LeftOut::not_active:
            ++report.not_active;
            return;
        case LeftOut::posted_already:
            ++report.posted_already;
            return;
        case LeftOut::tells_nobody:
            ++report.tells_nobody;
            return;
    }
}

}  // namespace

/// Rows that are read together.
struct Importer::Chunk {
    UpstreamGeneration generation = UpstreamGeneration::v0;
    std::vector<std::string> ids;
    const KnownRows& known;
    std::vector<NewImport> fresh = {};
    std::vector<ImportedRow> rewritten = {};  ///< changed in nothing that is read of them
    struct Change {
        ImportedRow row;
        Reading reading;
    };
    std::vector<Change> changes = {};
};

Result<void> Importer::write(const Store::Work& work) {
    return dry_run_ ? store_.read_only(work) : store_.transact_idempotent(work);
}

UpstreamTable Importer::table_of(UpstreamGeneration generation) const {
    return {source_, std::string(name_of(generation))};
}

Result<ImportReport> Importer::pass(UpstreamDatabase& upstream, const std::stop_token& stop,
                                    const std::function<void(const ImportProgress&)>& on_progress) {
    ImportReport report;
    ImportProgress progress;
    TRY_VOID(upstream.begin());
    for (const UpstreamGeneration generation : upstream.generations()) {
        TRY(const std::int64_t rows, upstream.count(generation));
        progress.rows += rows;
    }
    for (const UpstreamGeneration generation : upstream.generations()) {
        std::string after;
        std::unordered_set<std::string> listed;
        while (!stop.stop_requested()) {
            TRY(const auto page, upstream.list(generation, after, rows_in_page));
            if (page.empty()) break;
            TRY_VOID(take_page(upstream, generation, page, report));
            for (const ListedRow& row : page) listed.insert(row.id);
            after = page.back().id;
            progress.done = report.rows;
            on_progress(progress);
        }
        if (!stop.stop_requested()) TRY_VOID(follow_deletions(generation, listed, report));
    }
    TRY_VOID(upstream.end());
    return report;
}

Result<void> Importer::take_page(UpstreamDatabase& upstream, UpstreamGeneration generation,
                                 const std::vector<ListedRow>& page, ImportReport& report) {
    std::vector<std::string> ids;
    for (const ListedRow& row : page) ids.push_back(row.id);
    KnownRows known;
    TRY_VOID(store_.read_only([&](Transaction& transaction) -> Result<void> {
        TRY(auto found, transaction.imports().find(table_of(generation), ids));
        known.clear();
        for (ImportedRow& row : found) known.emplace(row.row_id, std::move(row));
        return {};
    }));
    std::vector<std::string> wanted;
    for (const ListedRow& row : page) {
        ++report.rows;
        const auto imported = known.find(row.id);
        const auto passed = passed_over_.find({generation, row.id});
        if (imported != known.end() && imported->second.version == row.version)
            ++report.unchanged;
        else if (passed != passed_over_.end() && passed->second == row.version)
            ++report.passed_before;
        else if (imported == known.end() && row.status != "ACTIVE")
            ++report.not_active;
        else
            wanted.push_back(row.id);
    }
    for (std::size_t first = 0; first < wanted.size(); first += rows_in_chunk) {
        const auto begin = wanted.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end =
            wanted.begin() + static_cast<std::ptrdiff_t>(std::min(first + rows_in_chunk, wanted.size()));
        Chunk chunk{generation, {begin, end}, known};
        TRY_VOID(take_chunk(upstream, chunk, report));
    }
    return {};
}

Result<void> Importer::follow_deletions(UpstreamGeneration generation,
                                        const std::unordered_set<std::string>& listed, ImportReport& report) {
    const UpstreamTable table = table_of(generation);
    std::vector<std::string> gone;
    std::size_t known = 0;
    for (std::string after;;) {
        std::vector<std::string> ids;
        TRY_VOID(store_.read_only([&](Transaction& transaction) -> Result<void> {
            TRY(ids, transaction.imports().present(table, after, rows_in_page));
            return {};
        }));
        if (ids.empty()) break;
        known += ids.size();
        after = ids.back();
        std::ranges::copy_if(ids, std::back_inserter(gone),
                             [&](const auto& id) { return !listed.contains(id); });
    }
    if (gone.size() == known && known >= many_rows)
        return fatal("none of the " + std::to_string(known) + " " + std::string(name_of(generation)) +
                     " rows that were imported is there any more. Is it another database than before? Then "
                     "give it a name of its own: --source NAME");
    std::vector<ImportedRow> rows;
    TRY_VOID(store_.read_only([&](Transaction& transaction) -> Result<void> {
        TRY(rows, transaction.imports().find(table, gone));
        return {};
    }));
    for (ImportedRow& row : rows) {
        row.status = status_of_gone;
        ChangeOutcome outcome = ChangeOutcome::kept;
        TRY_VOID(write([&](Transaction& transaction) -> Result<void> {
            TRY(outcome, follow_change(transaction, table, row, LeftOut::not_active));
            return {};
        }));
        report.changed.push_back({generation, row.row_id, row.callback_id, outcome});
    }
    return {};
}

Result<void> Importer::take_chunk(UpstreamDatabase& upstream, Chunk& chunk, ImportReport& report) {
    TRY(const auto rows, upstream.read(chunk.generation, chunk.ids));
    for (const UpstreamRow& row : rows) TRY_VOID(take_row(chunk, row, report));
    const UpstreamTable table = table_of(chunk.generation);
    if (!chunk.fresh.empty() || !chunk.rewritten.empty()) {
        std::size_t added = 0;
        TRY_VOID(write([&](Transaction& transaction) -> Result<void> {
            TRY(added, transaction.imports().insert(table, chunk.fresh));
            for (const ImportedRow& row : chunk.rewritten) TRY_VOID(transaction.imports().update(table, row));
            return {};
        }));
        report.imported += static_cast<std::int64_t>(added);
        report.unchanged += static_cast<std::int64_t>(chunk.fresh.size() - added);
    }
    for (const Chunk::Change& change : chunk.changes) {
        ChangeOutcome outcome = ChangeOutcome::kept;
        TRY_VOID(write([&](Transaction& transaction) -> Result<void> {
            TRY(outcome, follow_change(transaction, table, change.row, change.reading));
            return {};
        }));
        report.changed.push_back({chunk.generation, change.row.row_id, change.row.callback_id, outcome});
    }
    return {};
}

/// Sorts a row into its chunk or the report.
Result<void> Importer::take_row(Chunk& chunk, const UpstreamRow& row, ImportReport& report) {
    const auto imported = chunk.known.find(row.id);
    const bool is_known = imported != chunk.known.end();
    ImportedRow now = remembered(row, digest_of(row));
    if (is_known) {
        const ImportedRow& before = imported->second;
        now.conversation_id = before.conversation_id;
        now.told = before.told;
        now.callback_id = before.callback_id;
        if (normalise_conversation_id(row.conversation_id.value_or("")) != before.conversation_id)
            return fatal(std::string(name_of(chunk.generation)) + " " + row.id +
                         " was imported as a row of conversation " + before.conversation_id +
                         ", and is of another one now. Is it another database than before? Then give it a "
                         "name of its own: --source NAME");
        if (now.digest == before.digest) {
            chunk.rewritten.push_back(std::move(now));
            ++report.unchanged;
            return {};
        }
    }
    Reading reading = read_row(chunk.generation, row);
    if (const auto* fault = std::get_if<Unreadable>(&reading)) {
        report.unreadable.push_back(
            {chunk.generation, row.id, row.conversation_id.value_or("-"), fault->reason});
        passed_over_[{chunk.generation, row.id}] = row.version;
        return {};
    }
    const auto* taken = std::get_if<TakenOver>(&reading);
    if (taken != nullptr) now.told = taken->told;
    if (taken != nullptr && taken->key_left_out) ++report.keys_left_out[*taken->key_left_out];
    if (is_known) {
        chunk.changes.push_back({std::move(now), std::move(reading)});
    } else if (taken != nullptr) {
        now.conversation_id = taken->conversation_id;
        chunk.fresh.push_back({std::move(now), taken->processor_type, taken->processor_json, row.created_at});
    } else {
        count(std::get<LeftOut>(reading), report);
        passed_over_[{chunk.generation, row.id}] = row.version;
    }
    return {};
}

}  // namespace epilogue
