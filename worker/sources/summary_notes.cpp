#include "worker/sources/summary_notes.h"

#include <nlohmann/json.hpp>

#include "base/bounded_json.h"
#include "base/ids.h"
#include "worker/store/callback_rows.h"
#include "worker/store/conversation_rows.h"
#include "worker/store/delivery_rows.h"

namespace epilogue {
namespace {

std::string day_of(Instant at) {
    constexpr std::size_t date = 10;
    return to_iso(at).substr(0, date);
}

bool is_over(std::int64_t used, std::int64_t limit) {
    return limit > 0 && used > limit;
}

LlmSpending sum(const LlmSpending& one, const LlmSpending& other) {
    return {one.requests + other.requests, one.tokens_in + other.tokens_in, one.tokens_out + other.tokens_out,
            one.cost + other.cost};
}

/// Whether some callback of which a delivery tells wants the instruction.
Result<bool> is_wanted(Transaction& transaction, const TurnId& turn) {
    TRY(const auto deliveries, transaction.deliveries().lock_of(turn));
    for (const DeliveryRow& delivery : deliveries) {
        TRY(const auto callback, transaction.callbacks().read(delivery.callback_id));
        if (callback && wants_instruction(callback->processor_json)) return true;
    }
    return false;
}

}  // namespace

bool wants_instruction(const std::string& processor_json) {
    const auto json = parse_json(processor_json);
    if (!json.is_object()) return true;
    for (const char* flag : {"send_summary_instruction", "should_request_summary"})
        if (const auto found = json.find(flag); found != json.end() && found->is_boolean())
            return found->get<bool>();
    return true;
}

std::string count_question(SummaryNotes* notes, std::string_view source, std::int64_t per_day) {
    if (notes == nullptr || per_day == 0) return "";
    // No model can have such a name.
    const auto day =
        notes->reserve("[summary] " + std::string(source), {.requests = 1}, {.requests = per_day});
    if (!day) return day.error().text;
    return *day ? "" : "the questions of today are used up";
}

Result<std::optional<TurnEnd>> StoredSummaryNotes::turn(const TurnId& turn) {
    std::optional<TurnEnd> found;
    TRY_VOID(store_.read_only([&](Transaction& transaction) -> Result<void> {
        TRY(auto conversation, transaction.conversations().lock_one(turn.conversation_id));
        if (conversation.last && conversation.last->turn_key == turn.turn_key)
            found = std::move(conversation.last);
        return {};
    }));
    return found;
}

Result<std::optional<std::string>> StoredSummaryNotes::reserve(const std::string& model,
                                                               const LlmSpending& most,
                                                               const LlmLimits& limits) {
    std::optional<std::string> reserved;
    TRY_VOID(store_.transact_idempotent([&](Transaction& transaction) -> Result<void> {
        reserved.reset();
        TRY(const Instant now, transaction.now());
        const std::string day = day_of(now);
        TRY(const LlmSpending spent, transaction.summaries().lock_llm_spending(model, day));
        const LlmSpending then = sum(spent, most);
        if (is_over(then.tokens_in + then.tokens_out, limits.tokens) || is_over(then.cost, limits.cost) ||
            is_over(then.requests, limits.requests))
            return {};
        reserved = day;
        return transaction.summaries().put_llm_spending(model, day, then);
    }));
    return reserved;
}

Result<void> StoredSummaryNotes::settle(const std::string& model, const std::string& day,
                                        const LlmSpending& reserved, const LlmSpending& used) {
    return store_.transact_idempotent([&](Transaction& transaction) -> Result<void> {
        TRY(const LlmSpending spent, transaction.summaries().lock_llm_spending(model, day));
        LlmSpending now = sum(spent, used);
        now.requests -= reserved.requests;
        now.tokens_in -= reserved.tokens_in;
        now.tokens_out -= reserved.tokens_out;
        now.cost -= reserved.cost;
        return transaction.summaries().put_llm_spending(model, day, now);
    });
}

Result<std::optional<std::string>> StoredSummaryNotes::instruction(const TurnId& turn) {
    const std::string id = random_uuid();
    std::optional<std::string> kept;
    TRY_VOID(store_.transact_idempotent([&](Transaction& transaction) -> Result<void> {
        kept.reset();
        TRY(const bool wanted, is_wanted(transaction, turn));
        if (!wanted) return {};
        TRY(kept, transaction.summaries().keep_instruction(turn, id));
        return {};
    }));
    return kept;
}

}  // namespace epilogue
