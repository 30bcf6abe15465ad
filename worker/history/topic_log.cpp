#include "worker/history/topic_log.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/io/kafka_scan.h"
#include "schemas/decode.h"

namespace epilogue {
namespace {

using Clock = KafkaScan::Clock;

/// The id as others may have written it: UUIDs with dashes, in either case.
std::vector<std::string> spellings_of(const ConversationId& id) {
    std::vector<std::string> spellings{id};
    constexpr std::size_t digits = 32;
    const std::string& text = id;
    if (text.size() != digits || text.find_first_not_of("0123456789abcdef") != std::string::npos)
        return spellings;
    std::string dashed = text;
    for (const std::size_t place : {20U, 16U, 12U, 8U}) dashed.insert(place, 1, '-');
    spellings.push_back(dashed);
    std::transform(dashed.begin(), dashed.end(), dashed.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    spellings.push_back(std::move(dashed));
    return spellings;
}

std::vector<int> partitions_for(const ConversationId& id, const TopicHint& hint, int count) {
    if (hint.partition && *hint.partition < count) return {*hint.partition};
    std::vector<int> partitions;
    for (const std::string& spelling : spellings_of(id)) {
        const int partition = partition_of_key(spelling, count);
        if (std::find(partitions.begin(), partitions.end(), partition) == partitions.end())
            partitions.push_back(partition);
    }
    return partitions;
}

/// Takes the records of one conversation.
class Reading {
  public:
    Reading(const ConversationId& id, const TopicLimits& limits) : id_(id), limits_(limits) {}

    TopicLog log;
    std::size_t left_out = 0;  ///< of its events

    /// False when no more may be read.
    bool take(const RecordView& record) {
        take_own(record);
        return ++records_ < limits_.max_records;
    }

  private:
    void take_own(const RecordView& record) {
        if (!key_fault(record.key).empty() || normalise_conversation_id(record.key) != id_) return;
        if (record.value.data() == nullptr) return;
        if (log.entries.size() >= limits_.max_events) {
            ++left_out;
            return;
        }
        Decoded decoded = decoder_.decode(record.value, record.marks);
        if (auto* event = std::get_if<Event>(&decoded))
            log.entries.push_back({std::move(*event), record.timestamp});
        else if (std::holds_alternative<Poison>(decoded))
            ++log.unusable;
    }

    const ConversationId& id_;
    const TopicLimits& limits_;
    std::size_t records_ = 0;
    Decoder decoder_;
};

SourceFault unavailable(const Error& error) {
    return {SourceState::unavailable, error.text};
}

}  // namespace

SourceAnswer<TopicLog> read_topic(const KafkaSettings& settings, const std::string& topic,
                                  const ConversationId& id, const TopicHint& hint,
                                  const TopicLimits& limits) {
    const auto begun = Clock::now();
    const auto until = begun + limits.within;
    const auto scan = KafkaScan::open(settings, topic);
    if (!scan) return tl::unexpected(unavailable(scan.error()));
    const auto count = (*scan)->partitions(begun + std::min(limits.reach, limits.within));
    if (!count) return tl::unexpected(unavailable(count.error()));
    Reading reading(id, limits);
    for (const int partition : partitions_for(id, hint, *count)) {
        const auto part = (*scan)->read(partition, hint.since, until,
                                        [&](const RecordView& record) { return reading.take(record); });
        if (!part) return tl::unexpected(unavailable(part.error()));
        reading.log.parts.push_back({part->partition, part->from, part->to, part->end});
        if (!part->is_whole() && reading.log.cut.empty())
            reading.log.cut = fmt::format("partition {} was read for {} s at most, up to offset {} of {}",
                                          partition, limits.within.count() / 1000, part->to, part->end);
    }
    if (reading.left_out > 0) reading.log.cut = fmt::format("{} more events were left out", reading.left_out);
    return std::move(reading.log);
}

}  // namespace epilogue
