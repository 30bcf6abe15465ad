#include "worker/consume/dead_letter_topic.h"

#include <chrono>

#include "base/io/log.h"
#include "base/stoppable_wait.h"
#include "base/thread_name.h"

namespace epilogue {
namespace {

constexpr std::chrono::seconds between_answers{1};
constexpr std::chrono::seconds last_answers{1};

void log_lost_copy(const std::string& why) {
    log_warn("a dead letter was not copied to its topic", {{"why", why}});
}

}  // namespace

DeadLetterTopic::~DeadLetterTopic() {
    if (!producer_) return;
    listener_ = {};
    producer_->flush(last_answers);
    log_refused();
}

void DeadLetterTopic::copy(const DeadLetterRow& letter) {
    if (topic_.empty()) return;
    const std::lock_guard lock(mutex_);
    if (!is_open()) return;
    const auto produced = producer_->produce(letter.key.value_or(""), letter.value,
                                             {{"reason", letter.reason},
                                              {"topic", letter.topic},
                                              {"partition", std::to_string(letter.partition)},
                                              {"offset", std::to_string(letter.offset.value)}});
    if (!produced) log_lost_copy(produced.error().text);
}

bool DeadLetterTopic::is_open() {
    if (producer_) return true;
    auto opened = KafkaProducer::open(settings_, topic_);
    if (!opened) {
        log_warn("the dead letter topic cannot be written", {{"why", opened.error().text}});
        return false;
    }
    producer_ = std::move(*opened);
    listener_ = named_thread("dead-letters", [this](const std::stop_token& stop) { listen(stop); });
    return true;
}

void DeadLetterTopic::listen(const std::stop_token& stop) {
    while (wait_or_stop(stop, between_answers)) {
        const std::lock_guard lock(mutex_);
        producer_->take_answers();
        log_refused();
    }
}

void DeadLetterTopic::log_refused() {
    for (; refused_logged_ < producer_->refused(); ++refused_logged_) log_lost_copy(producer_->last_error());
}

}  // namespace epilogue
