// What one pass over OpenHands' rows found and did.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ops/importer/changed_row.h"
#include "ops/importer/upstream_row.h"

namespace epilogue {

struct UnreadableRow {
    UpstreamGeneration generation = UpstreamGeneration::v0;
    std::string id;
    std::string conversation_id;
    std::string reason;
};

struct ChangedRow {
    UpstreamGeneration generation = UpstreamGeneration::v0;
    std::string id;
    CallbackId callback_id;
    ChangeOutcome outcome = ChangeOutcome::kept;
};

struct ImportReport {
    std::int64_t rows = 0;       ///< that were listed; the sum of all below, but for deleted ones
    std::int64_t imported = 0;   ///< callbacks that were made
    std::int64_t unchanged = 0;  ///< taken over before, and as they were
    std::int64_t not_active = 0;
    std::int64_t posted_already = 0;
    std::int64_t tells_nobody = 0;
    std::int64_t passed_before = 0;  ///< left or not readable, as an earlier pass of this process has said
    std::vector<ChangedRow> changed;
    std::vector<UnreadableRow> unreadable;
    std::map<std::string, std::int64_t> keys_left_out;  ///< rows that had an API key of Jira, by cloud's id

    /// Something that a person wants to hear of.
    bool has_news() const { return imported > 0 || !changed.empty() || !unreadable.empty(); }
};

/// One JSON document in one line.
std::string to_json(const ImportReport& report, const std::string& source, bool dry_run);
/// Lines for people, the last one with the counts.
std::string for_people(const ImportReport& report, bool dry_run);

}  // namespace epilogue
