// An agent server as a follower meets it: the log of one conversation, its sockets and its REST pages, with
// what can go wrong on the way.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/relay/follow/plan.h"
#include "tests/sim/schedule.h"

namespace epilogue::sim {

class LogServer {
  public:
    using Tell = std::function<void(relay::Happening)>;

    /// What goes wrong, each a probability.
    struct Troubles {
        double frame_lost = 0;
        double frame_late = 0;  ///< sent behind later ones
        double unnumbered = 0;  ///< told by a session socket before it has its number, and not again
        double deaf = 0;        ///< of a socket: it stands, and nothing comes any more
        double read_fails = 0;
        double too_large = 0;  ///< of an event: no session socket sends it
        double written_late = 0;
    };

    /// `numbered`: its sockets number the log (from 1.45.0), and the log is in the order of writing; else it
    /// is sorted by time.
    LogServer(Schedule& schedule, bool numbered, Troubles troubles)
        : schedule_(schedule), numbered_(numbered), troubles_(troubles) {}

    bool is_numbered() const { return numbered_; }
    const std::vector<agent::RemoteEvent>& log() const { return log_; }
    /// What stood before that terminal status when it was written.
    const std::set<std::string>& written_before(const std::string& id) const { return before_.at(id); }

    /// The agent does something; `ends`: its run ends with it.
    void happens(bool ends);
    /// All sockets end; no request is answered until `back`.
    void goes_away(Micros back);
    /// Nothing goes wrong any more. Sockets that are deaf stay so.
    void heal() { troubles_ = {}; }

    /// Opens a socket in the place of the client's earlier one.
    void open(int client, const relay::OpenSocket& wanted, Tell tell);
    void read(const relay::ReadPage& wanted, const Tell& tell);
    void count(const Tell& tell);

  private:
    struct Socket {
        Tell tell;
        bool is_deaf = false;
        Micros last{0};  ///< when the last frame arrives
    };

    void write(agent::RemoteEvent event);
    void publish(const agent::RemoteEvent& event);
    void send(const std::shared_ptr<Socket>& socket, relay::Happening frame, Micros delay);
    /// One frame of the log on a session socket; false when the socket ended with it.
    bool send_numbered(int client, std::size_t index, bool has_number = true);
    void end(int client, bool too_large);
    void answer(const Tell& tell, std::function<relay::Happening()> what);

    Schedule& schedule_;
    const bool numbered_;
    Troubles troubles_;
    std::vector<agent::RemoteEvent> log_;
    std::set<std::string> large_;
    std::map<std::string, std::set<std::string>> before_;
    std::map<int, std::shared_ptr<Socket>> sockets_;
    Micros away_until_{0};
    int made_ = 0;
};

}  // namespace epilogue::sim
