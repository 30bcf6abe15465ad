// Raw records: what a test puts on a topic and finds there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/instant.h"

struct rd_kafka_s;

namespace epilogue::testing {

/// A record as the broker keeps it. A key or value of nullopt is Kafka's null.
struct Record {
    std::optional<std::string> key{};
    std::optional<std::string> value{};
    std::map<std::string, std::string> headers{};
    std::optional<int> partition{};  ///< nullopt when producing: murmur2_random of the key
    std::optional<Instant> at{};     ///< its Kafka timestamp, whole milliseconds; nullopt when producing: now
    std::int64_t offset = 0;         ///< only of records that were read
};

/// How far the broker has acknowledged what was produced.
struct Acknowledged {
    std::size_t count = 0;
    int error = 0;  ///< librdkafka's number, of the first record refused
};

/// A producer: idempotent, acks=all. The first use takes about half a second, so keep it. Not thread-safe.
class Producer {
  public:
    explicit Producer(const std::string& bootstrap);
    ~Producer();
    Producer(const Producer&) = delete;
    Producer& operator=(const Producer&) = delete;

    /// Produces the records in order and returns when the broker has acknowledged all of them. Throws
    /// std::runtime_error when one is refused or not acknowledged within 60 s.
    void produce(const std::string& topic, const std::vector<Record>& records);

  private:
    Acknowledged acknowledged_;
    std::unique_ptr<rd_kafka_s, void (*)(rd_kafka_s*)> client_;
};

/// Producer::produce on a producer of its own.
void produce(const std::string& bootstrap, const std::string& topic, const std::vector<Record>& records);

/// All records of the topic from its beginning up to the ends it has at the time of the call, ordered by
/// partition and offset. Of transactions only the committed ones. Throws std::runtime_error when that takes
/// over 60 s.
std::vector<Record> read_topic(const std::string& bootstrap, const std::string& topic);

}  // namespace epilogue::testing
