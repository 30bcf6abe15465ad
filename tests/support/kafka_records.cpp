#include "tests/support/kafka_records.h"

#include <algorithm>
#include <span>
#include <tuple>

#include "tests/support/eventually.h"
#include "tests/support/kafka_admin.h"
#include "tests/support/kafka_handles.h"

namespace epilogue::testing {
namespace {

constexpr const char* max_message_bytes = "20971520";

std::int64_t milliseconds_of(Instant at) {
    return std::chrono::floor<Milliseconds>(at).time_since_epoch().count();
}

void on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
    auto& acknowledged = *static_cast<Acknowledged*>(opaque);
    ++acknowledged.count;
    if (acknowledged.error == 0) acknowledged.error = message->err;
}

void* bytes_of(const std::optional<std::string>& text) {
    return text ? const_cast<char*>(text->data()) : nullptr;
}

/// Hands one record to the producer's queue.
rd_kafka_resp_err_t enqueue(rd_kafka_t* producer, const std::string& topic, const Record& record) {
    std::vector<rd_kafka_vu_t> arguments;
    const auto add = [&](rd_kafka_vtype_t type, auto fill) {
        arguments.emplace_back();
        arguments.back().vtype = type;
        fill(arguments.back().u);
    };
    add(RD_KAFKA_VTYPE_TOPIC, [&](auto& u) { u.cstr = topic.c_str(); });
    add(RD_KAFKA_VTYPE_MSGFLAGS, [](auto& u) { u.i = RD_KAFKA_MSG_F_COPY; });
    add(RD_KAFKA_VTYPE_KEY, [&](auto& u) {
        u.mem.ptr = bytes_of(record.key);
        u.mem.size = record.key ? record.key->size() : 0;
    });
    add(RD_KAFKA_VTYPE_VALUE, [&](auto& u) {
        u.mem.ptr = bytes_of(record.value);
        u.mem.size = record.value ? record.value->size() : 0;
    });
    if (record.partition) add(RD_KAFKA_VTYPE_PARTITION, [&](auto& u) { u.i32 = *record.partition; });
    if (record.at) add(RD_KAFKA_VTYPE_TIMESTAMP, [&](auto& u) { u.i64 = milliseconds_of(*record.at); });
    for (const auto& [name, value] : record.headers)
        add(RD_KAFKA_VTYPE_HEADER, [&](auto& u) {
            u.header.name = name.c_str();
            u.header.val = value.data();
            u.header.size = static_cast<ssize_t>(value.size());
        });
    rd_kafka_error_t* const error = rd_kafka_produceva(producer, arguments.data(), arguments.size());
    if (error == nullptr) return RD_KAFKA_RESP_ERR_NO_ERROR;
    const auto code = rd_kafka_error_code(error);
    rd_kafka_error_destroy(error);
    return code;
}

std::optional<std::string> text_of(const void* bytes, std::size_t size) {
    if (bytes == nullptr) return std::nullopt;
    return std::string(static_cast<const char*>(bytes), size);
}

Record record_of(const rd_kafka_message_t& message) {
    Record record{.key = text_of(message.key, message.key_len),
                  .value = text_of(message.payload, message.len)};
    record.partition = message.partition;
    record.offset = message.offset;
    rd_kafka_timestamp_type_t type{};
    record.at = Instant(Milliseconds(rd_kafka_message_timestamp(&message, &type)));
    rd_kafka_headers_t* headers = nullptr;
    if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return record;
    const char* name = nullptr;
    const void* value = nullptr;
    std::size_t size = 0;
    for (std::size_t at = 0; rd_kafka_header_get_all(headers, at, &name, &value, &size) == 0; ++at)
        record.headers[name] = text_of(value, size).value_or("");
    return record;
}

}  // namespace

Producer::Producer(const std::string& bootstrap) : client_(nullptr, rd_kafka_destroy) {
    rd_kafka_conf_t* const callbacks = rd_kafka_conf_new();
    rd_kafka_conf_set_dr_msg_cb(callbacks, on_delivery);
    rd_kafka_conf_set_opaque(callbacks, &acknowledged_);
    client_.reset(make_kafka_client(RD_KAFKA_PRODUCER,
                                    {{"bootstrap.servers", bootstrap},
                                     {"enable.idempotence", "true"},
                                     {"partitioner", "murmur2_random"},
                                     {"message.max.bytes", max_message_bytes},
                                     {"message.timeout.ms", std::to_string(patience.count())}},
                                    callbacks)
                      .release());
}

Producer::~Producer() = default;

void Producer::produce(const std::string& topic, const std::vector<Record>& records) {
    acknowledged_ = {};
    for (const auto& record : records)
        for (;;) {
            const auto error = enqueue(client_.get(), topic, record);
            if (error == RD_KAFKA_RESP_ERR_NO_ERROR) break;
            if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL) throw_kafka(topic, error);
            rd_kafka_poll(client_.get(), 100);  // until there is room
        }
    rd_kafka_flush(client_.get(), static_cast<int>(patience.count()));
    if (acknowledged_.error != 0) throw_kafka(topic, static_cast<rd_kafka_resp_err_t>(acknowledged_.error));
    if (acknowledged_.count != records.size())
        throw GaveUp("all records of " + topic + " are acknowledged", patience);
}

void produce(const std::string& bootstrap, const std::string& topic, const std::vector<Record>& records) {
    Producer(bootstrap).produce(topic, records);
}

std::vector<Record> read_topic(const std::string& bootstrap, const std::string& topic) {
    const auto ends = KafkaAdmin(bootstrap).end_offsets(topic);
    const auto consumer =
        make_kafka_client(RD_KAFKA_CONSUMER, {{"bootstrap.servers", bootstrap},
                                              {"group.id", "epilogue-harness-reader"},
                                              {"enable.auto.commit", "false"},
                                              {"enable.partition.eof", "true"},
                                              {"isolation.level", "read_committed"},
                                              {"fetch.message.max.bytes", max_message_bytes}});
    rd_kafka_poll_set_consumer(consumer.get());
    const KafkaPartitions partitions(rd_kafka_topic_partition_list_new(static_cast<int>(ends.size())));
    for (const auto& [partition, end] : ends)
        rd_kafka_topic_partition_list_add(partitions.get(), topic.c_str(), partition)->offset = 0;
    if (const auto error = rd_kafka_assign(consumer.get(), partitions.get())) throw_kafka(topic, error);

    std::vector<Record> records;
    std::map<int, bool> open;  // partitions whose end is still ahead
    for (const auto& [partition, end] : ends)
        if (end > 0) open[partition] = true;
    const auto give_up = std::chrono::steady_clock::now() + patience;
    while (!open.empty()) {
        if (std::chrono::steady_clock::now() > give_up) throw GaveUp(topic + " is read to its end", patience);
        const KafkaMessage message(rd_kafka_consumer_poll(consumer.get(), 1000));
        if (!message) continue;
        const bool at_end = message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR && !at_end) throw_kafka(topic, message->err);
        if (!at_end && message->offset < ends.at(message->partition)) records.push_back(record_of(*message));
        if (message->offset + (at_end ? 0 : 1) >= ends.at(message->partition)) open.erase(message->partition);
    }
    std::ranges::sort(records, {}, [](const Record& r) { return std::tuple(*r.partition, r.offset); });
    return records;
}

}  // namespace epilogue::testing
