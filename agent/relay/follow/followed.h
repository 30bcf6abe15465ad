// One conversation that is followed: does what its plan wants done. For the follower's own files.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <utility>  // before Asio: Boost 1.74 uses std::exchange without it

#include <boost/asio/steady_timer.hpp>

#include "agent/relay/follow/loop.h"
#include "agent/relay/follow/plan.h"
#include "agent/relay/lag.h"
#include "agent/relay/positions.h"
#include "agent/socket_connection.h"

namespace epilogue::relay {

/// Lives on its loop's thread; what is said to be thread-safe may be called on any.
class Followed : public std::enable_shared_from_this<Followed> {
  public:
    using Clock = std::chrono::steady_clock;

    /// What the keeper of positions has to know.
    struct Report {
        PositionUpdate update;
        bool is_new = false;                         ///< since the last one
        std::chrono::milliseconds lag{0};            ///< for how long what is behind has been
        std::optional<std::chrono::seconds> over{};  ///< it cannot be followed: not to be tried before that
    };

    Followed(std::shared_ptr<Loop> loop, RequestPool& pool, Claim claim,
             std::shared_ptr<const agent::AgentServer> server, Clock::time_point lease_end);

    /// Thread-safe; nothing is produced after the loop has come to it.
    void start();
    void stop();
    /// Thread-safe: the lease goes on until then.
    void renewed(Clock::time_point lease_end);
    /// Thread-safe.
    Report report();
    /// Thread-safe: the last report is to be made once more.
    void not_stored();
    const Claim& claim() const { return claim_; }

    /// The topic has room again, or the lease goes on.
    void go_on();

  private:
    void post(std::function<void(Followed&)> work);
    void after(std::chrono::milliseconds pause, std::function<void(Followed&)> work);
    void ask_features();
    void begin(const agent::Features& features);
    void happened(Happening happening);
    void carry_out(Effects effects);
    void carry_out(Produce&& record);
    void carry_out(OpenSocket&& open);
    void carry_out(ReadPage&& page);
    void carry_out(AskCount&& ask);
    void carry_out(SetTimer&& set);
    void carry_out(Moved&& moved);
    void carry_out(GapSeen&& gap);
    void carry_out(Ended&& ended);
    bool send(const Produce& record);
    void clear_outbox();
    bool may_produce() const;
    void connect();
    void connection_ended(const agent::ConnectionEnd& end);
    void frame(const std::string& text);
    void read_if_room();
    void failed(const agent::AgentError& error);
    void over(std::string why, std::chrono::seconds pause);
    /// Of what: a frame says nothing of the log's reading, and a page nothing of the socket.
    enum class Of { socket, reading };
    /// `why`: "": it is over.
    void in_trouble(Of what, std::string why);
    void note_behind();
    void finish();

    const std::shared_ptr<Loop> loop_;
    RequestPool& pool_;
    const Claim claim_;
    const std::shared_ptr<const agent::AgentServer> server_;
    Clock::time_point lease_end_;
    bool stopped_ = false;
    bool is_session_ = false;
    bool is_finished_ = false;  ///< FollowRules::until_caught_up
    std::unique_ptr<FollowPlan> plan_;

    std::deque<Produce> outbox_;  ///< the topic had no room
    bool sending_ = false;
    std::optional<ReadPage> page_wanted_;
    std::uint64_t pages_asked_ = 0;
    std::uint64_t counts_asked_ = 0;

    agent::SocketTarget target_;
    agent::SocketLimits limits_;
    std::shared_ptr<agent::Connection> connection_;
    std::uint64_t connections_ = 0;
    int failures_ = 0;  ///< connections in a row without a frame
    std::mt19937_64 random_{std::random_device{}()};
    boost::asio::steady_timer connect_at_;
    std::array<boost::asio::steady_timer, 3> timers_;  ///< Timer::look, Timer::again, and our own

    std::mutex mutex_;
    Report report_;
    Lag lag_;
    std::array<std::string, 2> troubles_;  ///< by Of
    std::optional<Clock::time_point> trouble_since_;
};

}  // namespace epilogue::relay
