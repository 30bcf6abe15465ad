#include "tests/integration/owned_partition.h"

#include <nlohmann/json.hpp>

#include "tests/integration/unread_log.h"
#include "worker/consume/claim_partition.h"
#include "worker/sources/registry.h"
#include "worker/store/partition_rows.h"

namespace epilogue::testing {
namespace {

using Clock = std::chrono::system_clock;

const PartitionKey key{"group", "topic", 0};

Claim first_claim(Store& store) {
    UnreadLog log;
    return expect(claim_partition(store, log, key, "the test", [](const PositionCheck&) { return true; }))
        .claim;
}

/// What settles does so as soon as time is let pass.
BatchRules rules() {
    BatchRules rules;
    rules.settle = std::chrono::milliseconds{0};
    return rules;
}

}  // namespace

OwnedPartition::OwnedPartition(const Database& server, const std::string& database)
    : server_(server),
      database_(server, database),
      store_(database_.settings(), observer()),
      installation_(expect(store_.installation())),
      planner_(installation_.id, summary_rules({})),
      claim_(first_claim(store_)) {}

StoreObserver OwnedPartition::observer() {
    StoreObserver observer;
    observer.undone = [this](std::string_view cause) {
        const std::lock_guard lock(mutex_);
        ++undone_[std::string(cause)];
    };
    return observer;
}

int OwnedPartition::undone(const std::string& cause) const {
    const std::lock_guard lock(mutex_);
    const auto found = undone_.find(cause);
    return found == undone_.end() ? 0 : found->second;
}

Result<BatchReport> OwnedPartition::apply(Store& store, const std::vector<Record>& records) {
    std::vector<RecordView> views;
    for (const Record& record : records) {
        RecordView& view = views.emplace_back();
        view.offset.value = claim_.position.value + static_cast<std::int64_t>(views.size()) - 1;
        if (record.key) view.key = *record.key;
        if (record.value) view.value = *record.value;
        view.timestamp = record.at.value_or(std::chrono::time_point_cast<Micros>(Clock::now()));
    }
    return Batch(store, planner_, rules()).apply(claim_, views);
}

Result<BatchReport> OwnedPartition::tick(Store& store) {
    return Batch(store, planner_, rules()).tick(claim_, Instant::max(), claim_.position);
}

std::string OwnedPartition::place() {
    return nlohmann::json{{"repo", "octo/owned"}, {"number", ++places_}}.dump();
}

std::int64_t OwnedPartition::insert_row(const std::string& conversation, const std::string& created_at) {
    const std::string processor_json = place();
    query(
        "INSERT INTO conversation_callbacks (conversation_id, processor_type, processor_json, created_at) "
        "VALUES ('" +
        conversation + "','github','" + processor_json + "'," + created_at + ")");
    return number("SELECT id FROM conversation_callbacks WHERE processor_json='" + processor_json + "'");
}

void OwnedPartition::adopt(Store& store) {
    expect(adopter(store).adopt_all());
}

void OwnedPartition::wake(Store& store, std::int64_t callback) {
    expect(wake_callback(store, planner_, {callback}, {std::chrono::hours{2}}));
}

std::int64_t OwnedPartition::add(Store& store, const std::string& conversation) {
    return add(store, conversation, "github", place());
}

std::int64_t OwnedPartition::add(Store& store, const std::string& conversation, const std::string& processor,
                                 const std::string& processor_json) {
    RegistrationRequest request;
    request.conversation_id = conversation;
    request.processor_type = processor;
    request.processor_json = processor_json;
    request.options.mode = Mode::every_turn;
    return add(store, request);
}

std::int64_t OwnedPartition::add(Store& store, const RegistrationRequest& request) {
    return expect(register_callback(store, planner_, request)).callback_id.value;
}

void OwnedPartition::resume() {
    claim_.position.value = number("SELECT next_offset FROM partition_progress");
    claim_.sequence = number("SELECT sequence FROM partition_progress");
}

std::vector<std::string> OwnedPartition::turns_of(std::int64_t callback) const {
    std::vector<std::string> turns;
    for (const Row& row : query("SELECT turn_key FROM deliveries WHERE callback_id=" +
                                std::to_string(callback) + " ORDER BY ordinal"))
        turns.push_back(row.at(0).value());
    return turns;
}

std::unique_ptr<MysqlSession> OwnedPartition::open_session() const {
    return expect(MysqlSession::open(database_.settings()));
}

std::int64_t OwnedPartition::waiting() const {
    const auto rows = server_.query("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'");
    return std::stoll(rows.at(0).at(1).value());
}

}  // namespace epilogue::testing
