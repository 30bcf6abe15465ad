// The writing part of conversation_row.h.
#include "worker/core/conversation_row.h"

#include "schemas/json_writer.h"
#include "worker/core/digest_row.h"
#include "worker/core/held_event.h"

namespace epilogue {
namespace {

constexpr int settle_timer = 1;
constexpr int silence_timer = 2;

std::string_view name_of(MessageKind kind) {
    return kind == MessageKind::finish ? "finish" : "message";
}

void write(JsonWriter& json, std::string_view name, const std::optional<Instant>& at) {
    if (at) return json.number(name, at->time_since_epoch().count());
    json.name(name);
    json.null();
}

void write(JsonWriter& json, const std::string& text) {
    json.text(text);
}

template <class Entry>
void write(JsonWriter& json, const std::vector<Entry>& entries) {
    json.begin_array();
    for (const Entry& entry : entries) write(json, entry);
    json.end_array();
}

template <class Entry>
void write_if_any(JsonWriter& json, std::string_view name, const std::vector<Entry>& entries) {
    if (entries.empty()) return;
    json.name(name);
    write(json, entries);
}

void write(JsonWriter& json, const Turn& turn) {
    json.name("turn");
    json.begin_object();
    json.text("key", turn.key);
    if (!turn.origin.empty()) json.text("origin", turn.origin);
    write(json, "opened_on", turn.opened_on);
    write(json, "opened_at", turn.opened_at);
    write(json, "first_at", turn.first_at);
    json.flag("acted", turn.agent_acted);
    json.flag("status_seen", turn.status_seen);
    write(json, "word_at", turn.final_message ? turn.final_message->at : std::nullopt);
    json.flag("reason", turn.reason.has_value());
    if (turn.reason && !turn.reason->kind.empty()) json.text("reason_kind", turn.reason->kind);
    if (!turn.noticed.empty()) {
        json.name("noticed");
        json.begin_array();
        for (const Verdict verdict : turn.noticed) json.text(epilogue::name_of(verdict));
        json.end_array();
    }
    json.end_object();
}

void write_words(JsonWriter& json, const FinalMessage& words) {
    json.text("word_kind", name_of(words.kind));
    json.text("word", words.text);
    write(json, "word_at", words.at);
}

struct TurnStateWriter {
    JsonWriter& json;
    void operator()(const NoTurn& none) const {
        json.text("standing", "none");
        if (none.due) write(json, "due", none.due);
    }
    void operator()(const Open& open) const {
        json.text("standing", "open");
        write(json, open.turn);
        if (open.due) write(json, "due", open.due);
        if (open.asked) json.flag("asked", true);
    }
    void operator()(const Candidate& candidate) const {
        json.text("standing", "candidate");
        write(json, candidate.turn);
        json.text("status_event", candidate.status_event);
        write(json, "at", candidate.at);
        write(json, "due", std::optional(candidate.due));
        if (candidate.awaits_hook) json.flag("awaits_hook", true);
    }
    void operator()(const AwaitingDetail& awaiting) const {
        json.text("standing", "awaiting_detail");
        write(json, awaiting.turn);
        json.text("status_event", awaiting.status_event);
        write(json, "due", std::optional(awaiting.due));
    }
    void operator()(const Ended& ended) const {
        json.text("standing", ended.by_timeout ? "timed_out" : "ended");
        if (ended.unopened) write_unopened(*ended.unopened);
    }
    void write_unopened(const UnopenedTurn& unopened) const {
        json.name("unopened");
        json.begin_object();
        json.text("key", unopened.key);
        write(json, "opened_on", std::optional(unopened.opened_on));
        write_words(json, unopened.final_message);
        json.end_object();
    }
};

void write(JsonWriter& json, const TurnEnd& last, bool texts_are_its) {
    json.name("last");
    json.begin_object();
    json.text("key", last.turn_key);
    json.text("verdict", epilogue::name_of(last.verdict));
    json.text("status_event", last.status_event);
    write(json, "opened_on", last.opened_on);
    json.flag("reason", texts_are_its && last.reason.has_value());
    if (texts_are_its && last.reason && !last.reason->kind.empty())
        json.text("reason_kind", last.reason->kind);
    if (last.may_lie_in_gap) json.flag("in_gap", true);
    if (last.first_at) write(json, "first_at", last.first_at);
    if (!last.origin.empty()) json.text("origin", last.origin);
    json.end_object();
}

void write_early(JsonWriter& json, const Conversation& conversation) {
    if (const auto& end = conversation.early_end) {
        json.name("early_end");
        json.begin_object();
        json.text("status", end->status);
        json.text("status_event", end->status_event);
        write(json, "at", std::optional(end->at));
        if (end->reason) {
            json.text("code", end->reason->code);
            json.text("detail", end->reason->detail);
            json.text("kind", end->reason->kind);
        }
        json.end_object();
    }
    if (const auto& words = conversation.early_words) {
        json.name("early_words");
        json.begin_object();
        write_words(json, *words);
        json.end_object();
    }
}

void write_clock(JsonWriter& json, const Conversation& conversation) {
    if (conversation.highest_seq >= 0) json.number("seq", conversation.highest_seq);
    if (conversation.follows_seq) json.flag("follows_seq", true);
    if (conversation.zone) json.number("zone", conversation.zone->count());
    if (!conversation.clock_jump) return;
    json.name("clock_jump");
    json.begin_object();
    json.number("zone", conversation.clock_jump->zone.count());
    json.number("events", conversation.clock_jump->events);
    write_if_any(json, "held", conversation.clock_jump->held);
    json.end_object();
}

std::string fold_of(const Conversation& conversation) {
    JsonWriter json;
    json.begin_object();
    std::visit(TurnStateWriter{json}, conversation.turn_state);
    write(json, "newest", conversation.newest);
    write(json, "newest_status", conversation.newest_status);
    json.number("number", conversation.highest_number);
    json.flag("agent_since_status", conversation.agent_since_status);
    if (conversation.goal) {
        json.name("goal");
        json.begin_object();
        json.flag("active", conversation.goal->active);
        write(json, "at", conversation.goal->at);
        json.end_object();
    }
    if (conversation.has_stop_hook) json.flag("stop_hook", true);
    if (conversation.usage) {
        json.name("usage");
        json.begin_object();
        json.number("cost", conversation.usage->cost);
        json.number("in", conversation.usage->tokens_in);
        json.number("out", conversation.usage->tokens_out);
        json.end_object();
    }
    write_clock(json, conversation);
    if (conversation.heard_at) write(json, "heard_at", conversation.heard_at);
    if (conversation.last) write(json, *conversation.last, current_turn(conversation) == nullptr);
    write_early(json, conversation);
    json.end_object();
    return json.take();
}

/// While no turn is open, the texts are those of the last counted one; an open turn takes their place.
void write_texts(const Conversation& conversation, ConversationRow& row) {
    if (const Turn* turn = current_turn(conversation)) {
        row.turn_key = turn->key;
        if (turn->final_message) {
            row.tail_kind = name_of(turn->final_message->kind);
            row.tail_text = turn->final_message->text;
        }
        if (turn->reason) {
            row.error_code = turn->reason->code;
            row.error_detail = turn->reason->detail;
        }
        row.digest = to_json(turn->digest);
    } else if (conversation.last) {
        const TurnEnd& last = *conversation.last;
        row.turn_key = last.turn_key;
        if (last.final_message) {
            row.tail_kind = name_of(last.verdict == Verdict::awaiting_user_input ? MessageKind::message
                                                                                 : MessageKind::finish);
            row.tail_text = *last.final_message;
        }
        if (last.reason) {
            row.error_code = last.reason->code;
            row.error_detail = last.reason->detail;
        }
        row.digest = to_json(last.digest);
    }
}

}  // namespace

ConversationRow to_row(const Conversation& conversation) {
    ConversationRow row;
    row.status = conversation.status;
    row.last_event_at = conversation.last_event_at;
    row.due_at = due_at(conversation);
    const bool is_silent = std::holds_alternative<Open>(conversation.turn_state) ||
                           std::holds_alternative<NoTurn>(conversation.turn_state);
    if (row.due_at) row.timer = is_silent ? silence_timer : settle_timer;
    row.turn_open = current_turn(conversation) != nullptr;
    write_texts(conversation, row);
    JsonWriter recent;
    write(recent, conversation.recent);
    row.recent_ids = recent.take();
    if (conversation.last) row.verdict = epilogue::name_of(conversation.last->verdict);
    row.fold = fold_of(conversation);
    return row;
}

}  // namespace epilogue
