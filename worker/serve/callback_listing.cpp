#include "worker/serve/callback_listing.h"

#include "base/ids.h"
#include "worker/mysql/columns.h"

namespace epilogue {
namespace {

constexpr const char* selected =
    "c.id, COALESCE(p.conversation_id, c.conversation_id), c.status, p.phase, c.processor_type, p.reason, "
    "p.turn_key, p.options, p.adopted_at, c.created_at, c.updated_at";
constexpr const char* tables =
    " FROM conversation_callbacks c LEFT JOIN callback_progress p ON p.callback_id=c.id ";

struct Condition {
    std::string where;
    std::vector<SqlValue> values;
};

Condition condition_of(const CallbackFilter& filter) {
    std::string where = "WHERE c.id>?";
    std::vector<SqlValue> values{filter.after.value};
    if (!filter.status.empty()) {
        where += " AND c.status=?";
        values.emplace_back(filter.status);
    }
    if (!filter.conversation.empty()) {
        where += " AND (p.conversation_id=? OR c.conversation_id=?)";
        values.insert(values.end(), {normalise_conversation_id(filter.conversation), filter.conversation});
    }
    if (filter.dormant) where += " AND p.phase='dormant'";
    return {std::move(where), std::move(values)};
}

}  // namespace

const std::vector<std::string>& callback_statuses() {
    static const std::vector<std::string> statuses{"ACTIVE", "COMPLETED", "ERROR"};
    return statuses;
}

const std::vector<Column>& callback_list_columns() {
    static const std::vector<Column> columns{{"id", Kind::number, Shown::whole},
                                             {"conversation_id", Kind::text, Shown::whole},
                                             {"status", Kind::text, Shown::whole},
                                             {"phase"},
                                             {"processor_type"},
                                             {"reason"},
                                             {"turn_key", Kind::text, Shown::not_in_tables},
                                             {"options", Kind::json},
                                             {"adopted_at", Kind::time, Shown::not_in_tables},
                                             {"created_at", Kind::time},
                                             {"updated_at", Kind::time, Shown::not_in_tables}};
    return columns;
}

const std::vector<Column>& callback_columns() {
    static const std::vector<Column> columns = [] {
        auto all = callback_list_columns();
        all.push_back({"processor_json", Kind::json});
        all.push_back({"agent_url"});
        all.push_back({"agent_key"});
        return all;
    }();
    return columns;
}

Result<std::vector<SqlRow>> list_callbacks(MysqlStore& store, const CallbackFilter& filter) {
    auto [where, values] = condition_of(filter);
    values.emplace_back(filter.limit);
    return store.query(std::string("SELECT ") + selected + tables + where + " ORDER BY c.id LIMIT ?", values);
}

Result<std::int64_t> count_callbacks(MysqlStore& store, const CallbackFilter& filter) {
    auto [where, values] = condition_of(filter);
    values.emplace_back(filter.limit);
    TRY(const auto rows, store.query(std::string("SELECT COUNT(*) FROM (SELECT c.id") + tables + where +
                                         " LIMIT ?) AS counted",
                                     values));
    return Columns(rows.at(0)).number();
}

Result<std::optional<SqlRow>> find_callback(MysqlStore& store, CallbackId id) {
    TRY(auto rows,
        store.query(std::string("SELECT ") + selected +
                        ", c.processor_json, e.url, IF(e.session_key_sealed IS NULL, NULL, 'sealed')" +
                        tables +
                        "LEFT JOIN agent_endpoints e ON e.conversation_id=COALESCE(p.conversation_id, "
                        "c.conversation_id) WHERE c.id=?",
                    {id.value}));
    if (rows.empty()) return std::optional<SqlRow>();
    return std::optional(std::move(rows[0]));
}

std::string no_callback(CallbackId id) {
    return "no callback " + std::to_string(id.value);
}

}  // namespace epilogue
