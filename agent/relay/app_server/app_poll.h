// Reads the conversations of one app server into the topic, again and again, on a thread of its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "agent/relay/app_server/app_positions.h"
#include "agent/relay/app_server/app_server.h"
#include "agent/relay/lag.h"
#include "agent/relay/topic.h"

namespace epilogue::relay {

struct AppPollRules {
    std::string owner;                            ///< names this relay among all that run
    std::chrono::milliseconds look_every{5'000};  ///< at the earliest
    int rest = 1;                                 ///< a pause is at least so many times as long as the look
    std::chrono::seconds most_rest{300};          ///< after failures, which make pauses grow
    /// A conversation that has not been updated is looked at this often, as long as it is listed.
    std::chrono::milliseconds quiet_every{30'000};
    std::size_t requests = 200;  ///< of one look; what is left is looked at first the next time
    std::chrono::seconds lease{60};
    std::chrono::seconds delivery{15};   ///< nothing is produced under a lease that ends sooner
    std::chrono::hours first_floor{24};  ///< what was updated before that is not looked for
    std::chrono::minutes linger{10};     ///< a conversation is listed so long after its last update
    std::chrono::minutes reach_again{10};
    /// Where the sandboxes that the app server names may be (HttpRequest::egress); null: anywhere.
    std::shared_ptr<const EgressRules> egress{};
};

/// Called on the poll's thread.
struct AppPollObserver {
    /// Makes the record; nullopt: such an event has no place in the topic.
    std::function<std::optional<TopicRecord>(const ConversationId&, std::string_view json)> make_record;
    /// A conversation's agent server answers here: it can be followed.
    std::function<void(const AppConversation&)> reachable = [](const auto&) {};
    /// Events that the server is known to have and the topic has not, and since when the one of them is known
    /// that has waited the longest; nullopt: none waits.
    std::function<void(std::int64_t behind, std::optional<Lag::Time> since)> behind = [](auto, auto) {};
};

/// Every event that the server's log has is in the topic, by own time, what was stored late behind it; at
/// least once: a relay that goes on for another one repeats the last two minutes of what is new.
class AppPoll {
  public:
    /// Begins at once. `positions` and `topic` outlive it.
    AppPoll(AppServer::Rules server, AppPositions& positions, Topic& topic, AppPollRules rules,
            AppPollObserver observer);
    /// Ends a request that is under way, and waits for what the topic was given.
    ~AppPoll();
    AppPoll(const AppPoll&) = delete;
    AppPoll& operator=(const AppPoll&) = delete;

    /// Why it could not be read the last time; "": it could, or another relay reads it. Thread-safe.
    std::string trouble() const;

  private:
    using Clock = std::chrono::steady_clock;
    /// A conversation that is listed.
    struct Looked {
        AppPosition position;
        std::string updated_at;  ///< when it was looked at
        Clock::time_point at{};  ///< the last look that came to its end
        std::int64_t behind = 0;
        Lag lag{};
        bool has_ids = false;                   ///< all of its newest events
        std::unordered_set<std::size_t> ids{};  ///< hashes of those that this relay has produced
    };
    struct Reached {
        bool answers = false;
        Clock::time_point at{};
    };

    void run(const std::stop_token& stop);
    /// True when all that the server has is in the topic.
    Result<bool> look(const std::stop_token& stop);
    Result<bool> hold();
    Result<std::vector<AppConversation>> list(const std::stop_token& stop);
    Result<void> learn_positions(const std::vector<AppConversation>& conversations);
    Result<void> read(const AppConversation& conversation, Looked& looked, const std::stop_token& stop);
    /// What a pass over a log came to.
    struct Pass {
        std::int64_t fresh = 0;        ///< so many events are new
        std::vector<AppEvent> held{};  ///< of these the first that ends a run, and all behind it
    };
    /// Produces what is new from that own time on. `holds` given: only what stands before the end of a run,
    /// which has to wait until it is known that nothing is missing before it.
    Result<void> bring(const AppConversation& conversation, Looked& looked, const std::string& since,
                       Pass* holds, const std::stop_token& stop);
    Result<void> produce(const AppConversation& conversation, Looked& looked,
                         const std::vector<AppEvent>& events, const std::stop_token& stop);
    void reach(const AppConversation& conversation, const std::stop_token& stop);
    std::int64_t tell_behind() const;
    /// What the look came to, for those who ask, and in the store.
    void tell(const std::string& trouble);

    const AppServer server_;
    AppPositions& positions_;
    Topic& topic_;
    const AppPollRules rules_;
    const AppPollObserver observer_;
    const HttpClient http_;
    std::map<ConversationId, Looked> looked_;
    std::map<std::string, Reached> reached_;  ///< by address
    std::string floor_;
    Clock::time_point lease_end_{};
    std::size_t requests_ = 0;              ///< of this look
    std::chrono::seconds wanted_pause_{0};  ///< by the server
    std::string hindrance_;                 ///< why a conversation could not be read in it
    mutable std::mutex mutex_;
    std::string trouble_;
    std::jthread thread_;
};

}  // namespace epilogue::relay
