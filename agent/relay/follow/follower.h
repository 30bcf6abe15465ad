// The follower: reads the logs of all conversations that are its own into the topic, and keeps their
// positions. Any number of them share the work through Positions; each conversation has one of them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agent/relay/follow/follow_rules.h"
#include "agent/relay/positions.h"
#include "agent/relay/topic.h"

namespace epilogue::relay {

class Loop;
class Followed;
class RequestPool;
struct FollowShared;

class Follower {
  public:
    /// Begins at once, on threads of its own. `positions` and `topic` have to outlive it.
    Follower(Positions& positions, Topic& topic, RecordMaker make_record, FollowRules rules = {},
             FollowObserver observer = {});
    /// Ends without releasing anything, as a kill would: what it holds is free when its leases end.
    ~Follower();
    Follower(const Follower&) = delete;
    Follower& operator=(const Follower&) = delete;

    /// Ends, stores the positions, and releases everything for others to take at once.
    void stop();

    /// Thread-safe. How many conversations are followed now.
    std::size_t followed() const;
    /// Thread-safe. Why positions could not be stored or claimed the last time; "": they could.
    std::string trouble() const;

  private:
    using Clock = std::chrono::steady_clock;

    void run(const std::stop_token& stop);
    Result<void> keep(Clock::time_point now);
    Result<void> discover();
    Result<void> renew();
    Result<void> save();
    Result<void> release(const std::vector<std::shared_ptr<Followed>>& over, bool moved = false);
    void follow(Claim claim, Clock::time_point lease_end);
    void drop(const std::string& conversation_id);
    void drop_fenced(const ConversationId& conversation);
    std::shared_ptr<const agent::AgentServer> server_at(const std::string& url, const Secret& key);
    void forget_servers();
    void end_threads();

    Positions& positions_;
    const std::string owner_;
    const std::shared_ptr<FollowShared> shared_;
    std::unique_ptr<RequestPool> pool_;
    std::vector<std::shared_ptr<Loop>> loops_;
    mutable std::mutex mutex_;
    std::map<std::string, std::shared_ptr<Followed>> followed_;  ///< by conversation; of the keeper's thread
    std::size_t count_ = 0;
    bool begun_ = false;
    std::string trouble_;
    /// By address and key: a server is asked only once what it can do.
    std::map<std::pair<std::string, std::string>, std::shared_ptr<const agent::AgentServer>> servers_;
    Clock::time_point discover_at_{};
    Clock::time_point renew_at_{};
    std::jthread keeper_;
};

}  // namespace epilogue::relay
