// The reading part of conversation_row.h.
#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "schemas/json_reader.h"
#include "worker/core/conversation_row.h"
#include "worker/core/digest_row.h"
#include "worker/core/held_event.h"

namespace epilogue {
namespace {

/// Reads JSON that to_row has written. What is missing or of another type is noted, and read as empty.
class RowReader {
  public:
    explicit RowReader(const ConversationRow& row) : row_(row) {}

    Result<Conversation> conversation() {
        const JsonPart fold = document(row_.fold, wanted_of_fold());
        const Digest digest = row_.digest.empty() ? Digest{} : this->digest();
        Conversation conversation;
        conversation.status = row_.status;
        conversation.turn_state = turn_state(fold, digest);
        conversation.newest = instant(fold, "newest");
        conversation.newest_status = instant(fold, "newest_status");
        conversation.highest_number = number(fold, "number");
        conversation.agent_since_status = fold["agent_since_status"].is_true();
        conversation.heard_at = instant(fold, "heard_at");
        if (const JsonPart& goal = fold["goal"]; goal.is_given())
            conversation.goal = GoalLoop{goal["active"].is_true(), instant(goal, "at")};
        conversation.has_stop_hook = fold["stop_hook"].is_true();
        if (const JsonPart& usage = fold["usage"]; usage.is_given())
            conversation.usage = UsageTold{number(usage, "cost"), number(usage, "in"), number(usage, "out")};
        read_clock(fold, conversation);
        read_early(fold, conversation);
        if (!row_.recent_ids.empty())
            conversation.recent = texts(document(row_.recent_ids, wanted_of_texts()));
        if (fold["last"].is_given())
            conversation.last = last(fold["last"], digest, current_turn(conversation) == nullptr);
        conversation.last_event_at = row_.last_event_at;
        if (!fault_.empty()) return poisonous("a row of conversations cannot be read: " + fault_);
        return conversation;
    }

  private:
    static const WantedPart& wanted_of_fold() {
        static const std::vector<WantedPart> turn{{"key"},
                                                  {"opened_on"},
                                                  {"opened_at"},
                                                  {"first_at"},
                                                  {"acted"},
                                                  {"status_seen"},
                                                  {"word_at"},
                                                  {"reason"},
                                                  {"reason_kind"},
                                                  {"origin"},
                                                  {"noticed", wanted_of_texts().members}};
        static const std::vector<WantedPart> last{{"key"},       {"verdict"},  {"status_event"},
                                                  {"opened_on"}, {"reason"},   {"reason_kind"},
                                                  {"in_gap"},    {"first_at"}, {"origin"}};
        static const std::vector<WantedPart> unopened{
            {"key"}, {"opened_on"}, {"word_kind"}, {"word"}, {"word_at"}};
        static const WantedPart wanted{
            "",
            {{"standing"},
             {"turn", turn},
             {"status_event"},
             {"at"},
             {"due"},
             {"asked"},
             {"newest"},
             {"newest_status"},
             {"number"},
             {"agent_since_status"},
             {"heard_at"},
             {"goal", {{"active"}, {"at"}}},
             {"stop_hook"},
             {"awaits_hook"},
             {"seq"},
             {"follows_seq"},
             {"zone"},
             {"clock_jump", {{"zone"}, {"events"}, {"held", wanted_of_held_event()}}},
             {"usage", {{"cost"}, {"in"}, {"out"}}},
             {"last", last},
             {"unopened", unopened},
             {"early_end", {{"status"}, {"status_event"}, {"at"}, {"code"}, {"detail"}, {"kind"}}},
             {"early_words", {{"word_kind"}, {"word"}, {"word_at"}}}}};
        return wanted;
    }
    /// Of an array elements are kept when members of them are wanted.
    static const WantedPart& wanted_of_texts() {
        static const WantedPart wanted{"", {{"text"}}};
        return wanted;
    }

    JsonPart document(const std::string& json, const WantedPart& wanted) {
        thread_local JsonReader reader;
        auto part = reader.read(json, wanted);
        if (part) return std::move(*part);
        note(part.error().detail);
        return {};
    }

    void note(std::string_view fault) {
        if (fault_.empty()) fault_ = fault;
    }
    std::string text(const JsonPart& object, std::string_view name) {
        const auto text = object[name].string();
        if (!text) note(name);
        return std::string(text.value_or(""));
    }
    std::int64_t number(const JsonPart& object, std::string_view name) {
        const auto number = object[name].integer();
        if (!number) note(name);
        return number.value_or(0);
    }
    bool flag(const JsonPart& object, std::string_view name) {
        if (object[name].type != JsonPart::Type::boolean) note(name);
        return object[name].is_true();
    }
    static std::optional<Instant> instant(const JsonPart& object, std::string_view name) {
        const auto number = object[name].integer();
        return number ? std::optional(Instant{Micros{*number}}) : std::nullopt;
    }
    /// The elements of an array; none when there is no array.
    const std::vector<JsonPart>& elements(const JsonPart& array) {
        static const std::vector<JsonPart> none;
        if (array.type == JsonPart::Type::array) return array.parts;
        if (array.type != JsonPart::Type::absent) note("what should be a list");
        return none;
    }
    std::vector<std::string> texts(const JsonPart& array) {
        std::vector<std::string> texts;
        for (const JsonPart& element : elements(array)) {
            if (!element.string()) note("what should be a list of texts");
            texts.push_back(element.text);
        }
        return texts;
    }

    Digest digest() {
        auto digest = digest_from_json(row_.digest);
        if (!digest) note(digest.error().text);
        return digest ? std::move(*digest) : Digest{};
    }

    /// The reason in the row's columns, and its kind in `json`.
    Reason reason(const JsonPart& json) const {
        return {row_.error_code, row_.error_detail, std::string(json["reason_kind"].string_or_empty())};
    }

    void read_clock(const JsonPart& fold, Conversation& conversation) {
        conversation.highest_seq = fold["seq"].integer().value_or(-1);
        conversation.follows_seq = fold["follows_seq"].is_true();
        if (const auto zone = fold["zone"].integer()) conversation.zone = std::chrono::minutes{*zone};
        const JsonPart& jump = fold["clock_jump"];
        if (!jump.is_given()) return;
        conversation.clock_jump = ClockJump{
            std::chrono::minutes{number(jump, "zone")}, static_cast<int>(number(jump, "events")), {}};
        for (const JsonPart& held : elements(jump["held"]))
            conversation.clock_jump->held.push_back(read_held_event(held));
    }

    Turn turn(const JsonPart& json, const Digest& digest) {
        Turn turn;
        turn.key = TurnKey(text(json, "key"));
        turn.origin = json["origin"].string_or_empty();
        turn.opened_on = instant(json, "opened_on");
        turn.opened_at = instant(json, "opened_at");
        turn.first_at = instant(json, "first_at");
        turn.agent_acted = flag(json, "acted");
        turn.status_seen = flag(json, "status_seen");
        if (!row_.tail_kind.empty())
            turn.final_message =
                FinalMessage{row_.tail_kind == "finish" ? MessageKind::finish : MessageKind::message,
                             row_.tail_text, instant(json, "word_at")};
        if (flag(json, "reason")) turn.reason = reason(json);
        for (const std::string& name : texts(json["noticed"]))
            if (const auto verdict = verdict_named(name)) turn.noticed.push_back(*verdict);
        turn.digest = digest;
        return turn;
    }

    std::optional<UnopenedTurn> unopened_turn(const JsonPart& json) {
        if (!json.is_given()) return std::nullopt;
        return UnopenedTurn{TurnKey(text(json, "key")), instant(json, "opened_on").value_or(Instant{}),
                            words(json)};
    }

    FinalMessage words(const JsonPart& json) {
        const MessageKind kind =
            text(json, "word_kind") == "finish" ? MessageKind::finish : MessageKind::message;
        return {kind, text(json, "word"), instant(json, "word_at")};
    }

    void read_early(const JsonPart& fold, Conversation& conversation) {
        if (const JsonPart& words = fold["early_words"]; words.is_given())
            conversation.early_words = this->words(words);
        const JsonPart& end = fold["early_end"];
        if (!end.is_given()) return;
        conversation.early_end = EarlyEnd{text(end, "status"), text(end, "status_event"),
                                          instant(end, "at").value_or(Instant{}), std::nullopt};
        if (end["code"].is_given())
            conversation.early_end->reason =
                Reason{text(end, "code"), text(end, "detail"), text(end, "kind")};
    }

    TurnState turn_state(const JsonPart& json, const Digest& digest) {
        const std::string name = text(json, "standing");
        if (name == "none") return NoTurn{instant(json, "due")};
        if (name == "ended" || name == "timed_out")
            return Ended{name == "timed_out", unopened_turn(json["unopened"])};
        Turn turn = this->turn(json["turn"], digest);
        if (name == "open") return Open{std::move(turn), instant(json, "due"), json["asked"].is_true()};
        const std::string status_event = text(json, "status_event");
        const Instant due = instant(json, "due").value_or(Instant{});
        if (name == "candidate")
            return Candidate{std::move(turn), status_event, instant(json, "at"), due,
                             json["awaits_hook"].is_true()};
        return AwaitingDetail{std::move(turn), status_event, due};
    }

    TurnEnd last(const JsonPart& json, const Digest& digest, bool texts_are_its) {
        TurnEnd last;
        last.turn_key = TurnKey(text(json, "key"));
        last.verdict = verdict_named(text(json, "verdict")).value_or(Verdict::finished);
        last.status_event = text(json, "status_event");
        last.opened_on = instant(json, "opened_on");
        last.may_lie_in_gap = json["in_gap"].is_true();
        last.first_at = instant(json, "first_at");
        last.origin = json["origin"].string_or_empty();
        if (!texts_are_its) return last;
        if (!row_.tail_kind.empty()) last.final_message = row_.tail_text;
        if (flag(json, "reason")) last.reason = reason(json);
        last.digest = digest;
        return last;
    }

    const ConversationRow& row_;
    std::string fault_;  ///< the first that was met
};

}  // namespace

Result<Conversation> from_row(const ConversationRow& row) {
    return row.fold.empty() ? Conversation{} : RowReader(row).conversation();
}

}  // namespace epilogue
