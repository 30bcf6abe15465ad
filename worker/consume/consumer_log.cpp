#include "worker/consume/consumer_log.h"

#include "base/io/log.h"

namespace epilogue {
namespace {

constexpr std::chrono::milliseconds answer_wait{5000};

/// The id is told by the cluster's controller alone. While that does not answer, the partitions of other
/// brokers are not to wait for it again and again.
constexpr std::chrono::milliseconds id_wait{2000};
constexpr std::chrono::seconds id_again_after{60};

}  // namespace

std::string ConsumerLog::cluster_id() {
    return consumer_.cluster_id(answer_wait);
}

std::string ConsumerLog::topic_id() {
    const auto now = std::chrono::steady_clock::now();
    if (now < id_not_before_.load()) return "";
    std::string id = consumer_.topic_id(id_wait);
    if (id.empty()) id_not_before_ = now + id_again_after;
    return id;
}

Result<int> ConsumerLog::partitions() {
    return consumer_.partitions(answer_wait);
}

Result<NextOffset> ConsumerLog::first_position(int partition) {
    TRY(const auto committed, consumer_.committed(partition, answer_wait));
    if (committed) return *committed;
    if (reset_ == OffsetReset::error)
        return retryable(
            "no stored and no committed offset, and [kafka] start is \"error\": set it to earliest or "
            "latest");
    TRY(const Watermarks marks, consumer_.watermarks(partition, answer_wait));
    return NextOffset{reset_ == OffsetReset::earliest ? marks.low : marks.high};
}

Result<std::optional<RecordFingerprint>> ConsumerLog::record_at(int partition, Offset offset) {
    return consumer_.record_at(partition, offset, answer_wait);
}

Result<void> ConsumerLog::read_from(int partition, NextOffset position) {
    TRY_VOID(consumer_.seek(partition, position));
    return consumer_.resume(partition);
}

void ConsumerLog::stop_reading(int partition) {
    if (const auto paused = consumer_.pause(partition); !paused) log_debug(paused.error().text);
}

Result<Watermarks> ConsumerLog::watermarks(int partition) {
    return consumer_.watermarks(partition, answer_wait);
}

void ConsumerLog::commit(const std::map<int, NextOffset>& positions) {
    if (const auto sent = consumer_.commit(positions, std::nullopt); !sent) log_debug(sent.error().text);
}

Result<void> ConsumerLog::commit_and_wait(int partition, NextOffset position) {
    return consumer_.commit({{partition, position}}, answer_wait);
}

}  // namespace epilogue
