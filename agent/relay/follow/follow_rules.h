// What the follower is told when it is made.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "agent/relay/follow/plan.h"
#include "agent/relay/topic.h"
#include "agent/server.h"
#include "agent/socket.h"

namespace epilogue::relay {

/// An event of a log, or a run's end, on its way to its record.
struct FollowedEvent {
    const ConversationId& conversation_id;
    std::string_view json;
    std::optional<std::int64_t> seq{};  ///< its index in the server's log
    bool run_over = false;              ///< the snapshot that a server sends when a run is over
};

/// Makes the record; nullopt: such an event has no place in the topic. Called on several threads at once.
using RecordMaker = std::function<std::optional<TopicRecord>(const FollowedEvent&)>;

struct FollowRules {
    /// Names the follower among all that run. One that begins has at once what an earlier one of its name
    /// held.
    /// "": a name of its own.
    std::string owner{};
    int threads = 1;             ///< with a loop each
    int requests = 16;           ///< threads for REST
    std::size_t per_server = 4;  ///< requests at a time
    std::size_t most = 5'000;    ///< conversations
    std::size_t claimed_at_once = 500;
    std::chrono::seconds lease{90};
    std::chrono::milliseconds renew_every{10'000};
    std::chrono::milliseconds discover_every{2'000};
    std::chrono::milliseconds save_every{1'000};
    /// What the topic has taken is in it, or given up, before this is over: nothing is produced under a lease
    /// that ends sooner.
    std::chrono::milliseconds delivery{30'000};
    /// A conversation is released as soon as the topic has all of its log.
    bool until_caught_up = false;
    /// A conversation whose server has been in trouble for so long is released; 0: never.
    std::chrono::milliseconds give_up_after{0};
    /// No log is read while so many bytes of events wait for the topic.
    std::size_t waiting_bytes = std::size_t{32} << 20U;
    agent::Deadlines deadlines{};
    agent::SocketLimits socket{};
    /// Where the servers that conversations name may be (HttpRequest::egress); null: anywhere.
    std::shared_ptr<const EgressRules> egress{};
    PlanRules plan{};
};

/// All that are followed, together.
struct FollowState {
    std::size_t followed = 0;  ///< conversations
    std::int64_t behind = 0;   ///< events that their servers are known to have and the topic has not
    /// For how long the one of these has been known that has waited the longest.
    std::chrono::milliseconds lag{0};
};

/// For metrics; called on threads of the follower, and must return soon.
struct FollowObserver {
    std::function<void(const GapSeen&)> gap = [](const GapSeen&) {};
    std::function<void(const FollowState&)> state = [](const FollowState&) {};  ///< now and then
};

}  // namespace epilogue::relay
