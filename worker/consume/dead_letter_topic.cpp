#include "worker/consume/dead_letter_topic.h"

#include "base/io/log.h"

namespace epilogue {

void DeadLetterTopic::copy(const DeadLetterRow& letter) {
    if (topic_.empty()) return;
    if (!producer_) {
        auto opened = KafkaProducer::open(settings_, topic_);
        if (!opened) {
            log_warn("the dead letter topic cannot be written", {{"why", opened.error().text}});
            return;
        }
        producer_ = std::move(*opened);
    }
    const auto produced = producer_->produce(letter.key.value_or(""), letter.value,
                                             {{"reason", letter.reason},
                                              {"topic", letter.topic},
                                              {"partition", std::to_string(letter.partition)},
                                              {"offset", std::to_string(letter.offset.value)}});
    if (!produced) log_warn("a dead letter was not copied to its topic", {{"why", produced.error().text}});
}

}  // namespace epilogue
