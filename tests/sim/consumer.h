// One worker's client of the broker: the product's port to a consumer group (base/io/consumer.h) over the
// simulated broker. The product's own poll thread polls it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/io/consumer.h"
#include "tests/sim/broker.h"

namespace epilogue::sim {

class SimConsumer final : public Consumer {
  public:
    /// `wake` is called when a poll would bring something.
    SimConsumer(Broker& broker, Process& process, std::function<void()> wake)
        : broker_(broker), process_(process), wake_(std::move(wake)) {}

    Result<void> join(RebalanceListener listener) override;
    Polled poll(std::chrono::milliseconds wait) override;
    void reset_assignment() override;
    void close(std::chrono::milliseconds deadline) override;
    Result<void> seek(int partition, NextOffset position) override;
    Result<void> pause(int partition) override;
    Result<void> resume(int partition) override;
    Result<void> commit(const std::map<int, NextOffset>& positions,
                        std::optional<std::chrono::milliseconds> wait) override;
    Result<std::optional<NextOffset>> committed(int partition, std::chrono::milliseconds wait) override;
    Result<Watermarks> watermarks(int partition, std::chrono::milliseconds wait) override;
    Result<int> partitions(std::chrono::milliseconds wait) override;
    Result<void> check(std::chrono::milliseconds wait) override;
    std::string cluster_id(std::chrono::milliseconds) override { return "sim"; }
    std::string topic_id(std::chrono::milliseconds) override { return "the-topic"; }
    Result<std::optional<RecordFingerprint>> record_at(int partition, Offset offset,
                                                       std::chrono::milliseconds wait) override;

    // --- for the thread that polls ---
    /// Whether a poll would bring something now.
    bool has_news() const;
    /// How many messages and changes of the assignment polls have brought.
    std::int64_t brought() const { return brought_; }
    bool has_paused() const;

    // --- for the broker ---
    /// The member gives up its partitions at its next poll and calls Broker::rejoined().
    void rebalance();
    void assign(std::uint64_t generation, std::vector<int> partitions);
    void appended(int partition);
    /// The group goes on without the member, which does not know it yet.
    void expel() { is_expelled_ = true; }
    Process& process() { return process_; }

    // --- for the world ---
    bool is_expelled() const { return is_expelled_; }
    /// At its next poll the member loses its partitions and joins the group again.
    void notice_expulsion();
    /// No packet gets through for `time`.
    void cut_off(Micros time);
    bool is_cut_off() const { return cut_off_until_ > process_.schedule().now(); }

  private:
    struct Reading {
        bool paused = true;
        std::int64_t position = 0;                ///< of the next record that a poll brings
        std::int64_t fetched_until = 0;           ///< the records before it are here
        std::optional<NextOffset> end_reached{};  ///< to be told by a poll, after the records
        std::uint64_t epoch = 0;                  ///< a fetch of an earlier one is ignored
        bool fetching = false;

        bool has_news() const { return !paused && (position < fetched_until || end_reached); }
    };
    struct Assignment {
        std::uint64_t generation = 0;
        std::vector<int> partitions;
    };
    void follow_group();
    void take(const std::vector<int>& partitions);
    void give_up(bool lost);
    std::vector<int> assigned() const;
    void fetch_soon(int partition);
    void fetch(int partition, std::uint64_t epoch);
    void commit_later(const std::map<int, NextOffset>& positions);

    Broker& broker_;
    Process& process_;
    const std::function<void()> wake_;
    RebalanceListener listener_;
    std::map<int, Reading> reading_;
    std::uint64_t next_epoch_ = 1;
    std::uint64_t generation_ = 0;          ///< of the group, as this member knows it
    bool must_rejoin_ = false;              ///< a rebalance has begun
    std::optional<Assignment> assignment_;  ///< to be told by a poll
    bool is_expelled_ = false;
    bool knows_expulsion_ = false;
    bool lost_connection_ = false;  ///< to be told by a poll
    bool out_of_range_ = false;     ///< likewise
    std::int64_t brought_ = 0;
    Micros cut_off_until_{0};
    Micros last_commit_lands_{0};
};

}  // namespace epilogue::sim
