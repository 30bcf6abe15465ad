#include "base/io/kafka_rights.h"

#include <algorithm>
#include <array>

#include "base/io/kafka_conf.h"

namespace epilogue {

std::string no_right_to_join(const std::string& group) {
    return "no right to join the consumer group " + group + ": our user needs Read on it";
}

std::string no_right_to_read(const std::string& topic) {
    return "no right to read the topic " + topic + ": our user needs Read on it";
}

#if RD_KAFKA_VERSION >= 0x02030000
namespace {

using AdminOptions = Handle<rd_kafka_AdminOptions_t, rd_kafka_AdminOptions_destroy>;
using Queue = Handle<rd_kafka_queue_t, rd_kafka_queue_destroy>;
using Event = Handle<rd_kafka_event_t, rd_kafka_event_destroy>;

AdminOptions asking_for_rights(rd_kafka_t* client, rd_kafka_admin_op_t question, int wait_ms) {
    AdminOptions options(rd_kafka_AdminOptions_new(client, question));
    std::array<char, 128> why{};
    rd_kafka_AdminOptions_set_request_timeout(options.get(), wait_ms, why.data(), why.size());
    rd_kafka_error_destroy(rd_kafka_AdminOptions_set_include_authorized_operations(options.get(), 1));
    return options;
}

/// What the broker said of one topic or group. nullopt: nothing of its rights.
std::optional<bool> is_granted(const rd_kafka_error_t* error, rd_kafka_resp_err_t refusal,
                               const rd_kafka_AclOperation_t* granted, std::size_t count,
                               rd_kafka_AclOperation_t wanted) {
    const auto code = error == nullptr ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_error_code(error);
    if (code == refusal) return false;
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR || granted == nullptr || count == 0) return std::nullopt;
    return std::find(granted, granted + count, wanted) != granted + count;
}

void ask_topics(rd_kafka_t* client, const NeededRights& needed, int wait_ms, KafkaRights& rights) {
    std::vector<const char*> names;
    for (const std::string* name : {&needed.reads, &needed.produces})
        if (!name->empty()) names.push_back(name->c_str());
    if (names.empty()) return;
    const Handle<rd_kafka_TopicCollection_t, rd_kafka_TopicCollection_destroy> topics(
        rd_kafka_TopicCollection_of_topic_names(names.data(), names.size()));
    const auto options = asking_for_rights(client, RD_KAFKA_ADMIN_OP_DESCRIBETOPICS, wait_ms);
    const Queue queue(rd_kafka_queue_new(client));
    rd_kafka_DescribeTopics(client, topics.get(), options.get(), queue.get());
    const Event event(rd_kafka_queue_poll(queue.get(), wait_ms));
    if (!event || rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
    std::size_t count = 0;
    const auto* answers =
        rd_kafka_DescribeTopics_result_topics(rd_kafka_event_DescribeTopics_result(event.get()), &count);
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t operations = 0;
        const auto* granted = rd_kafka_TopicDescription_authorized_operations(answers[i], &operations);
        const auto grants = [&](rd_kafka_AclOperation_t wanted) {
            return is_granted(rd_kafka_TopicDescription_error(answers[i]),
                              RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, granted, operations, wanted)
                .value_or(true);
        };
        const std::string name = rd_kafka_TopicDescription_name(answers[i]);
        if (name == needed.reads && !grants(RD_KAFKA_ACL_OPERATION_READ))
            rights.missing.push_back(no_right_to_read(name));
        if (name == needed.produces && !grants(RD_KAFKA_ACL_OPERATION_WRITE))
            rights.missing.push_back("no right to produce to the topic " + name +
                                     ": our user needs Write on it");
    }
}

void ask_group(rd_kafka_t* client, const std::string& group, int wait_ms, KafkaRights& rights) {
    std::array<const char*, 1> names{group.c_str()};
    const auto options = asking_for_rights(client, RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS, wait_ms);
    const Queue queue(rd_kafka_queue_new(client));
    rd_kafka_DescribeConsumerGroups(client, names.data(), names.size(), options.get(), queue.get());
    const Event event(rd_kafka_queue_poll(queue.get(), wait_ms));
    if (!event || rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
    std::size_t count = 0;
    const auto* answers = rd_kafka_DescribeConsumerGroups_result_groups(
        rd_kafka_event_DescribeConsumerGroups_result(event.get()), &count);
    if (count != 1) return;
    std::size_t operations = 0;
    const auto* granted = rd_kafka_ConsumerGroupDescription_authorized_operations(answers[0], &operations);
    rights.may_join = is_granted(rd_kafka_ConsumerGroupDescription_error(answers[0]),
                                 RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, granted, operations,
                                 RD_KAFKA_ACL_OPERATION_READ);
    if (rights.may_join == std::optional(false)) rights.missing.push_back(no_right_to_join(group));
}

}  // namespace

KafkaRights kafka_rights(rd_kafka_t* client, const NeededRights& needed, std::chrono::milliseconds wait) {
    KafkaRights rights;
    const int wait_ms = static_cast<int>(wait.count());
    ask_topics(client, needed, wait_ms, rights);
    // A librdkafka without our patch may end the process on this question (librdkafka 4605).
    if (!needed.joins.empty() && kafka_version().is_ours) ask_group(client, needed.joins, wait_ms, rights);
    return rights;
}
#else
KafkaRights kafka_rights(rd_kafka_t*, const NeededRights&, std::chrono::milliseconds) {
    return {};
}
#endif

}  // namespace epilogue
