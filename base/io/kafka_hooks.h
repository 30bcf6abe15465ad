// What one client's callbacks need and learn: librdkafka tells why a connection failed only on the side, in
// log lines and error events, and asks for OAuth tokens by a callback.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <librdkafka/rdkafka.h>

#include "base/io/kafka.h"

namespace epilogue {

/// Outlives its client. Thread-safe: librdkafka calls back on its own threads.
class KafkaHooks {
  public:
    /// `token` is asked for the tokens of SASL OAUTHBEARER; null where librdkafka's own way holds.
    /// `owner` is what the client's other callbacks work on.
    explicit KafkaHooks(KafkaTokenSource token = nullptr, void* owner = nullptr)
        : token_(std::move(token)), owner_(owner) {}

    /// The owner, for a callback that was given the client's opaque pointer.
    template <class Owner>
    static Owner* owner_of(void* opaque) {
        return static_cast<Owner*>(static_cast<KafkaHooks*>(opaque)->owner_);
    }

    /// Sets the client's callbacks and its opaque pointer, which are ours from now on.
    void install(rd_kafka_conf_t* conf);
    /// After the client was made: lets it ask for tokens on a thread of its own.
    void start(rd_kafka_t* client) const;

    /// Why connecting failed last, in the client's words; "" when nothing was said since the last forget().
    std::string last_failure() const;
    /// The same, once for each failure: "" when it was asked for since.
    std::string take_news();
    /// `what` and, when one is known, the last failure behind a colon.
    std::string with_reason(const std::string& what) const;
    /// Called when a broker has answered: what was said before is over.
    void forget();

  private:
    static void on_log(const rd_kafka_t* client, int level, const char* facility, const char* text);
    static void on_error(rd_kafka_t* client, int error, const char* reason, void* opaque);
    static void on_token_wanted(rd_kafka_t* client, const char* config, void* opaque);
    void failed(std::string_view reason);

    const KafkaTokenSource token_;
    void* const owner_;
    mutable std::mutex mutex_;
    std::string protocol_;  ///< security.protocol; set before there is a client
    std::string last_failure_;
    bool is_news_ = false;
};

/// The client's text without what changes from one try to the next: its thread, and how long it tried.
std::string without_noise(std::string_view text);

}  // namespace epilogue
