// Which conversations that webhooks tell of are to be compared with their servers' logs, and what turned out
// to be missing. Pure but for its mutex.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace epilogue::relay {

struct ComparisonRules {
    std::chrono::milliseconds after_end{1'000};  ///< of a run: what was told at the same time arrives, too
    /// Without an event: longer than any server keeps what it has to tell. What was missing so long was not
    /// under way.
    std::chrono::milliseconds quiet{60'000};
    std::chrono::milliseconds again{120'000};  ///< after a server that did not answer
    int most_tries = 5;                        ///< then it is gone
    std::size_t most_ids = 20'000;             ///< of a conversation that are remembered
    /// An end waits so long for its conversation to be compared: servers wait 30 s for their answers.
    std::chrono::milliseconds end_waits{5'000};
    std::chrono::milliseconds impossible_for{60'000};  ///< after a conversation that could not be compared
};

/// Events of logs that no webhook had brought.
struct MissingEvents {
    std::int64_t found = 0;
    std::int64_t filled = 0;
    std::int64_t lost = 0;
};

/// How a comparison ended.
enum class Compared {
    caught_up,    ///< the topic has all of the log
    unanswered,   ///< the server could not be asked, or did not answer
    gone,         ///< the server has no such conversation, or refuses the key
    followed,     ///< not begun: no end waited for it, and a relay that follows the log brings all of it
    impossible,   ///< no address is known
    interrupted,  ///< it was released before its end: another relay has it, or it has another address by now
};

/// Thread-safe.
class Comparisons {
  public:
    using Time = std::chrono::steady_clock::time_point;

    explicit Comparisons(ComparisonRules rules = {}) : rules_(rules) {}

    /// A webhook brought that event, and the topic has it.
    void came(const ConversationId& conversation, const std::string& event, bool ends_run, Time now);
    /// Is to be compared, whatever comes.
    void want(const ConversationId& conversation, Time now);
    /// A webhook brings an end: compares the conversation, and calls `go_on` once all of its log that stands
    /// before that end is in the topic, or that cannot be found out, or rules.end_waits are over. On this
    /// thread, or on one that calls over(), release() or close().
    void before_end(const ConversationId& conversation, std::function<void()> go_on, Time now);
    /// Lets those ends go on that have waited for long enough.
    void release(Time now);
    /// Nothing waits any more, now and later.
    void close();
    /// At most `limit` that are to be compared now. Of each over() is to be called.
    std::vector<ConversationId> due(std::size_t limit, Time now);

    /// Whether an end waits for that conversation to be compared.
    bool has_end(const ConversationId& conversation) const;
    /// Whether a webhook brought that event of a log since the last comparison but one.
    bool has(const ConversationId& conversation, const std::string& event) const;
    /// The comparison has brought that one.
    void brought(const ConversationId& conversation, const std::string& event, Time now);
    /// `behind`: so many events of the log are known that were not brought.
    void over(const ConversationId& conversation, Compared how, std::int64_t behind, Time now);

    /// What was missing since it was asked the last time. An event counts when no webhook has brought it for
    /// so long that none will.
    MissingEvents take_missing(Time now);

  private:
    using Ids = std::unordered_set<std::size_t>;  ///< hashes
    struct WaitingEnd {
        Time since;
        std::function<void()> go_on;
    };
    struct Told {
        Ids came;     ///< since the comparison began that is under way, or since the last one
        Ids earlier;  ///< before it
        Ids brought;  ///< by comparisons, and by no webhook so far
        Time brought_at;
        std::optional<Time> due;
        std::optional<Time> compared_since;  ///< it is being compared
        std::vector<WaitingEnd> ends;
        std::optional<Time> impossible_until;
        int tries = 0;
    };

    void make_due(const ConversationId& conversation, Told& told, Time when);
    /// The ends of `told` that wait no longer; compares it again for those that have come meanwhile.
    std::vector<WaitingEnd> take_ends(const ConversationId& conversation, Told& told, Compared how,
                                      std::optional<Time> compared_since, Time now);
    void forget_if_done(const ConversationId& conversation);

    const ComparisonRules rules_;
    mutable std::mutex mutex_;
    std::unordered_map<ConversationId, Told> told_;
    std::set<std::pair<Time, ConversationId>> due_;
    std::unordered_set<ConversationId> with_ends_;  ///< that wait
    bool is_closed_ = false;
    MissingEvents missing_;
};

}  // namespace epilogue::relay
