#include "worker/history/history.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "base/enum_names.h"
#include "base/redacted.h"
#include "worker/history/replayed_log.h"

namespace epilogue {
namespace {

constexpr EnumNames<HistorySource, 3> source_names{{"tables", "agent_server", "topic"}};
static_assert(source_names.ends_with(HistorySource::topic));
constexpr EnumNames<SourceState, 4> state_names{{"told", "unknown", "unavailable", "not_asked"}};
static_assert(state_names.ends_with(SourceState::not_asked));
constexpr EnumNames<SummaryState, 3> summary_names{{"frozen", "owed", "made"}};
static_assert(summary_names.ends_with(SummaryState::made));

constexpr std::size_t longest_title = 300;

/// What one source says of one turn.
struct ToldTurn {
    TurnKey key;
    std::string status_event = {};
    std::optional<Verdict> verdict = {};
    std::optional<Instant> opened_at = {};
    std::optional<Instant> ended_at = {};
    std::optional<Reason> reason = {};
    std::optional<std::string> words = {};
    std::optional<TurnEnd> end = {};  ///< from which a summary can be made
    bool is_newest = false;           ///< the source knows no later one
};

template <class T>
void fill(std::optional<Sourced<T>>& known, std::optional<T> told, HistorySource from) {
    if (!known && told) known = Sourced<T>{std::move(*told), from};
}

/// A source that did not see a turn's opening knows it as "start".
bool is_same(const HistoryTurn& known, const ToldTurn& told) {
    const bool has_nameless = (known.key == TurnKey("start")) != (told.key == TurnKey("start"));
    return known.key == told.key || (!told.status_event.empty() && known.status_event == told.status_event) ||
           (has_nameless && !known.verdict && !known.summary && told.is_newest);
}

/// Puts together what the sources say, in the order in which they are believed.
class HistoryBuilder {
  public:
    HistoryBuilder(ConversationHistory& history, const HistoryRules& rules)
        : history_(history), rules_(rules) {}

    void add(const KeptConversation& kept) {
        for (const KeptSummary& notice : kept.summaries)
            if (is_of_notice(notice)) turns_of_notices_[notice.turn_key] = TurnKey(notice.summary.about.turn);
        // Deliveries are kept for longer: of the oldest turns there may be no summary any more.
        auto summary = kept.summaries.begin();
        for (const KeptDelivery& delivery : kept.deliveries) {
            for (; summary != kept.summaries.end() && summary->created_at <= delivery.created_at; ++summary)
                add(*summary);
            add(delivery);
        }
        for (; summary != kept.summaries.end(); ++summary) add(*summary);
        if (kept.conversation) add(*kept.conversation, HistorySource::tables);
    }
    void add(const ReplayedLog& log, HistorySource from) {
        const bool has_open = current_turn(log.conversation) != nullptr;
        for (const ReplayedTurn& turn : log.ended) {
            ToldTurn told = told_of(turn.end);
            told.opened_at = turn.opened_at;
            told.ended_at = turn.ended_at;
            told.is_newest = !has_open && &turn == &log.ended.back();
            add(std::move(told), from);
        }
        add_open(log.conversation, from);
    }
    /// Brings the turns into their order, and makes the summaries that no table keeps.
    void finish() {
        order();
        for (HistoryTurn& turn : history_.turns) turn.is_open = !turn.verdict && !turn.summary;
        for (auto& [turn, end] : ends_) {
            HistoryTurn* const known = find(turn);
            if (known == nullptr || known->summary || known->is_open) continue;
            MadeSummary made = summarise(end.value, history_.id, rules_.summary);
            known->summary = Sourced<HistorySummary>{
                {SummaryState::made, std::move(made.source), std::move(made.summary)}, end.from};
        }
    }

  private:
    /// The turns of one source in its own order.
    using Sequence = std::vector<TurnKey>;

    /// As the most complete log has them: the server's, else the topic's. What only others know follows what
    /// comes before it there.
    void order() {
        Sequence ordered;
        for (const auto from : {HistorySource::agent_server, HistorySource::topic, HistorySource::tables}) {
            auto place = ordered.begin();
            for (const TurnKey& key : sequences_[from]) {
                const auto known = std::find(ordered.begin(), ordered.end(), key);
                place = std::next(known != ordered.end() ? known : ordered.insert(place, key));
            }
        }
        const auto rank = [&](const HistoryTurn& turn) {
            return std::find(ordered.begin(), ordered.end(), turn.key) - ordered.begin();
        };
        std::stable_sort(history_.turns.begin(), history_.turns.end(),
                         [&](const HistoryTurn& a, const HistoryTurn& b) { return rank(a) < rank(b); });
    }

    static ToldTurn told_of(const TurnEnd& end) {
        return {.key = end.turn_key,
                .status_event = end.status_event,
                .verdict = end.verdict,
                .opened_at = end.opened_on ? end.opened_on : end.first_at,
                .reason = end.reason,
                .words = end.final_message,
                .end = end};
    }

    void add(const Conversation& conversation, HistorySource from) {
        if (conversation.last) add(told_of(*conversation.last), from);
        add_open(conversation, from);
    }

    void add_open(const Conversation& conversation, HistorySource from) {
        const Turn* const open = current_turn(conversation);
        if (open == nullptr) return;
        ToldTurn told{.key = open->key, .reason = open->reason, .is_newest = true};
        told.opened_at = open->opened_on ? open->opened_on : open->first_at;
        if (open->final_message) told.words = open->final_message->text;
        add(std::move(told), from);
    }

    static bool is_of_notice(const KeptSummary& kept) {
        const auto verdict = verdict_named(kept.summary.about.verdict);
        return verdict && is_notice(*verdict);
    }

    void add(const KeptSummary& kept) {
        if (is_of_notice(kept)) return;
        ToldTurn told{.key = kept.turn_key, .status_event = kept.status_event};
        if (!kept.summary.final_message.empty()) told.words = kept.summary.final_message;
        HistoryTurn& turn = add(std::move(told), HistorySource::tables);
        const auto state = kept.is_owed ? SummaryState::owed : SummaryState::frozen;
        turn.summary = Sourced<HistorySummary>{{state, kept.source, kept.summary}, HistorySource::tables};
    }

    void add(const KeptDelivery& kept) {
        ToldTurn told{.key = kept.turn_key};
        if (is_notice(kept.verdict)) {
            const auto held_up = turns_of_notices_.find(kept.turn_key);
            if (held_up == turns_of_notices_.end()) return;  // nothing tells any more of which turn it was
            told.key = held_up->second;
        } else {
            told.verdict = kept.verdict;
        }
        add(std::move(told), HistorySource::tables).deliveries.push_back(kept);
    }

    HistoryTurn& add(ToldTurn told, HistorySource from) {
        auto known = std::find_if(history_.turns.begin(), history_.turns.end(),
                                  [&](const HistoryTurn& turn) { return is_same(turn, told); });
        if (known == history_.turns.end()) {
            history_.turns.emplace_back().key = told.key;
            known = std::prev(history_.turns.end());
        }
        HistoryTurn& turn = *known;
        if (turn.known_to.empty() || turn.known_to.back() != from) {
            turn.known_to.push_back(from);
            sequences_[from].push_back(turn.key);
        }
        if (turn.status_event.empty()) turn.status_event = told.status_event;
        fill(turn.verdict, told.verdict, from);
        fill(turn.opened_at, told.opened_at, from);
        fill(turn.ended_at, told.ended_at, from);
        fill(turn.reason, std::move(told.reason), from);
        if (told.words && !told.words->empty()) fill(turn.words, std::move(told.words), from);
        const bool has_end =
            std::any_of(ends_.begin(), ends_.end(), [&](const auto& each) { return each.first == turn.key; });
        if (told.end && !has_end) ends_.emplace_back(turn.key, Sourced<TurnEnd>{std::move(*told.end), from});
        return turn;
    }

    HistoryTurn* find(const TurnKey& key) {
        const auto found = std::find_if(history_.turns.begin(), history_.turns.end(),
                                        [&](const HistoryTurn& turn) { return turn.key == key; });
        return found == history_.turns.end() ? nullptr : &*found;
    }

    ConversationHistory& history_;
    const HistoryRules& rules_;
    std::map<HistorySource, Sequence> sequences_;
    std::map<TurnKey, TurnKey> turns_of_notices_;
    std::vector<std::pair<TurnKey, Sourced<TurnEnd>>> ends_;  ///< the first that was told of each turn
};

void redact(std::string& text) {
    text = redacted(text);
}

/// What others wrote, without the secrets that may stand in it.
void redact(ConversationHistory& history) {
    for (KeptCallback& callback : history.callbacks) redact(callback.reason);
    for (SourceReport& report : history.sources) redact(report.why);
    for (HistoryTurn& turn : history.turns) {
        if (turn.words) redact(turn.words->value);
        if (turn.reason) {
            redact(turn.reason->value.code);
            redact(turn.reason->value.detail);
        }
        for (KeptDelivery& delivery : turn.deliveries) redact(delivery.cause);
        if (!turn.summary) continue;
        Summary& summary = turn.summary->value.summary;
        redact(summary.headline);
        redact(summary.final_message);
        redact(summary.facts);
    }
}

/// What came of asking; a null source is not asked.
template <class T>
SourceReport report_of(HistorySource source, const std::optional<SourceAnswer<T>>& answer) {
    SourceReport report;
    report.source = source;
    if (!answer) {
        report.state = SourceState::not_asked;
        report.why = "not wanted";
    } else if (!*answer) {
        report.state = answer->error().state;
        report.why = answer->error().why;
    }
    return report;
}

void note(SourceReport& report, Instant at) {
    ++report.events;
    report.first_at = std::min(report.first_at.value_or(at), at);
    report.last_at = std::max(report.last_at.value_or(at), at);
}

using Tables = std::optional<SourceAnswer<KeptConversation>>;
using Server = std::optional<SourceAnswer<ServerLog>>;
using Topic = std::optional<SourceAnswer<TopicLog>>;

/// Whether the source told something.
template <class T>
const T* told(const std::optional<SourceAnswer<T>>& answer) {
    return answer && *answer ? &**answer : nullptr;
}

/// Where the topic may have it: not before the first sign of it, with room for clocks that differ and for a
/// callback that came a day late.
TopicHint hint_of(const Tables& tables, const Server& server) {
    constexpr std::chrono::minutes clocks{10};
    constexpr std::chrono::hours late{24};
    TopicHint hint;
    std::optional<Instant> first;
    if (const KeptConversation* kept = told(tables)) {
        hint.partition = kept->partition;
        for (const KeptCallback& callback : kept->callbacks)
            if (callback.created_at)
                first = std::min(first.value_or(*callback.created_at), *callback.created_at);
        for (const KeptSummary& summary : kept->summaries)
            if (summary.created_at)
                first = std::min(first.value_or(*summary.created_at), *summary.created_at);
    }
    const ServerLog* const log = told(server);
    if (log != nullptr && log->created_at)
        hint.since = *log->created_at - clocks;
    else if (first)
        hint.since = *first - late;
    return hint;
}

void take_tables(ConversationHistory& history, const Tables& tables, HistoryBuilder& builder) {
    history.sources.push_back(report_of(HistorySource::tables, tables));
    const KeptConversation* const kept = told(tables);
    if (kept == nullptr) return;
    constexpr auto from = HistorySource::tables;
    if (kept->conversation) {
        if (!kept->conversation->status.empty())
            fill(history.status, std::optional(kept->conversation->status), from);
        fill(history.last_event_at, kept->conversation->last_event_at, from);
    }
    fill(history.partition, kept->partition, from);
    if (!kept->agent_url.empty()) fill(history.agent_url, std::optional(kept->agent_url), from);
    history.question = kept->question;
    history.callbacks = kept->callbacks;
    builder.add(*kept);
}

void take_server(ConversationHistory& history, const Server& server, HistoryBuilder& builder,
                 const HistoryRules& rules) {
    SourceReport& report = history.sources.emplace_back(report_of(HistorySource::agent_server, server));
    const ServerLog* const log = told(server);
    if (log == nullptr) return;
    constexpr auto from = HistorySource::agent_server;
    for (const Event& event : log->events) {
        if (event.timestamp)
            note(report, *event.timestamp);
        else
            ++report.events;
    }
    if (!log->title.empty())
        fill(history.title, std::optional(redacted_prefix(log->title, longest_title)), from);
    if (!log->status.empty()) fill(history.status, std::optional(log->status), from);
    fill(history.created_at, log->created_at, from);
    fill(history.updated_at, log->updated_at, from);
    fill(history.last_event_at, report.last_at, from);
    history.events = log->events;
    builder.add(replay(*log, rules.now(), rules.fold), from);
}

void take_topic(ConversationHistory& history, const Topic& topic, HistoryBuilder& builder,
                const HistoryRules& rules) {
    SourceReport& report = history.sources.emplace_back(report_of(HistorySource::topic, topic));
    const TopicLog* const log = told(topic);
    if (log == nullptr) return;
    constexpr auto from = HistorySource::topic;
    const bool has_log = !history.events.empty();
    for (const TopicLog::Entry& entry : log->entries) {
        note(report, entry.at);
        if (!has_log) history.events.push_back(entry.event);
    }
    report.parts = log->parts;
    report.why = log->cut;
    if (log->entries.empty() && log->unusable == 0) {
        report.state = SourceState::unknown;
        if (report.why.empty()) report.why = "no record has its key";
        return;
    }
    if (log->parts.size() == 1) fill(history.partition, std::optional(log->parts.front().partition), from);
    const ReplayedLog replayed = replay(*log, rules.now(), rules.fold);
    if (!replayed.conversation.status.empty())
        fill(history.status, std::optional(replayed.conversation.status), from);
    fill(history.last_event_at, report.last_at, from);
    builder.add(replayed, from);
}

}  // namespace

std::string_view name_of(HistorySource source) {
    return source_names.of(source);
}

std::string_view name_of(SourceState state) {
    return state_names.of(state);
}

std::string_view name_of(SummaryState state) {
    return summary_names.of(state);
}

bool ConversationHistory::is_known() const {
    return std::any_of(sources.begin(), sources.end(),
                       [](const SourceReport& report) { return report.state == SourceState::told; });
}

bool ConversationHistory::is_incomplete() const {
    return std::any_of(sources.begin(), sources.end(), [](const SourceReport& report) {
        const bool is_cut = report.source == HistorySource::topic && report.state != SourceState::not_asked &&
                            std::any_of(report.parts.begin(), report.parts.end(),
                                        [](const TopicLog::Part& part) { return part.to < part.end; });
        return report.state == SourceState::unavailable || is_cut;
    });
}

ConversationHistory history_of(const ConversationId& id, const HistorySources& sources,
                               const HistoryRules& rules) {
    ConversationHistory history;
    history.id = id;
    HistoryBuilder builder(history, rules);
    const Tables tables = sources.tables ? Tables(sources.tables(id)) : std::nullopt;
    take_tables(history, tables, builder);
    const Server server = sources.agent_server ? Server(sources.agent_server(id)) : std::nullopt;
    take_server(history, server, builder, rules);
    const Topic topic = sources.topic ? Topic(sources.topic(id, hint_of(tables, server))) : std::nullopt;
    take_topic(history, topic, builder, rules);
    builder.finish();
    redact(history);
    return history;
}

}  // namespace epilogue
