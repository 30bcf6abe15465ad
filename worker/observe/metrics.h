// The counters and gauges of /metrics by their meaning. Never a label per conversation.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace epilogue {

/// Parked deliveries of one sink for one reason.
struct ParkedKind {
    std::string sink;
    std::string why;
    double count = 0;
};

/// Deliveries of one sink that are not final.
struct UndeliveredKind {
    std::string sink;
    std::map<std::string, double> counts;  ///< by state
    double oldest = 0;                     ///< seconds
};

/// A breaker that is open: a platform is down for one kind of call of one credential.
struct OpenBreaker {
    std::string sink;
    std::string credential;  ///< its name, which shows no secret
    std::string calls;       ///< "posts" or "look-ups"
};

/// Thread-safe.
class Metrics {
  public:
    Metrics();
    ~Metrics();
    Metrics(const Metrics&) = delete;
    Metrics& operator=(const Metrics&) = delete;

    // --- records and turns
    /// Records consumed, by schema ("v0", "v1") and what became of them.
    void events(const std::string& schema, const std::string& outcome, double count);
    /// A turn that ended, by its verdict.
    void transition(std::string_view verdict);
    /// A record that became a dead letter.
    void dead_letter(const std::string& reason);
    /// Gauge: turns whose timeout the mass-timeout guard suspends, of the partitions that this worker owns.
    void timeouts_held(double turns);
    void forget_timeouts_held();  ///< the database does not say how many there are
    /// A callback row that another program wrote and a worker adopted.
    void adopted();

    // --- deliveries
    /// Deliveries that entered the state.
    void delivery_entered(const std::string& sink, std::string_view state, double rows = 1);
    /// Series of a sink's requests that begin at 0, so that the first failure is an increase like any other:
    /// the classes of answers to posts, the results of look-ups.
    void expect_sink(const std::string& sink, const std::vector<std::string>& classes,
                     const std::vector<std::string>& results);
    /// A request that posts, by the class of its answer.
    void attempt(const std::string& sink, std::string_view answer);
    /// A look-up on the platform, by result.
    void lookup(const std::string& sink, std::string_view result);
    /// A duplicate post that was removed.
    void healed(const std::string& sink);
    /// Duplicates that were prevented: `where` is "event", "ledger" or "lookup".
    void suppressed(std::string_view where, double count = 1);
    /// Time that one call of a sink took: `call` is "post" or "look_up".
    void called(const std::string& sink, std::string_view call, std::chrono::duration<double> seconds);
    /// Time from the event that ended a turn, by its record, until its post was known to be visible.
    void visible_after_event(const std::string& sink, std::chrono::duration<double> seconds);
    /// Time from the transaction that counted a turn until its post was known to be visible.
    void visible_after(const std::string& sink, std::chrono::duration<double> seconds);

    // --- the database
    /// Time that a COMMIT took.
    void committed(std::chrono::duration<double> seconds);
    /// A COMMIT whose answer was lost.
    void ambiguous_commit();
    /// A transaction that was undone and runs again, by cause.
    void undone(std::string_view cause);

    // --- the consumer group and the log
    /// An assignment or a revocation.
    void rebalance();
    /// A transaction that was refused because a newer owner exists.
    void fenced();
    /// A partition whose topic was made anew, or that is another cluster's.
    void log_replaced();
    /// Offsets that retention removed before they were read.
    void offset_gap(double offsets);
    /// A partition whose position in these tables another group had.
    void group_changed();
    /// A partition that came after the topic was first seen.
    void partition_added();
    /// Gauge: records between the stored position and the log's end.
    void consumer_lag(const std::string& topic, int partition, double records);
    /// Gauge: for how long at most the oldest record that is not applied has been there; 0 when there is
    /// none.
    void consumer_lag_seconds(const std::string& topic, int partition, double seconds);
    /// Removes both gauges of a partition that this worker no longer has.
    void forget_lag(const std::string& topic, int partition);

    /// Rows that the janitor removed: "dead_letter", "body", "summary", "conversation" or "delivery".
    void retention_removed(std::string_view what, double count);

    // --- agent servers
    /// A request for a conversation's log that is over, by reason and result.
    void catch_up(std::string_view why, std::string_view result);
    /// A summary that was made, by its source and how.
    void summary(const std::string& source, std::string_view result);
    /// A summary source was asked, and what came of it.
    void summary_asked(std::string_view source, std::string_view result);
    /// What a named model charged for one answer. `cost`: in the currency of its prices.
    void llm_used(std::string_view model, std::int64_t tokens_in, std::int64_t tokens_out, double cost);

    // --- gauges of the pool: set by the worker that holds partition 0, removed by the others
    /// Replaces the counts of deliveries that are not final, and the age of each sink's oldest. One thread.
    void undelivered(const std::vector<UndeliveredKind>& kinds);
    /// Callbacks whose conversation may lie in a gap of the log, and whose agent server has not answered yet.
    void gap_callbacks_remaining(double callbacks);
    /// Replaces the counts of conversations whose agent server was asked in vain, by hindrance. One thread.
    void catch_ups_hindered(const std::vector<std::pair<std::string, double>>& conversations);
    /// Replaces the counts of parked deliveries. One thread.
    void parked(const std::vector<ParkedKind>& kinds);
    /// Replaces what is said of open breakers. One thread.
    void breakers(const std::vector<OpenBreaker>& open);
    /// Removes the pool's gauges.
    void forget_pool();

    /// Gauge: whether /readyz answers 200.
    void ready(bool is_ready);

    /// Prometheus text format 0.0.4, with the process's own metrics (process_metrics.h).
    std::string text() const;

  private:
    struct Families;
    std::unique_ptr<Families> families_;
};

}  // namespace epilogue
