#include "tests/support/kafka_acls.h"

#include "tests/support/kafka_handles.h"

namespace epilogue::testing {
namespace {

constexpr int answer_ms = 10000;

using Acl = KafkaHandle<rd_kafka_AclBinding_t, rd_kafka_AclBinding_destroy>;

rd_kafka_ResourceType_t resource(const KafkaRight& right) {
    return right.on == KafkaRight::On::topic ? RD_KAFKA_RESOURCE_TOPIC : RD_KAFKA_RESOURCE_GROUP;
}

rd_kafka_AclOperation_t operation(const KafkaRight& right) {
    switch (right.to) {
        case KafkaRight::To::read:
            return RD_KAFKA_ACL_OPERATION_READ;
        case KafkaRight::To::write:
            return RD_KAFKA_ACL_OPERATION_WRITE;
        case KafkaRight::To::describe:
            break;
    }
    return RD_KAFKA_ACL_OPERATION_DESCRIBE;
}

/// `make` is rd_kafka_AclBinding_new or rd_kafka_AclBindingFilter_new.
template <class Make>
Acl binding(const KafkaRight& right, Make make) {
    std::array<char, 512> why{};
    Acl made(make(resource(right), right.name.c_str(), RD_KAFKA_RESOURCE_PATTERN_LITERAL, right.user.c_str(),
                  "*", operation(right), RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW, why.data(), why.size()));
    if (!made) throw std::runtime_error(why.data());
    return made;
}

KafkaEvent answer(const KafkaQueue& queue, const std::string& what) {
    KafkaEvent event(rd_kafka_queue_poll(queue.get(), answer_ms));
    if (!event) throw std::runtime_error(what + ": no answer");
    if (const auto error = rd_kafka_event_error(event.get())) throw_kafka(what, error);
    return event;
}

}  // namespace

KafkaAcls::KafkaAcls(const std::string& bootstrap)
    : client_(make_kafka_client(RD_KAFKA_PRODUCER, {{"bootstrap.servers", bootstrap}}).release(),
              rd_kafka_destroy) {}

void KafkaAcls::grant(const KafkaRight& right) const {
    const Acl wanted = binding(right, rd_kafka_AclBinding_new);
    rd_kafka_AclBinding_t* all[] = {wanted.get()};
    const KafkaQueue queue(rd_kafka_queue_new(client_.get()));
    rd_kafka_CreateAcls(client_.get(), all, 1, nullptr, queue.get());
    const auto event = answer(queue, "granting a right");
    std::size_t count = 0;
    const auto* const results =
        rd_kafka_CreateAcls_result_acls(rd_kafka_event_CreateAcls_result(event.get()), &count);
    if (const auto* const error = rd_kafka_acl_result_error(results[0]))
        throw_kafka("granting a right", rd_kafka_error_code(error));
}

void KafkaAcls::revoke(const KafkaRight& right) const {
    const Acl wanted = binding(right, rd_kafka_AclBindingFilter_new);
    rd_kafka_AclBindingFilter_t* all[] = {wanted.get()};
    const KafkaQueue queue(rd_kafka_queue_new(client_.get()));
    rd_kafka_DeleteAcls(client_.get(), all, 1, nullptr, queue.get());
    const auto event = answer(queue, "revoking a right");
    std::size_t count = 0;
    const auto* const results =
        rd_kafka_DeleteAcls_result_responses(rd_kafka_event_DeleteAcls_result(event.get()), &count);
    if (const auto* const error = rd_kafka_DeleteAcls_result_response_error(results[0]))
        throw_kafka("revoking a right", rd_kafka_error_code(error));
    std::size_t gone = 0;
    rd_kafka_DeleteAcls_result_response_matching_acls(results[0], &gone);
    if (gone == 0) throw std::runtime_error("revoking a right: it was not there");
}

}  // namespace epilogue::testing
