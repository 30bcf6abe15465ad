// The `log` processor: summary and outcome as one line of JSON. Analytics, billing and clean-up hooks start
// from it.
#pragma once

#include <string>

#include "base/ids.h"
#include "sinks/port/sink.h"

namespace epilogue {

/// The one place there is.
struct LogTarget {
    bool operator==(const LogTarget&) const = default;
    /// "": the sink's name says it.
    std::string describe() const { return {}; }
};

/// Its one request is a line (transport.h: log_line). A line that was written cannot be looked up, so this
/// sink is at-least-once: find() sees nothing, and an attempt whose end is unknown (a worker killed between
/// the line and its record) is made again, with the same `delivery_id` in the line, by which readers drop
/// repeats.
class LogSink final : public Sink {
  public:
    /// Headline, words, facts and link in plain text: nothing unseen, no secrets; mentions and comments as
    /// they are. The last line is the outcome (sinks/format/outcome_body.h).
    std::string render(const Summary& summary, const DeliveryId& delivery_id) const override;
    /// Never fails, and never finds anything.
    Dialogue<LookupResult> find(Post post) override;
    /// The line `{"conversation_id": …, "delivery_id": …, "summary": …, "type": …, "data": …}`: sent, under
    /// the delivery's id; to be tried again when it could not be written.
    Dialogue<Attempt> create(Post post) override;
    /// False: what is written stays.
    Dialogue<bool> remove(Post post, Receipt duplicate) override;
    DuplicateCheck duplicate_check() const override { return DuplicateCheck::never; }
};

}  // namespace epilogue
