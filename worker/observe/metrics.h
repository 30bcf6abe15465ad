// The counters of contract §7 by their meaning. Never a label per conversation.
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

    void events(const std::string& schema, const std::string& outcome, double count);
    void transition(std::string_view verdict);
    void delivery_entered(const std::string& sink, std::string_view state, double rows = 1);
    void attempt(const std::string& sink, std::string_view answer);
    void lookup(const std::string& sink, std::string_view result);
    void healed(const std::string& sink);
    void suppressed(std::string_view where, double count = 1);
    void visible_after(const std::string& sink, std::chrono::duration<double> seconds);
    void dead_letter(const std::string& reason);
    void committed(std::chrono::duration<double> seconds);
    void ambiguous_commit();
    void undone(std::string_view cause);
    void rebalance();
    void adopted();
    /// Turns that the mass-timeout guard keeps back, of the partitions this worker owns.
    void timeouts_held(double turns);
    void fenced();
    /// A topic that was made anew, or another cluster.
    void log_replaced();
    /// Offsets that retention removed before they were read.
    void offset_gap(double offsets);
    void group_changed();
    void partition_added();
    /// A question to an agent server that is over.
    void catch_up(std::string_view why, std::string_view result);
    void summary(const std::string& source, std::string_view result);
    void consumer_lag(const std::string& topic, int partition, double records);
    void forget_lag(const std::string& topic, int partition);
    /// Pool-wide gauges: set by the worker that holds them, removed by the others.
    void undelivered(std::string_view state, double count);
    void oldest_undelivered(double seconds);
    /// All kinds of parked deliveries that there are. One thread.
    void parked(const std::vector<ParkedKind>& kinds);
    void forget_pool();
    void ready(bool is_ready);

    /// Prometheus text format 0.0.4.
    std::string text() const;

  private:
    struct Families;
    std::unique_ptr<Families> families_;
};

}  // namespace epilogue
