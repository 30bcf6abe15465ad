#include "agent/relay/kafka_topic.h"

#include <list>
#include <mutex>
#include <utility>
#include <vector>

#include "base/io/kafka_async_producer.h"

namespace epilogue::relay {
namespace {

using Clock = std::chrono::steady_clock;

std::size_t size_of(const TopicRecord& record) {
    constexpr std::size_t bookkeeping = 256;
    std::size_t size = bookkeeping + record.conversation_id.size() + record.value.size();
    for (const auto& [name, text] : record.headers) size += name.size() + text.size();
    return size;
}

}  // namespace

class KafkaTopic::UnderWay {
  public:
    explicit UnderWay(KafkaTopicRules rules) : rules_(std::move(rules)) {}

    Result<void> open(const KafkaSettings& settings) {
        TRY(producer_,
            KafkaAsyncProducer::open(settings, {rules_.topic, rules_.delivered_within, "relay-produce"}));
        return {};
    }

    bool produce(TopicRecord record, Settled settled) {
        const std::size_t size = size_of(record);
        // Held until the producer has the record: the order of taking is the order of sending.
        const std::lock_guard order(order_mutex_);
        std::list<Clock::time_point>::iterator place;
        {
            const std::lock_guard lock(mutex_);
            if (!has_room() && bytes_ + size > rules_.max_bytes) return false;
            bytes_ += size;
            place = since_.insert(since_.end(), Clock::now());
        }
        producer_->produce(
            {std::move(record.conversation_id), std::move(record.value), std::move(record.headers)},
            [this, size, place, settled = std::move(settled)](const Result<void>& answer) {
                rules_.settled(answer);
                settled(answer);
                forget(size, place);
            });
        return true;
    }

    void when_room(std::function<void()> listener) {
        const std::lock_guard lock(mutex_);
        if (has_room())
            producer_->call_soon(std::move(listener));
        else
            listeners_.push_back(std::move(listener));
    }

    std::size_t bytes() const {
        const std::lock_guard lock(mutex_);
        return bytes_;
    }

    std::chrono::duration<double> oldest() const {
        const std::lock_guard lock(mutex_);
        return since_.empty() ? std::chrono::duration<double>{} : Clock::now() - since_.front();
    }

  private:
    /// Half of it is free: then a record is taken, however large it is.
    bool has_room() const { return bytes_ <= rules_.max_bytes / 2; }

    void forget(std::size_t size, std::list<Clock::time_point>::iterator place) {
        std::vector<std::function<void()>> listeners;
        {
            const std::lock_guard lock(mutex_);
            bytes_ -= size;
            since_.erase(place);
            if (has_room()) listeners.swap(listeners_);
        }
        for (const auto& listener : listeners) listener();
    }

    const KafkaTopicRules rules_;
    std::mutex order_mutex_;
    mutable std::mutex mutex_;
    std::size_t bytes_ = 0;
    std::list<Clock::time_point> since_;  ///< when each record under way was taken, oldest first
    std::vector<std::function<void()>> listeners_;
    std::unique_ptr<KafkaAsyncProducer> producer_;  ///< the last member: it tells the others to its end
};

KafkaTopic::KafkaTopic(std::unique_ptr<UnderWay> under_way) : under_way_(std::move(under_way)) {}
KafkaTopic::~KafkaTopic() = default;

Result<std::unique_ptr<KafkaTopic>> KafkaTopic::open(const KafkaSettings& settings, KafkaTopicRules rules) {
    auto under_way = std::make_unique<UnderWay>(std::move(rules));
    TRY_VOID(under_way->open(settings));
    return std::unique_ptr<KafkaTopic>(new KafkaTopic(std::move(under_way)));
}

bool KafkaTopic::produce(TopicRecord record, Settled settled) {
    return under_way_->produce(std::move(record), std::move(settled));
}
void KafkaTopic::when_room(std::function<void()> listener) {
    under_way_->when_room(std::move(listener));
}
std::size_t KafkaTopic::bytes_under_way() const {
    return under_way_->bytes();
}
std::chrono::duration<double> KafkaTopic::oldest_under_way() const {
    return under_way_->oldest();
}

}  // namespace epilogue::relay
