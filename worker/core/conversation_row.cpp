#include "worker/core/conversation_row.h"

#include <nlohmann/json.hpp>

namespace epilogue {
namespace {

using Json = nlohmann::ordered_json;

constexpr int settle_timer = 1;
constexpr int silence_timer = 2;

std::string dumped(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json json_of(const std::optional<Instant>& at) {
    return at ? Json(at->time_since_epoch().count()) : Json(nullptr);
}

std::optional<Instant> instant_in(const Json& json, const char* name) {
    const auto found = json.find(name);
    if (found == json.end() || !found->is_number_integer()) return std::nullopt;
    return Instant{Micros{found->get<std::int64_t>()}};
}

std::string_view name_of(WordKind kind) {
    return kind == WordKind::finish ? "finish" : "message";
}

Json json_of(const Digest& digest) {
    Json json = Json::object();
    if (!digest.files.empty()) json["files"] = digest.files;
    for (const auto& command : digest.commands) {
        Json entry{{"id", command.id}, {"text", command.text}};
        if (command.is_test) entry["test"] = true;
        if (command.exit_code) entry["exit"] = *command.exit_code;
        json["commands"].push_back(std::move(entry));
    }
    if (!digest.links.empty()) json["links"] = digest.links;
    for (const auto& mishap : digest.mishaps)
        json["errors"].push_back({{"id", mishap.id}, {"text", mishap.text}});
    if (digest.cut) json["cut"] = true;
    return json;
}

Digest digest_of(const Json& json) {
    Digest digest;
    digest.files = json.value("files", std::vector<std::string>{});
    for (const auto& entry : json.value("commands", Json::array())) {
        digest.commands.push_back({entry.at("id").get<std::string>(), entry.at("text").get<std::string>(),
                                   entry.value("test", false), std::nullopt});
        if (entry.contains("exit")) digest.commands.back().exit_code = entry.at("exit").get<int>();
    }
    digest.links = json.value("links", std::vector<std::string>{});
    for (const auto& entry : json.value("errors", Json::array()))
        digest.mishaps.push_back({entry.at("id").get<std::string>(), entry.at("text").get<std::string>()});
    digest.cut = json.value("cut", false);
    return digest;
}

Json json_of(const Turn& turn) {
    return {{"key", turn.key},
            {"opened_on", json_of(turn.opened_on)},
            {"opened_at", json_of(turn.opened_at)},
            {"first_at", json_of(turn.first_at)},
            {"acted", turn.agent_acted},
            {"status_seen", turn.status_seen},
            {"word_at", json_of(turn.word ? turn.word->at : std::nullopt)},
            {"reason", turn.reason.has_value()}};
}

Turn turn_of(const Json& json, const ConversationRow& row, Digest digest) {
    Turn turn;
    turn.key = json.at("key").get<std::string>();
    turn.opened_on = instant_in(json, "opened_on");
    turn.opened_at = instant_in(json, "opened_at");
    turn.first_at = instant_in(json, "first_at");
    turn.agent_acted = json.at("acted").get<bool>();
    turn.status_seen = json.at("status_seen").get<bool>();
    if (!row.tail_kind.empty())
        turn.word = Word{row.tail_kind == "finish" ? WordKind::finish : WordKind::message, row.tail_text,
                         instant_in(json, "word_at")};
    if (json.at("reason").get<bool>()) turn.reason = Reason{row.error_code, row.error_detail};
    turn.digest = std::move(digest);
    return turn;
}

struct StandingWriter {
    Json& json;
    void operator()(const NoTurn&) const { json["standing"] = "none"; }
    void operator()(const Open& open) const {
        json["standing"] = "open";
        json["turn"] = json_of(open.turn);
        if (open.due) json["due"] = json_of(open.due);
        if (open.asked) json["asked"] = true;
    }
    void operator()(const Candidate& candidate) const {
        json["standing"] = "candidate";
        json["turn"] = json_of(candidate.turn);
        json["status_event"] = candidate.status_event;
        json["at"] = json_of(candidate.at);
        json["due"] = json_of(std::optional(candidate.due));
    }
    void operator()(const AwaitingDetail& awaiting) const {
        json["standing"] = "awaiting_detail";
        json["turn"] = json_of(awaiting.turn);
        json["status_event"] = awaiting.status_event;
        json["due"] = json_of(std::optional(awaiting.due));
    }
    void operator()(const Ended& ended) const { json["standing"] = ended.by_timeout ? "timed_out" : "ended"; }
};

Standing standing_of(const Json& json, const ConversationRow& row, const Digest& digest) {
    const std::string name = json.at("standing").get<std::string>();
    if (name == "none") return NoTurn{};
    if (name == "ended" || name == "timed_out") return Ended{name == "timed_out"};
    Turn turn = turn_of(json.at("turn"), row, digest);
    if (name == "open") return Open{std::move(turn), instant_in(json, "due"), json.value("asked", false)};
    const std::string status_event = json.at("status_event").get<std::string>();
    const Instant due = instant_in(json, "due").value_or(Instant{});
    if (name == "candidate") return Candidate{std::move(turn), status_event, instant_in(json, "at"), due};
    return AwaitingDetail{std::move(turn), status_event, due};
}

/// While no turn is open, the texts are those of the last counted one; an open turn takes their place.
void write_texts(const Conversation& conversation, ConversationRow& row) {
    if (const Turn* turn = current_turn(conversation)) {
        row.turn_key = turn->key;
        if (turn->word) {
            row.tail_kind = name_of(turn->word->kind);
            row.tail_text = turn->word->text;
        }
        if (turn->reason) {
            row.error_code = turn->reason->code;
            row.error_detail = turn->reason->detail;
        }
        row.digest = dumped(json_of(turn->digest));
    } else if (conversation.last) {
        const TurnEnd& last = *conversation.last;
        row.turn_key = last.turn_key;
        if (last.words) {
            row.tail_kind =
                name_of(last.verdict == Verdict::awaiting_user_input ? WordKind::message : WordKind::finish);
            row.tail_text = *last.words;
        }
        if (last.reason) {
            row.error_code = last.reason->code;
            row.error_detail = last.reason->detail;
        }
        row.digest = dumped(json_of(last.digest));
    }
}

TurnEnd last_of(const Json& json, const ConversationRow& row, const Digest& digest, bool texts_are_its) {
    TurnEnd last;
    last.turn_key = json.at("key").get<std::string>();
    last.verdict = verdict_named(json.at("verdict").get<std::string>()).value_or(Verdict::finished);
    last.status_event = json.at("status_event").get<std::string>();
    last.opened_on = instant_in(json, "opened_on");
    if (!texts_are_its) return last;
    if (!row.tail_kind.empty()) last.words = row.tail_text;
    if (json.at("reason").get<bool>()) last.reason = Reason{row.error_code, row.error_detail};
    last.digest = digest;
    return last;
}

}  // namespace

ConversationRow to_row(const Conversation& conversation) {
    ConversationRow row;
    row.status = conversation.status;
    row.last_event_at = conversation.last_event_at;
    row.due_at = due_at(conversation);
    const bool open = std::holds_alternative<Open>(conversation.standing);
    if (row.due_at) row.timer = open ? silence_timer : settle_timer;
    row.turn_open = current_turn(conversation) != nullptr;
    write_texts(conversation, row);
    row.recent_ids = dumped(Json(conversation.recent));
    Json fold = Json::object();
    std::visit(StandingWriter{fold}, conversation.standing);
    fold["newest"] = json_of(conversation.newest);
    fold["newest_status"] = json_of(conversation.newest_status);
    fold["number"] = conversation.highest_number;
    fold["agent_since_status"] = conversation.agent_since_status;
    if (conversation.last) {
        row.verdict = epilogue::name_of(conversation.last->verdict);
        fold["last"] = {{"key", conversation.last->turn_key},
                        {"verdict", row.verdict},
                        {"status_event", conversation.last->status_event},
                        {"opened_on", json_of(conversation.last->opened_on)},
                        {"reason", !current_turn(conversation) && conversation.last->reason.has_value()}};
    }
    row.fold = dumped(fold);
    return row;
}

Result<Conversation> from_row(const ConversationRow& row) {
    Conversation conversation;
    if (row.fold.empty()) return conversation;
    try {
        const Json fold = Json::parse(row.fold);
        const Digest digest = row.digest.empty() ? Digest{} : digest_of(Json::parse(row.digest));
        conversation.status = row.status;
        conversation.standing = standing_of(fold, row, digest);
        conversation.newest = instant_in(fold, "newest");
        conversation.newest_status = instant_in(fold, "newest_status");
        conversation.highest_number = fold.at("number").get<std::int64_t>();
        conversation.agent_since_status = fold.value("agent_since_status", false);
        if (!row.recent_ids.empty())
            conversation.recent = Json::parse(row.recent_ids).get<std::vector<std::string>>();
        if (fold.contains("last"))
            conversation.last = last_of(fold.at("last"), row, digest, !current_turn(conversation));
        conversation.last_event_at = row.last_event_at;
    } catch (const Json::exception& error) {
        return poisonous(std::string("conversations.fold cannot be read: ") + error.what());
    }
    return conversation;
}

}  // namespace epilogue
