// Questions and orders to a broker, by librdkafka itself and not by the code under test.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

struct rd_kafka_s;

namespace epilogue::testing {

using TopicConfig = std::map<std::string, std::string>;  ///< topic-level settings, e.g. "retention.ms"
using PartitionOffsets = std::map<int, std::int64_t>;    ///< partition → offset

/// A consumer group as its coordinator knows it.
struct GroupView {
    bool is_stable = false;  ///< every member has its partitions
    std::set<std::string> client_ids;
};

/// One admin connection. Errors are std::runtime_error with the broker's words; what a broker answers while
/// it is still starting is asked again for up to 30 s. Thread-safe.
class KafkaAdmin {
  public:
    explicit KafkaAdmin(const std::string& bootstrap);
    ~KafkaAdmin();
    KafkaAdmin(const KafkaAdmin&) = delete;
    KafkaAdmin& operator=(const KafkaAdmin&) = delete;

    /// True when the broker answers a metadata request within a second.
    bool answers() const;
    /// Creates a topic; returns when each of its partitions has a leader. An existing topic is an error.
    void create_topic(const std::string& topic, int partitions, const TopicConfig& config) const;
    /// Deletes a topic; returns when no broker knows it any more.
    void delete_topic(const std::string& topic) const;
    /// Raises the count of the topic's partitions; returns when each of them has a leader.
    void raise_partitions(const std::string& topic, int partitions) const;
    /// Removes what lies before these offsets, as retention does.
    void delete_records(const std::string& topic, const PartitionOffsets& before) const;
    /// For each partition of the topic the offset its next record will get.
    PartitionOffsets end_offsets(const std::string& topic) const;
    /// What a group has committed; partitions without a commit are left out.
    PartitionOffsets committed(const std::string& group, const std::string& topic) const;
    /// A group that the broker does not know has no members. Members that died stay in it until their session
    /// is over.
    GroupView group(const std::string& name) const;

  private:
    int partition_count(const std::string& topic) const;  ///< 0 until all of them have a leader

    std::unique_ptr<rd_kafka_s, void (*)(rd_kafka_s*)> client_;
};

}  // namespace epilogue::testing
