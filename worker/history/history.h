// A conversation's whole history from its id alone: what our tables keep of it, what its agent server's log
// tells, and what stands in the topic, put together turn by turn, each thing with where it came from. Pure
// but for the sources, which are ports.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "base/ids.h"
#include "base/instant.h"
#include "schemas/summary.h"
#include "schemas/verdict.h"
#include "worker/core/conversation.h"
#include "worker/core/fold.h"
#include "worker/core/server_log.h"
#include "worker/core/summarise.h"

namespace epilogue {

/// Where something came from, in the order in which they are believed.
enum class HistorySource { tables, agent_server, topic };
std::string_view name_of(HistorySource source);

/// What came of asking a source.
enum class SourceState {
    told,
    unknown,      ///< it answers, and knows no such conversation
    unavailable,  ///< it could not be asked, or did not answer
    not_asked,    ///< the caller does not want it, or it is not known where it is
};
std::string_view name_of(SourceState state);

/// Why a source told nothing.
struct SourceFault {
    SourceState state = SourceState::unavailable;
    std::string why;  ///< for people; never holds a secret
};
template <class T>
using SourceAnswer = tl::expected<T, SourceFault>;

struct KeptCallback {
    CallbackId id;
    std::string status;
    std::string phase;  ///< empty: not adopted yet
    std::string processor_type;
    std::string reason;
    std::optional<Instant> created_at;
};

struct KeptSummary {
    TurnKey turn_key;
    std::string source;
    bool is_owed = false;
    Summary summary;
    std::string status_event;  ///< id of the status that ended the turn; may be empty
    std::optional<Instant> created_at;
};

struct KeptDelivery {
    DeliveryId id;
    CallbackId callback_id;
    TurnKey turn_key;
    std::string sink;
    std::string target;
    Verdict verdict = Verdict::finished;
    std::string state;
    int attempt = 0;
    std::string cause;
    std::string remote_url;
    std::optional<Instant> created_at;
    std::optional<Instant> sent_at;
};

/// A question to its agent server that is not answered yet.
struct KeptQuestion {
    std::string why;        ///< registered | silence | gap
    int attempts = 0;       ///< begun
    std::string hindrance;  ///< of the last try; may be empty
    std::optional<Instant> next_try_at;
};

/// What our tables keep.
struct KeptConversation {
    std::optional<Conversation> conversation;  ///< none: no event of it was applied
    std::optional<int> partition;
    std::string agent_url;  ///< of a server of its own; may be empty
    std::optional<KeptQuestion> question;
    std::vector<KeptCallback> callbacks;   ///< ascending by id
    std::vector<KeptSummary> summaries;    ///< oldest first
    std::vector<KeptDelivery> deliveries;  ///< in the order in which they became owed
};

/// A stretch of the topic that was read, and the conversation's events in it.
struct TopicLog {
    struct Part {
        int partition = 0;
        std::int64_t from = 0;  ///< offset
        std::int64_t to = 0;    ///< without it
        std::int64_t end = 0;   ///< of the partition then
    };
    struct Entry {
        Event event;
        Instant at;  ///< record time
    };
    std::vector<Part> parts;
    std::vector<Entry> entries;
    std::size_t unusable = 0;  ///< records under its key that are no events
    std::string cut;           ///< why not all was read; empty: all was
};
/// What is known of where its records are.
struct TopicHint {
    std::optional<int> partition;
    std::optional<Instant> since;  ///< it did not exist before; none: not known
};

/// Where a history is had from. A null one is not asked.
struct HistorySources {
    std::function<SourceAnswer<KeptConversation>(const ConversationId& id)> tables;
    std::function<SourceAnswer<ServerLog>(const ConversationId& id)> agent_server;
    std::function<SourceAnswer<TopicLog>(const ConversationId& id, const TopicHint& hint)> topic;
};

struct HistoryRules {
    SummaryRules summary;  ///< for turns of which no summary is kept
    FoldRules fold;        ///< as the worker has them
    std::function<Instant()> now = system_now;
};

/// A value and where it came from.
template <class T>
struct Sourced {
    T value;
    HistorySource from = HistorySource::tables;
};

enum class SummaryState {
    frozen,  ///< what was posted, or will be
    owed,    ///< its agent server is still asked
    made,    ///< made just now: none is kept
};
std::string_view name_of(SummaryState state);

struct HistorySummary {
    SummaryState state = SummaryState::made;
    std::string source;  ///< of its words: final, digest, …
    Summary summary;
};

struct HistoryTurn {
    TurnKey key;
    std::vector<HistorySource> known_to;  ///< in their order
    bool is_open = false;
    std::optional<Sourced<Verdict>> verdict;
    std::optional<Sourced<Instant>> opened_at;
    std::optional<Sourced<Instant>> ended_at;
    std::optional<Sourced<Reason>> reason;  ///< of an error
    std::optional<Sourced<std::string>> words;
    std::optional<Sourced<HistorySummary>> summary;  ///< none: it is open
    std::vector<KeptDelivery> deliveries;
    std::string status_event = {};  ///< id of the status that ended it; may be empty
};

/// What came of one source.
struct SourceReport {
    HistorySource source = HistorySource::tables;
    SourceState state = SourceState::told;
    std::string why;         ///< when it did not tell, or not all
    std::size_t events = 0;  ///< of a log
    std::optional<Instant> first_at;
    std::optional<Instant> last_at;
    std::vector<TopicLog::Part> parts = {};  ///< of the topic
};

struct ConversationHistory {
    ConversationId id;
    std::vector<SourceReport> sources;  ///< one of each, in their order
    std::optional<Sourced<std::string>> title;
    std::optional<Sourced<std::string>> status;
    std::optional<Sourced<Instant>> created_at;
    std::optional<Sourced<Instant>> updated_at;
    std::optional<Sourced<Instant>> last_event_at;
    std::optional<Sourced<int>> partition;
    std::optional<Sourced<std::string>> agent_url;
    std::optional<KeptQuestion> question;
    std::vector<KeptCallback> callbacks;
    std::vector<HistoryTurn> turns;  ///< oldest first
    std::vector<Event> events;       ///< of the log that was believed: the server's, else the topic's

    /// Some source knows the conversation.
    bool is_known() const;
    /// A source that could know more was not to be had.
    bool is_incomplete() const;
};

/// Asks the sources, one after the other, and puts together what they say. Texts of others are redacted, and
/// bounded as stored ones are.
ConversationHistory history_of(const ConversationId& id, const HistorySources& sources,
                               const HistoryRules& rules);

}  // namespace epilogue
