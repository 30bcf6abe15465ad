#include "ops/importer/upstream_database.h"

#include <map>
#include <utility>

namespace epilogue {
namespace {

/// What differs between the tables.
struct TableForm {
    std::string table;
    std::string id_type;
    std::string type_column;
    std::string json_column;
};

const TableForm& form_of(UpstreamGeneration generation) {
    static const TableForm v0{"conversation_callbacks", "bigint", "processor_type", "processor_json"};
    static const TableForm v1{"event_callback", "uuid", "''", "processor"};
    return generation == UpstreamGeneration::v0 ? v0 : v1;
}

/// PostgreSQL's array of ids, none of which needs quotes.
std::string array_of(const std::vector<std::string>& ids) {
    std::string array = "{";
    for (const std::string& id : ids) (array += array.size() == 1 ? "" : ",") += id;
    return array + "}";
}

}  // namespace

Result<UpstreamDatabase> UpstreamDatabase::open(const PostgresAddress& address) {
    TRY(auto session, PostgresSession::open(address));
    UpstreamDatabase database(std::move(session));
    TRY(const auto present,
        database.session_->query("SELECT to_regclass('conversation_callbacks') IS NOT NULL, "
                                 "to_regclass('event_callback') IS NOT NULL, "
                                 "to_regclass('event_callback_result') IS NOT NULL"));
    const PostgresRow& row = present.at(0);
    if (row.at(0) == "t") database.generations_.push_back(UpstreamGeneration::v0);
    if (row.at(1) == "t") database.generations_.push_back(UpstreamGeneration::v1);
    database.has_results_ = row.at(2) == "t";
    if (database.generations_.empty())
        return fatal("it has neither conversation_callbacks nor event_callback: is it OpenHands' database?");
    return database;
}

Result<void> UpstreamDatabase::begin() {
    TRY_VOID(session_->query("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"));
    return {};
}

Result<void> UpstreamDatabase::end() {
    TRY_VOID(session_->query("ROLLBACK"));
    return {};
}

Result<std::int64_t> UpstreamDatabase::count(UpstreamGeneration generation) {
    TRY(const auto rows, session_->query("SELECT count(*) FROM " + form_of(generation).table));
    return std::stoll(rows.at(0).at(0).value_or("0"));
}

Result<std::vector<ListedRow>> UpstreamDatabase::list(UpstreamGeneration generation, const std::string& after,
                                                      std::size_t limit) {
    const TableForm& form = form_of(generation);
    // By the column of the table: that of the answer has the same name, and is a text.
    TRY(auto rows, session_->query("SELECT id::text, status::text, xmin::text FROM " + form.table +
                                       " t WHERE $1::text = '' OR id > NULLIF($1::text, '')::" +
                                       form.id_type + " ORDER BY t.id LIMIT $2::bigint",
                                   {after, std::to_string(limit)}));
    std::vector<ListedRow> listed;
    for (PostgresRow& row : rows)
        listed.push_back({row.at(0).value_or(""), row.at(1).value_or(""), row.at(2).value_or("")});
    return listed;
}

Result<std::vector<UpstreamRow>> UpstreamDatabase::read(UpstreamGeneration generation,
                                                        const std::vector<std::string>& ids) {
    const TableForm& form = form_of(generation);
    const std::string json = form.json_column + "::text";
    const std::string wanted = array_of(ids);
    // A time without zone is UTC's, and the session's zone is UTC.
    TRY(auto rows,
        session_->query("SELECT id::text, conversation_id::text, status::text, " + form.type_column +
                            ", CASE WHEN octet_length(" + json +
                            ") <= " + std::to_string(max_processor_bytes) + " THEN " + json +
                            " END, to_char(created_at::timestamptz AT TIME ZONE 'UTC', "
                            "'YYYY-MM-DD HH24:MI:SS.US'), xmin::text FROM " +
                            form.table + " t WHERE id = ANY($1::" + form.id_type + "[]) ORDER BY t.id",
                        {wanted}));
    std::vector<UpstreamRow> read;
    for (PostgresRow& row : rows) {
        UpstreamRow upstream;
        upstream.id = row.at(0).value_or("");
        upstream.conversation_id = std::move(row.at(1));
        upstream.status = row.at(2).value_or("");
        upstream.processor_type = row.at(3).value_or("");
        upstream.processor = std::move(row.at(4));
        if (row.at(5)) upstream.created_at = parse_instant(*row.at(5));
        // No time that a program would write, and none that MySQL takes.
        if (upstream.created_at < Instant{}) upstream.created_at.reset();
        upstream.version = row.at(6).value_or("");
        read.push_back(std::move(upstream));
    }
    if (generation == UpstreamGeneration::v1 && has_results_) TRY_VOID(add_posted_events(read, wanted));
    return read;
}

Result<void> UpstreamDatabase::add_posted_events(std::vector<UpstreamRow>& rows, const std::string& ids) {
    TRY(auto posts,
        session_->query("SELECT DISTINCT ON (event_callback_id) event_callback_id::text, event_id FROM "
                        "event_callback_result WHERE event_callback_id = ANY($1::uuid[]) AND "
                        "status::text = 'SUCCESS' ORDER BY event_callback_id, created_at DESC",
                        {ids}));
    std::map<std::string, std::string> posted;
    for (PostgresRow& post : posts) posted.emplace(post.at(0).value_or(""), post.at(1).value_or(""));
    for (UpstreamRow& row : rows)
        if (const auto found = posted.find(row.id); found != posted.end()) row.posted_event = found->second;
    return {};
}

}  // namespace epilogue
