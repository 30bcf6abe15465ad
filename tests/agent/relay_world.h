// Real agents on a real agent server, `epilogue relay` that brings what they do into the topic, and a worker
// that posts how it ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/agent/scripted_conversation.h"
#include "tests/support/rig.h"

namespace epilogue::testing {

/// What the relay reads by itself.
enum class Followed { nothing, waited_for, whole_server };

/// By which ways the relay hears of events.
struct RelayDoors {
    bool webhook = false;
    Followed followed = Followed::nothing;
    /// @{ Of tests that stand between the server and the relay: where webhooks are posted, and the relay's
    /// port; 0: at the relay, and a free one.
    unsigned short receiver = 0;
    unsigned short relay_port = 0;
    /// @}
    bool is_compared = false;  ///< the relay knows the server's address by its key, and follows nothing
};

/// The worker is told of no agent server: what it knows came through the topic. Not thread-safe but for
/// missing().
class RelayWorld {
  public:
    /// Starts all of it; `name` as a rig's.
    RelayWorld(const std::string& name, const std::string& version, RelayDoors doors);

    const Rig& rig() const { return rig_; }
    RealServer& server() { return server_; }

    /// Has the ends of that conversation posted to octo/relay#NUMBER.
    void watch(const ScriptedConversation& conversation, std::int64_t number);

    /// What the topic lacks of the logs of the conversations that are watched, or has in another order; "":
    /// nothing. Events count once, where they came first.
    std::string missing(bool in_order) const;

    /// How many records each event has of the logs of the conversations that are watched.
    std::vector<int> times_told() const;
    /// What `relay --once` says of a server that it brings once more.
    std::string bring_once() const;

    /// A series of the relay's /metrics; 0: there is none.
    double relay_metric(const std::string& series) const;

    /// What is known when something does not come.
    std::string report();

    /// Ends the relay by SIGKILL.
    void kill_relay();
    void start_relay();

  private:
    std::string server_url() const;
    /// Conversations whose turn is open, with all that the topic tells of them.
    std::string open_turns() const;
    std::string webhooks() const;
    Settings relay_settings() const;
    std::string servers() const;

    const RelayDoors doors_;
    const unsigned short relay_port_;
    RealServer server_;
    Rig rig_;
    const std::string servers_;
    Epilogue relays_;
    std::optional<WorkerProcess> relay_;
    WorkerProcess worker_;
    std::vector<std::string> watched_;
};

}  // namespace epilogue::testing
