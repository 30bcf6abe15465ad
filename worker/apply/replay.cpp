#include "worker/apply/replay.h"

#include "base/ids.h"
#include "schemas/decode.h"
#include "worker/apply/transition.h"
#include "worker/store/dead_letter_rows.h"
#include "worker/store/partition_rows.h"

namespace epilogue {
namespace {

/// The letter's event, or why there is none.
struct Reread {
    std::optional<Event> event;
    std::string why;
};

Reread reread(const DeadLetterRow& letter) {
    if (static_cast<std::size_t>(letter.length) != letter.value.size())
        return {std::nullopt, "only the first 64 KiB were kept"};
    const std::string_view key = letter.key ? std::string_view(*letter.key) : std::string_view();
    if (const auto fault = key_fault(key); !fault.empty()) return {std::nullopt, std::string(fault)};
    Decoded decoded = Decoder().decode(letter.value);
    if (auto* event = std::get_if<Event>(&decoded)) return {std::move(*event), {}};
    if (const auto* poison = std::get_if<Poison>(&decoded))
        return {std::nullopt, poison->reason + " " + poison->detail};
    return {std::nullopt, "it holds nothing for us"};
}

}  // namespace

Result<Replayed> replay_dead_letter(Store& store, const Planner& planner, const BatchRules& rules,
                                    std::int64_t id) {
    Replayed replayed;
    const auto work = [&](Transaction& transaction) -> Result<void> {
        replayed = {};
        TRY(const auto letter, transaction.dead_letters().lock(id));
        if (!letter) return {};
        const Reread found = reread(*letter);
        if (!found.event) {
            replayed = {ReplayResult::unusable, found.why};
            return {};
        }
        const ConversationId conversation_id = normalise_conversation_id(*letter->key);
        TRY(const Instant now, transaction.now());
        Transition transition(transaction, planner, rules, PartitionRow{}, now);
        TRY_VOID(transition.load({conversation_id}, letter->partition));
        TRY(const Applied applied, transition.apply(*found.event, conversation_id, now,
                                                    {letter->partition, letter->offset.value, now}));
        TRY_VOID(transition.write());
        replayed.result = applied == Applied::repeat ? ReplayResult::repeat : ReplayResult::applied;
        return transaction.dead_letters().mark_replayed(id);
    };
    // A lost answer is simply tried again: the second time the event is a repeat.
    TRY_VOID(store.transact_idempotent(work));
    return replayed;
}

}  // namespace epilogue
