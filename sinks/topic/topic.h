// The `topic` processor: the outcome as a record of a Kafka topic. Analytics and billing start from it.
// (sinks.md §2.3)
#pragma once

#include <string>

#include "base/ids.h"
#include "sinks/port/sink.h"

namespace epilogue {

/// The one place there is.
struct TopicTarget {
    bool operator==(const TopicTarget&) const = default;
    /// "": the sink's name says it.
    std::string describe() const { return {}; }
};

/// Its requests are records to be produced and looked for (sinks/port/topic_request.h). A record stays, so
/// none is ever removed.
class TopicSink final : public Sink {
  public:
    /// An empty `topic`: every write is unauthorised, without a request.
    explicit TopicSink(std::string topic) : topic_(std::move(topic)) {}

    /// The outcome as JSON: sinks/format/outcome_body.h.
    std::string render(const Summary& summary, const DeliveryId& delivery_id) const override;
    /// Looks for the very record, from five minutes before the first attempt to the topic's end.
    Dialogue<LookupResult> find(Post post) override;
    /// Produces one record: the conversation's id its key, the delivery's a header.
    Dialogue<Attempt> create(Post post) override;
    /// False: what is produced stays.
    Dialogue<bool> remove(Post post, Receipt duplicate) override;
    /// The topic is one credential: while it cannot be written, it is tried by one record of the whole pool.
    Quota quota(const Target& target) const override;
    /// Whether the topic's end can be read.
    std::vector<Dialogue<TokenStatus>> check_tokens() override;
    DuplicateCheck duplicate_check() const override { return DuplicateCheck::never; }

  private:
    static Dialogue<TokenStatus> check_topic(std::string topic);

    const std::string topic_;
};

}  // namespace epilogue
