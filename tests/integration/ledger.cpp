#include "tests/integration/ledger.h"

#include <nlohmann/json.hpp>

namespace epilogue::testing {
namespace {

std::string text_of(const Row& row, std::size_t column) {
    return row.at(column).value_or("");
}

std::size_t count(const Database& server, const std::string& database, const std::string& table) {
    return std::stoul(text_of(server.query("SELECT COUNT(*) FROM " + table, database).at(0), 0));
}

}  // namespace

Ledger read_ledger(const Database& server, const std::string& database) {
    Ledger ledger;
    for (const Row& row : server.query("SELECT id, status FROM conversation_callbacks", database))
        ledger.callbacks[std::stoll(text_of(row, 0))].status = text_of(row, 1);
    const auto deliveries = server.query(
        "SELECT d.callback_id, d.turn_key, d.verdict, d.state, d.body, s.body FROM deliveries d "
        "LEFT JOIN summaries s ON s.conversation_id=d.conversation_id AND s.turn_key=d.turn_key "
        "ORDER BY d.ordinal",
        database);
    for (const Row& row : deliveries) {
        const auto summary = nlohmann::json::parse(row.at(5).value_or("{}"));
        ledger.callbacks[std::stoll(text_of(row, 0))].deliveries.push_back(
            {text_of(row, 1), text_of(row, 2), text_of(row, 3), text_of(row, 4),
             summary.value("headline", ""), summary.value("words", "")});
    }
    for (const Row& row :
         server.query("SELECT conversation_id, turn_key, verdict FROM conversations", database))
        ledger.conversations[text_of(row, 0)] = {text_of(row, 1), text_of(row, 2)};
    ledger.summaries = count(server, database, "summaries");
    ledger.dead_letters = count(server, database, "dead_letters");
    return ledger;
}

std::vector<std::string> posted_lines(const Database& server, const std::string& database) {
    std::vector<std::string> lines;
    // Of deliveries not who looked last for a duplicate, and until when.
    for (const char* sql : {"SELECT delivery_id, callback_id, turn_key, conversation_id, sink, target, "
                            "verdict, state, attempt, body, "
                            "body_sha256, remote_id, remote_url, intent_at, sent_at, created_at, "
                            "source_partition, source_offset "
                            "FROM deliveries ORDER BY ordinal",
                            "SELECT * FROM summaries ORDER BY conversation_id, turn_key",
                            "SELECT * FROM conversation_callbacks ORDER BY id"})
        for (const Row& row : server.query(sql, database)) {
            std::string& line = lines.emplace_back();
            for (const auto& column : row) line += column.value_or("NULL") + " | ";
        }
    return lines;
}

PartitionOffsets stored_positions(const Database& server, const std::string& database,
                                  const std::string& topic) {
    PartitionOffsets positions;
    const auto rows = server.query(
        "SELECT partition_id, next_offset FROM partition_progress WHERE topic='" + topic + "'", database);
    for (const Row& row : rows) positions[std::stoi(text_of(row, 0))] = std::stoll(text_of(row, 1));
    return positions;
}

bool is_settled(const Database& server, const std::string& database, const std::string& topic,
                const PartitionOffsets& ends) {
    // In one statement: what is applied, and a timer that fires, becomes a delivery in one transaction.
    const auto rows = server.query(
        "SELECT partition_id, next_offset, "
        "(SELECT COUNT(*) FROM conversations WHERE due_at < UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE), "
        "(SELECT COUNT(*) FROM deliveries WHERE state NOT IN ('SENT', 'FAILED', 'PARKED')) "
        "FROM partition_progress WHERE topic='" +
            topic + "'",
        database);
    PartitionOffsets positions;
    for (const Row& row : rows) {
        if (text_of(row, 2) != "0" || text_of(row, 3) != "0") return false;
        positions[std::stoi(text_of(row, 0))] = std::stoll(text_of(row, 1));
    }
    return positions == ends;
}

}  // namespace epilogue::testing
