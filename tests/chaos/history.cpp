#include "tests/chaos/history.h"

#include <algorithm>
#include <functional>
#include <map>

#include <nlohmann/json.hpp>

#include "base/instant.h"
#include "tests/chaos/platform_log.h"

namespace epilogue::testing {
namespace {

constexpr std::array statements{
    "CREATE TABLE history_positions (n BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, partition_id INT, "
    "position_before BIGINT, position_after BIGINT, generation_before BIGINT, generation_after BIGINT, "
    "owner_before VARBINARY(255), owner_after VARBINARY(255)) ENGINE=InnoDB",
    "CREATE TABLE history_deliveries (n BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, at DATETIME(6), "
    "delivery_id VARBINARY(36), generation_before BIGINT, generation_after BIGINT, state_before VARCHAR(16), "
    "state_after VARCHAR(16), owner_before VARBINARY(255), owner_after VARBINARY(255), leased_before INT, "
    "attempts_before INT, attempts_after INT) ENGINE=InnoDB",
    "CREATE TABLE history_statuses (n BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, callback_id BIGINT, "
    "status_before VARCHAR(16), status_after VARCHAR(16), report_sent INT, cancelled INT) ENGINE=InnoDB",
    "CREATE TRIGGER keep_position AFTER UPDATE ON partition_progress FOR EACH ROW "
    "INSERT INTO history_positions VALUES (NULL, NEW.partition_id, OLD.next_offset, NEW.next_offset, "
    "OLD.generation, NEW.generation, OLD.owner, NEW.owner)",
    "CREATE TRIGGER keep_delivery AFTER UPDATE ON deliveries FOR EACH ROW "
    "INSERT INTO history_deliveries VALUES (NULL, UTC_TIMESTAMP(6), NEW.delivery_id, OLD.generation, "
    "NEW.generation, OLD.state, NEW.state, COALESCE(OLD.owner, ''), COALESCE(NEW.owner, ''), "
    "COALESCE(OLD.lease_until > UTC_TIMESTAMP(6), 0), OLD.attempt, NEW.attempt)",
    "CREATE TRIGGER keep_status AFTER UPDATE ON conversation_callbacks FOR EACH ROW "
    "INSERT INTO history_statuses VALUES (NULL, NEW.id, OLD.status, NEW.status, "
    "EXISTS (SELECT 1 FROM callback_progress p JOIN deliveries d ON d.callback_id=p.callback_id AND "
    "d.turn_key=p.turn_key WHERE p.callback_id=NEW.id AND d.state='SENT'), "
    "EXISTS (SELECT 1 FROM callback_progress p WHERE p.callback_id=NEW.id AND p.phase='cancelled'))"};

const std::string& text(const Row& row, std::size_t column) {
    return row.at(column).value();
}
std::int64_t number(const Row& row, std::size_t column) {
    return std::stoll(text(row, column));
}

PositionWrite position_write(const Row& row) {
    return {static_cast<int>(number(row, 0)),
            number(row, 1),
            number(row, 2),
            number(row, 3),
            number(row, 4),
            text(row, 5),
            text(row, 6)};
}

DeliveryWrite delivery_write(const Row& row) {
    return {text(row, 1),
            number(row, 2),
            number(row, 3),
            text(row, 4),
            text(row, 5),
            text(row, 6),
            text(row, 7),
            number(row, 8) != 0,
            static_cast<int>(number(row, 9)),
            static_cast<int>(number(row, 10))};
}

StatusWrite status_write(const Row& row) {
    return {number(row, 0), text(row, 1), text(row, 2), number(row, 3) != 0, number(row, 4) != 0};
}

/// A look-up that saw nothing of a delivery, as far as the platform's own log shows.
struct EmptyLook {
    Instant at;
    std::string delivery_id;
};

std::vector<EmptyLook> empty_looks(const nlohmann::json& platform_log, const std::vector<OwedPost>& owed) {
    std::map<std::string, std::vector<std::string>> deliveries_at;
    for (const OwedPost& post : owed) deliveries_at[post.place].push_back(post.delivery_id);
    const auto requests = requests_of(platform_log);
    std::map<std::string, Instant> seen_since;
    for (const PlatformRequest& request : requests)
        if (request.method == "POST" && request.applied)
            seen_since.try_emplace(request.delivery_id, request.at);
    std::vector<EmptyLook> looks;
    for (const PlatformRequest& request : requests) {
        if (request.method != "GET" || request.status != 200) continue;
        for (const std::string& id : deliveries_at[request.place]) {
            const auto seen = seen_since.find(id);
            if (seen == seen_since.end() || seen->second > request.at) looks.push_back({request.at, id});
        }
    }
    return looks;
}

}  // namespace

void keep_history(const Rig& rig) {
    for (const char* statement : statements) rig.query(statement);
}

HistoryCounts judge_history(const Rig& rig, const nlohmann::json& platform_log,
                            const std::vector<OwedPost>& owed, Oracle& oracle) {
    const auto positions = rig.query(
        "SELECT partition_id, position_before, position_after, generation_before, generation_after, "
        "owner_before, owner_after FROM history_positions ORDER BY n");
    for (const Row& row : positions) oracle.wrote(position_write(row));

    const auto statuses = rig.query(
        "SELECT callback_id, status_before, status_after, report_sent, cancelled FROM history_statuses "
        "ORDER BY n");
    for (const Row& row : statuses) oracle.wrote(status_write(row));

    const auto deliveries = rig.query(
        "SELECT at, delivery_id, generation_before, generation_after, state_before, state_after, "
        "owner_before, owner_after, leased_before, attempts_before, attempts_after FROM history_deliveries "
        "ORDER BY n");
    const auto looks = empty_looks(platform_log, owed);
    auto look = looks.begin();
    for (const Row& row : deliveries) {
        const Instant at = parse_instant(text(row, 0)).value();
        for (; look != looks.end() && look->at <= at; ++look)
            oracle.saw_nothing_of(look->delivery_id, look->at.time_since_epoch());
        oracle.wrote(delivery_write(row));
    }
    return {positions.size(), deliveries.size(), statuses.size(), looks.size()};
}

}  // namespace epilogue::testing
