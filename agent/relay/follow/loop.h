// One thread on which many conversations are followed. For the follower's own files.
#pragma once

#include <atomic>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>  // before Asio: Boost 1.74 uses std::exchange without it
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "agent/relay/follow/follow_rules.h"
#include "agent/relay/follow/request_pool.h"

namespace epilogue::relay {

class Followed;

/// What all conversations share. Each that may still be called back holds it.
struct FollowShared {
    Topic& topic;
    const RecordMaker make_record;
    const FollowObserver observer;
    const FollowRules rules;
    std::stop_source requests;                   ///< ends those that are under way
    std::atomic<std::size_t> waiting_bytes = 0;  ///< of events that were read, and not taken by the topic yet
};

class Loop : public std::enable_shared_from_this<Loop> {
  public:
    explicit Loop(std::shared_ptr<FollowShared> shared);
    ~Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    /// Ends the thread as soon as everything on it has ended by itself: see Followed::stop().
    void stop();

    boost::asio::io_context& context() { return context_; }
    FollowShared& shared() { return *shared_; }
    /// On the loop's thread: `who` is told when the topic has room again.
    void wait_for_room(const std::shared_ptr<Followed>& who);

  private:
    void has_room();

    const std::shared_ptr<FollowShared> shared_;
    boost::asio::io_context context_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{context_.get_executor()};
    std::vector<std::weak_ptr<Followed>> waiting_;
    std::jthread thread_;
};

}  // namespace epilogue::relay
