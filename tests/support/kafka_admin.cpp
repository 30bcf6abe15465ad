#include "tests/support/kafka_admin.h"

#include <functional>
#include <string_view>
#include <vector>

#include "tests/support/eventually.h"
#include "tests/support/kafka_handles.h"

namespace epilogue::testing {
namespace {

constexpr int answer_ms = 5000;

using Metadata = KafkaHandle<const rd_kafka_metadata_t, rd_kafka_metadata_destroy>;
using NewTopic = KafkaHandle<rd_kafka_NewTopic_t, rd_kafka_NewTopic_destroy>;
using GroupList = KafkaHandle<const rd_kafka_group_list, rd_kafka_group_list_destroy>;
using DeleteTopic = KafkaHandle<rd_kafka_DeleteTopic_t, rd_kafka_DeleteTopic_destroy>;
using NewPartitions = KafkaHandle<rd_kafka_NewPartitions_t, rd_kafka_NewPartitions_destroy>;
using DeleteRecords = KafkaHandle<rd_kafka_DeleteRecords_t, rd_kafka_DeleteRecords_destroy>;
using ListOffsets =
    KafkaHandle<rd_kafka_ListConsumerGroupOffsets_t, rd_kafka_ListConsumerGroupOffsets_destroy>;

/// What a starting broker or coordinator says: the same question has an answer later.
bool is_passing(rd_kafka_resp_err_t error) {
    switch (error) {
        case RD_KAFKA_RESP_ERR__TIMED_OUT:
        case RD_KAFKA_RESP_ERR__TRANSPORT:
        case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
        case RD_KAFKA_RESP_ERR__WAIT_COORD:
        case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
        case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
        case RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION:
        case RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS:
        case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
        case RD_KAFKA_RESP_ERR_NOT_COORDINATOR:
            return true;
        default:
            return false;
    }
}

/// True when the question is answered, false when it has to be asked again; throws for a refusal.
bool answered(const std::string& what, rd_kafka_resp_err_t error) {
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR && !is_passing(error)) throw_kafka(what, error);
    return error == RD_KAFKA_RESP_ERR_NO_ERROR;
}

/// Sends one admin request and waits for its result, which may be an error.
KafkaEvent ask(rd_kafka_t* client, rd_kafka_admin_op_t operation,
               const std::function<void(const rd_kafka_AdminOptions_t*, rd_kafka_queue_t*)>& send) {
    std::array<char, 512> why{};
    const KafkaQueue queue(rd_kafka_queue_new(client));
    const KafkaOptions options(rd_kafka_AdminOptions_new(client, operation));
    rd_kafka_AdminOptions_set_request_timeout(options.get(), answer_ms, why.data(), why.size());
    send(options.get(), queue.get());
    return KafkaEvent(rd_kafka_queue_poll(queue.get(), -1));  // the request's own timeout ends it
}

rd_kafka_resp_err_t create(rd_kafka_t* client, const std::string& topic, int partitions,
                           const TopicConfig& config) {
    std::array<char, 512> why{};
    const NewTopic wanted(rd_kafka_NewTopic_new(topic.c_str(), partitions, 1, why.data(), why.size()));
    if (!wanted) throw std::runtime_error(topic + ": " + why.data());
    for (const auto& [name, value] : config)
        rd_kafka_NewTopic_set_config(wanted.get(), name.c_str(), value.c_str());
    rd_kafka_NewTopic_t* topics[] = {wanted.get()};
    const auto event = ask(client, RD_KAFKA_ADMIN_OP_CREATETOPICS, [&](const auto* options, auto* queue) {
        rd_kafka_CreateTopics(client, topics, 1, options, queue);
    });
    if (const auto error = rd_kafka_event_error(event.get())) return error;
    std::size_t count = 0;
    const auto* const results =
        rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event.get()), &count);
    return rd_kafka_topic_result_error(results[0]);
}

/// The partitions' committed offsets, put into `partitions`; the first error among them, if any.
rd_kafka_resp_err_t list_committed(rd_kafka_t* client, const std::string& group,
                                   KafkaPartitions& partitions) {
    const ListOffsets request(rd_kafka_ListConsumerGroupOffsets_new(group.c_str(), partitions.get()));
    rd_kafka_ListConsumerGroupOffsets_t* requests[] = {request.get()};
    const auto event =
        ask(client, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS, [&](const auto* options, auto* queue) {
            rd_kafka_ListConsumerGroupOffsets(client, requests, 1, options, queue);
        });
    if (const auto error = rd_kafka_event_error(event.get())) return error;
    std::size_t count = 0;
    const auto* const groups = rd_kafka_ListConsumerGroupOffsets_result_groups(
        rd_kafka_event_ListConsumerGroupOffsets_result(event.get()), &count);
    if (const auto* const error = rd_kafka_group_result_error(groups[0])) return rd_kafka_error_code(error);
    partitions.reset(rd_kafka_topic_partition_list_copy(rd_kafka_group_result_partitions(groups[0])));
    for (int at = 0; at < partitions->cnt; ++at)
        if (const auto error = partitions->elems[at].err) return error;
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

}  // namespace

// A consumer, although it never subscribes: a producer that asks for committed offsets is killed inside
// librdkafka (2.0.2 and later) by the answer NOT_COORDINATOR, for it has no group of its own to look up
// again.
KafkaAdmin::KafkaAdmin(const std::string& bootstrap)
    : client_(make_kafka_client(RD_KAFKA_CONSUMER, {{"bootstrap.servers", bootstrap},
                                                    {"client.id", "epilogue-harness"},
                                                    {"group.id", "epilogue-harness"},
                                                    {"reconnect.backoff.max.ms", "200"}})
                  .release(),
              rd_kafka_destroy) {}

KafkaAdmin::~KafkaAdmin() = default;

bool KafkaAdmin::answers() const {
    const rd_kafka_metadata_t* raw = nullptr;
    const auto error = rd_kafka_metadata(client_.get(), 0, nullptr, &raw, 1000);
    const Metadata metadata(raw);
    return error == RD_KAFKA_RESP_ERR_NO_ERROR && metadata->broker_cnt > 0;
}

void KafkaAdmin::create_topic(const std::string& topic, int partitions, const TopicConfig& config) const {
    bool asked_before = false;
    eventually("topic " + topic + " is created", [&] {
        const auto error = create(client_.get(), topic, partitions, config);
        // Of two requests the first may have been carried out although its answer was lost.
        if (asked_before && error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) return true;
        asked_before = true;
        return answered(topic, error);
    });
    eventually("all partitions of " + topic + " have a leader",
               [&] { return partition_count(topic) == partitions; });
}

void KafkaAdmin::delete_topic(const std::string& topic) const {
    const DeleteTopic wanted(rd_kafka_DeleteTopic_new(topic.c_str()));
    rd_kafka_DeleteTopic_t* topics[] = {wanted.get()};
    const auto event =
        ask(client_.get(), RD_KAFKA_ADMIN_OP_DELETETOPICS, [&](const auto* options, auto* queue) {
            rd_kafka_DeleteTopics(client_.get(), topics, 1, options, queue);
        });
    if (const auto error = rd_kafka_event_error(event.get())) throw_kafka(topic, error);
    eventually("topic " + topic + " is gone", [&] { return partition_count(topic) == 0; });
}

void KafkaAdmin::raise_partitions(const std::string& topic, int partitions) const {
    std::array<char, 512> why{};
    const NewPartitions wanted(rd_kafka_NewPartitions_new(topic.c_str(), static_cast<std::size_t>(partitions),
                                                          why.data(), why.size()));
    if (!wanted) throw std::runtime_error(topic + ": " + why.data());
    rd_kafka_NewPartitions_t* raised[] = {wanted.get()};
    const auto event =
        ask(client_.get(), RD_KAFKA_ADMIN_OP_CREATEPARTITIONS, [&](const auto* options, auto* queue) {
            rd_kafka_CreatePartitions(client_.get(), raised, 1, options, queue);
        });
    if (const auto error = rd_kafka_event_error(event.get())) throw_kafka(topic, error);
    eventually("all partitions of " + topic + " have a leader",
               [&] { return partition_count(topic) == partitions; });
}

void KafkaAdmin::delete_records(const std::string& topic, const PartitionOffsets& before) const {
    const KafkaPartitions offsets(rd_kafka_topic_partition_list_new(static_cast<int>(before.size())));
    for (const auto& [partition, offset] : before)
        rd_kafka_topic_partition_list_add(offsets.get(), topic.c_str(), partition)->offset = offset;
    const DeleteRecords wanted(rd_kafka_DeleteRecords_new(offsets.get()));
    rd_kafka_DeleteRecords_t* removed[] = {wanted.get()};
    const auto event =
        ask(client_.get(), RD_KAFKA_ADMIN_OP_DELETERECORDS, [&](const auto* options, auto* queue) {
            rd_kafka_DeleteRecords(client_.get(), removed, 1, options, queue);
        });
    if (const auto error = rd_kafka_event_error(event.get())) throw_kafka(topic, error);
}

int KafkaAdmin::partition_count(const std::string& topic) const {
    const KafkaHandle<rd_kafka_topic_t, rd_kafka_topic_destroy> handle(
        rd_kafka_topic_new(client_.get(), topic.c_str(), nullptr));
    const rd_kafka_metadata_t* raw = nullptr;
    const auto error = rd_kafka_metadata(client_.get(), 0, handle.get(), &raw, answer_ms);
    const Metadata metadata(raw);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR || metadata->topic_cnt != 1) return 0;
    const auto& found = metadata->topics[0];
    for (int at = 0; at < found.partition_cnt; ++at)
        if (found.partitions[at].leader < 0) return 0;
    return found.partition_cnt;
}

PartitionOffsets KafkaAdmin::end_offsets(const std::string& topic) const {
    const int partitions = eventually("topic " + topic + " is known", [&] { return partition_count(topic); });
    PartitionOffsets ends;
    for (int partition = 0; partition < partitions; ++partition)
        eventually("the end of " + topic + " is known", [&] {
            std::int64_t low = 0;
            return answered(topic, rd_kafka_query_watermark_offsets(client_.get(), topic.c_str(), partition,
                                                                    &low, &ends[partition], answer_ms));
        });
    return ends;
}

PartitionOffsets KafkaAdmin::committed(const std::string& group, const std::string& topic) const {
    const int count = eventually("topic " + topic + " is known", [&] { return partition_count(topic); });
    KafkaPartitions partitions;
    eventually("the offsets of group " + group + " are known", [&] {
        partitions.reset(rd_kafka_topic_partition_list_new(count));
        rd_kafka_topic_partition_list_add_range(partitions.get(), topic.c_str(), 0, count - 1);
        return answered(group, list_committed(client_.get(), group, partitions));
    });
    PartitionOffsets offsets;
    for (int at = 0; at < partitions->cnt; ++at) {
        const auto& partition = partitions->elems[at];
        if (partition.offset >= 0) offsets[partition.partition] = partition.offset;
    }
    return offsets;
}

GroupView KafkaAdmin::group(const std::string& name) const {
    GroupList groups;
    eventually("group " + name + " is known", [&] {
        const rd_kafka_group_list* raw = nullptr;
        const auto error = rd_kafka_list_groups(client_.get(), name.c_str(), &raw, answer_ms);
        groups.reset(raw);
        return answered(name, error) && (groups->group_cnt == 0 || answered(name, groups->groups[0].err));
    });
    GroupView view;
    if (groups->group_cnt == 0) return view;
    const auto& found = groups->groups[0];
    view.is_stable = std::string_view(found.state) == "Stable";
    for (int at = 0; at < found.member_cnt; ++at) view.client_ids.insert(found.members[at].client_id);
    return view;
}

}  // namespace epilogue::testing
