// From an owed summary to a frozen one: lease -> ask the agent server -> freeze, and release the turn's
// posts. One transaction a step; no database session is held over HTTP. Whatever the server says or does not
// say, the summary that the log alone made is there; it is frozen at the deadline at the latest, by the
// summariser or by the sender whose post falls due (freeze.h).
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "worker/core/phrases.h"
#include "worker/sources/final_message_source.h"
#include "worker/store/delivery_rows.h"
#include "worker/store/store.h"
#include "worker/store/summary_rows.h"

namespace epilogue {

/// Of an agent's final message no more bytes are taken from its server.
constexpr std::size_t max_final_bytes = std::size_t{64} << 10U;

struct SummariserRules {
    std::string owner;
    std::chrono::milliseconds lease{60'000};      ///< also: how long one question may take
    std::chrono::milliseconds deadline{120'000};  ///< since the turn was counted: AskRules::deadline
    Language language = Language::english;        ///< of our own words
    /// May be called from any thread.
    std::function<std::chrono::steady_clock::time_point()> steady = [] {
        return std::chrono::steady_clock::now();
    };
};

/// What a summariser tells its observer. Every function may be called from any of its threads.
struct SummariserObserver {
    /// A summary was frozen: its source (final or digest), and the kind of the server's reply.
    std::function<void(const std::string& source, std::string_view result)> froze = [](auto&&, auto) {};
    /// A delivery of a turn whose summary was frozen: it is due now.
    std::function<void(const DeliveryRow&)> released = [](auto&&) {};
};

/// Thread-safe: summaries are independent of each other.
class Summariser {
  public:
    Summariser(Store& store, FinalMessageSource& final_messages, SummariserRules rules,
               SummariserObserver observer)
        : store_(store),
          final_messages_(final_messages),
          rules_(std::move(rules)),
          observer_(std::move(observer)) {}

    /// Leases the turn's summary, asks, and freezes it; returns at once when it is frozen or leased by
    /// another worker. A stop releases it for other workers. True when it did something. Errors: the
    /// database's; the summary then waits for its lease to pass.
    Result<bool> work_at(const TurnId& turn, const std::stop_token& stop);

  private:
    struct Job;

    Result<bool> lease(const TurnId& turn, Job& job);
    std::chrono::milliseconds may_ask_for(const Job& job) const;
    Result<void> release(const Job& job);
    Result<void> freeze(const Job& job, const FinalMessageReply& reply);

    Store& store_;
    FinalMessageSource& final_messages_;
    const SummariserRules rules_;
    const SummariserObserver observer_;
};

/// `row` with the words of a reply in it, redacted and cut as stored words are. Without such words the row
/// stays as the log alone made it. Errors: poison, when the row holds no summary.
Result<SummaryRow> with_words_of(const FinalMessageReply& reply, SummaryRow row,
                                 Language language = Language::english);

/// Whether the summary's own words are missing, or may have been cut.
bool lacks_words(const SummaryRow& row);

}  // namespace epilogue
