#include "worker/deliver/topic_client.h"

#include <chrono>
#include <exception>
#include <future>
#include <utility>

#include "base/http_unanswered.h"
#include "base/io/kafka_scan.h"
#include "sinks/port/topic_request.h"

namespace epilogue {
namespace {

HttpAnswer answered(int status) {
    HttpAnswer answer;
    answer.outcome = HttpOutcome::answered;
    answer.status = status;
    return answer;
}

}  // namespace

HttpAnswer TopicClient::answer(const HttpRequest& request) {
    try {
        HttpAnswer answer = request.method == produce_method ? produce(request) : search(request);
        answer.received_at = system_now();
        return answer;
    } catch (const std::exception&) {
        return unanswered(HttpOutcome::uncertain, "out of memory");
    }
}

HttpAnswer TopicClient::produce(const HttpRequest& request) {
    TopicRecord record = topic_record_in(request);
    if (request.timeout < delivered_within_) return unanswered(HttpOutcome::not_sent, "no time left");
    const auto producer = producer_of(record.topic);
    if (!producer) return unanswered(HttpOutcome::not_sent, producer.error().text);
    // The producer may tell of it when this call has ended: both hold the promise.
    const auto told = std::make_shared<std::promise<Result<void>>>();
    auto outcome = told->get_future();
    (*producer)->produce({.key = std::move(record.key),
                          .value = std::move(record.value),
                          .headers = {{"delivery-id", std::move(record.delivery_id)}}},
                         [told](Result<void> result) { told->set_value(std::move(result)); });
    if (outcome.wait_for(request.timeout) != std::future_status::ready)
        return unanswered(HttpOutcome::uncertain, "the broker did not acknowledge the record in time");
    const auto result = outcome.get();
    return result ? answered(found_status) : unanswered(HttpOutcome::uncertain, result.error().text);
}

HttpAnswer TopicClient::search(const HttpRequest& request) const {
    const TopicRecord wanted = topic_record_in(request);
    const auto until = KafkaScan::Clock::now() + request.timeout;
    const auto unread = [](const Error& why) { return unanswered(HttpOutcome::uncertain, why.text); };
    auto scan = KafkaScan::open(settings_, wanted.topic);
    if (!scan) return unread(scan.error());
    const auto partitions = (*scan)->partitions(until);
    if (!partitions) return unread(partitions.error());
    // All of them: their number may have changed since, and with it the key's partition.
    bool is_found = false;
    for (int partition = 0; partition < *partitions && !is_found; ++partition) {
        const auto part = (*scan)->read(partition, search_since(request), until, [&](const RecordView& seen) {
            is_found = seen.key == wanted.key && seen.value == wanted.value;
            return !is_found;
        });
        if (!part) return unread(part.error());
        if (!is_found && !part->is_whole())
            return unanswered(HttpOutcome::uncertain, "the topic's end could not be read in time");
    }
    return answered(is_found ? found_status : absent_status);
}

Result<KafkaAsyncProducer*> TopicClient::producer_of(const std::string& topic) {
    const std::lock_guard lock(mutex_);
    auto& producer = producers_[topic];
    if (!producer) {
        TRY(producer, KafkaAsyncProducer::open(settings_, {.topic = topic,
                                                           .delivered_within = delivered_within_,
                                                           .thread_name = "outcomes"}));
    }
    return producer.get();
}

}  // namespace epilogue
