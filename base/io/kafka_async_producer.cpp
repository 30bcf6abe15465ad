#include "base/io/kafka_async_producer.h"

#include <mutex>
#include <thread>

#include "base/io/kafka_conf.h"
#include "base/io/kafka_send.h"
#include "base/io/log.h"
#include "base/stoppable_wait.h"
#include "base/thread_name.h"

namespace epilogue {
namespace {

/// A record that was taken, until its report.
struct Taken {
    KafkaRecord record;
    KafkaAsyncProducer::Answered answered;
};

using SharedClient = std::shared_ptr<rd_kafka_t>;

}  // namespace

class KafkaAsyncProducer::Clients {
  public:
    Clients(KafkaSettings settings, AsyncProducerRules rules)
        : settings_(std::move(settings)), rules_(std::move(rules)), hooks_(settings_.token, this) {}
    ~Clients() {
        thread_.request_stop();
        if (thread_.joinable()) thread_.join();
        if (client_) give_up(*client_);
        call_what_is_due();
    }
    Clients(const Clients&) = delete;
    Clients& operator=(const Clients&) = delete;

    Result<void> start() {
        TRY(client_, open());
        thread_ = named_thread(rules_.thread_name, [this](const auto& stop) { run(stop); });
        return {};
    }

    void produce(std::unique_ptr<Taken> taken) {
        const SharedClient client = current();
        const KafkaRecord& record = taken->record;
        const KafkaSendError error = kafka_send(
            client.get(), {rules_.topic, record.key, record.value, record.headers, 0, taken.get()});
        if (!error) {
            (void)taken.release();  // on_delivery() takes it back
            return;
        }
        const std::string why = why_not_delivered(client.get(), rd_kafka_error_code(error.get()));
        call_soon([this, why, refused = std::shared_ptr<Taken>(std::move(taken))] {
            refused->answered(failed(why));
        });
    }

    void call_soon(std::function<void()> what) {
        const std::lock_guard lock(mutex_);
        soon_.push_back(std::move(what));
    }

  private:
    Result<SharedClient> open() {
        KafkaSettings settings = settings_;
        settings.properties.try_emplace("compression.type", "zstd");
        settings.properties.try_emplace("queue.buffering.max.messages", "0");
        settings.properties.try_emplace("queue.buffering.max.kbytes", "2097151");
        settings.properties["message.timeout.ms"] = std::to_string(rules_.delivered_within.count());
        TRY(auto conf, producer_conf(settings));
        rd_kafka_conf_set_dr_msg_cb(conf.get(), &Clients::on_delivery);
        TRY(KafkaClient client, kafka_client(RD_KAFKA_PRODUCER, std::move(conf), hooks_));
        return SharedClient(std::move(client));
    }

    SharedClient current() const {
        const std::lock_guard lock(mutex_);
        return client_;
    }

    void run(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            const SharedClient client = current();
            constexpr int look_up_after_ms = 100;
            rd_kafka_poll(client.get(), look_up_after_ms);
            call_what_is_due();
            if (rd_kafka_fatal_error(client.get(), nullptr, 0) != RD_KAFKA_RESP_ERR_NO_ERROR)
                replace(client, stop);
        }
    }

    void replace(const SharedClient& dead, const std::stop_token& stop) {
        log_warn("the producer gave up and is made anew",
                 {{"why", why_not_delivered(dead.get(), RD_KAFKA_RESP_ERR__FATAL)}});
        give_up(*dead);
        constexpr std::chrono::seconds not_more_often_than{1};
        wait_or_stop(stop, not_more_often_than);
        auto next = open();
        if (!next) return;  // the dead one refuses whatever comes until the next try
        const std::lock_guard lock(mutex_);
        client_ = std::move(*next);
    }

    /// Lets the client report all that it has as given up.
    static void give_up(rd_kafka_t& client) {
        rd_kafka_purge(&client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        constexpr int at_once_ms = 100;
        while (rd_kafka_outq_len(&client) > 0) rd_kafka_poll(&client, at_once_ms);
    }

    void call_what_is_due() {
        std::vector<std::function<void()>> due;
        {
            const std::lock_guard lock(mutex_);
            due.swap(soon_);
        }
        for (const auto& what : due) what();
    }

    Failure failed(const std::string& why) const { return retryable("Kafka: " + hooks_.with_reason(why)); }

    static void on_delivery(rd_kafka_t* client, const rd_kafka_message_t* message, void* opaque) {
        auto& self = *KafkaHooks::owner_of<Clients>(opaque);
        const std::unique_ptr<Taken> taken(static_cast<Taken*>(message->_private));
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            self.hooks_.forget();
            taken->answered({});
        } else {
            taken->answered(self.failed(why_not_delivered(client, message->err)));
        }
    }

    const KafkaSettings settings_;
    const AsyncProducerRules rules_;
    KafkaHooks hooks_;
    mutable std::mutex mutex_;
    SharedClient client_;
    std::vector<std::function<void()>> soon_;
    std::jthread thread_;
};

KafkaAsyncProducer::KafkaAsyncProducer(std::unique_ptr<Clients> clients) : clients_(std::move(clients)) {}
KafkaAsyncProducer::~KafkaAsyncProducer() = default;

Result<std::unique_ptr<KafkaAsyncProducer>> KafkaAsyncProducer::open(const KafkaSettings& settings,
                                                                     AsyncProducerRules rules) {
    auto clients = std::make_unique<Clients>(settings, std::move(rules));
    TRY_VOID(clients->start());
    return std::unique_ptr<KafkaAsyncProducer>(new KafkaAsyncProducer(std::move(clients)));
}

void KafkaAsyncProducer::produce(KafkaRecord record, Answered answered) {
    clients_->produce(std::make_unique<Taken>(Taken{std::move(record), std::move(answered)}));
}

void KafkaAsyncProducer::call_soon(std::function<void()> what) {
    clients_->call_soon(std::move(what));
}

}  // namespace epilogue
