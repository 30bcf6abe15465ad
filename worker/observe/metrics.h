// The counters and gauges of /metrics by their meaning. Never a label per conversation.
#pragma once

#include <chrono>
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
    /// A callback row that another program wrote and a worker adopted.
    void adopted();

    // --- deliveries
    /// Deliveries that entered the state.
    void delivery_entered(const std::string& sink, std::string_view state, double rows = 1);
    /// A request that posts, by the class of its answer.
    void attempt(const std::string& sink, std::string_view answer);
    /// A look-up on the platform, by result.
    void lookup(const std::string& sink, std::string_view result);
    /// A duplicate post that was removed.
    void healed(const std::string& sink);
    /// Duplicates that were prevented: `where` is "event", "ledger" or "lookup".
    void suppressed(std::string_view where, double count = 1);
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
    /// Removes that gauge of a partition that this worker no longer has.
    void forget_lag(const std::string& topic, int partition);

    // --- agent servers
    /// A request for a conversation's log that is over, by reason and result.
    void catch_up(std::string_view why, std::string_view result);
    /// A summary that was made, by its source and how.
    void summary(const std::string& source, std::string_view result);

    // --- gauges of the pool: set by the worker that holds partition 0, removed by the others
    void undelivered(std::string_view state, double count);
    /// Age of the oldest delivery that is not final.
    void oldest_undelivered(double seconds);
    /// Replaces the counts of parked deliveries. One thread.
    void parked(const std::vector<ParkedKind>& kinds);
    /// Removes the pool's gauges.
    void forget_pool();

    /// Gauge: whether /readyz answers 200.
    void ready(bool is_ready);

    /// Prometheus text format 0.0.4.
    std::string text() const;

  private:
    struct Families;
    std::unique_ptr<Families> families_;
};

}  // namespace epilogue
