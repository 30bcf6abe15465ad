#include "worker/apply/registration.h"

#include "base/ids.h"
#include "base/mutant.h"
#include "schemas/decode.h"
#include "sinks/processor.h"
#include "worker/apply/equal_registration.h"
#include "worker/apply/reconcile_request.h"
#include "worker/apply/unreported_end.h"
#include "worker/core/fold.h"
#include "worker/core/server_log.h"
#include "worker/store/agent_endpoint_rows.h"
#include "worker/store/callback_rows.h"
#include "worker/store/conversation_rows.h"

namespace epilogue {
namespace {

Result<bool> step_callback(Store& store, CallbackId id, const CallbackEvent& event) {
    bool exists = false;
    const auto work = [&](Transaction& transaction) -> Result<void> {
        TRY(const auto callback, transaction.callbacks().lock(id));
        exists = callback.has_value();
        if (!callback) return {};
        const CallbackState next = step(callback->state, callback->options, event).state;
        return next == callback->state ? Result<void>() : transaction.callbacks().update_state(id, next);
    };
    TRY_VOID(store.transact_idempotent(work));
    return exists;
}

}  // namespace

Result<void> begin_watch(Transaction& transaction, const Planner& planner, const Conversation& conversation,
                         CallbackRow& callback, Instant now, const WatchRules& watch, std::string* planned) {
    TRY_VOID(request_reconcile(transaction, callback.conversation_id, conversation, now,
                               watch.default_agent_server));
    const bool is_unread = is_unseen(conversation) && due_at(conversation);
    if (is_unread || std::holds_alternative<Open>(conversation.turn_state)) {
        InactivityRules rules;
        rules.after = watch.inactivity;
        rules.watched_since = now;
        return transaction.conversations().update(
            {{callback.conversation_id, watch_inactivity(conversation, rules), false, {}}});
    }
    if (!callback.options.from_last) return {};
    TRY(const Processor place, decode_processor(callback.processor_type, callback.processor_json));
    TRY(const bool is_owed, has_unreported_end(transaction, callback.conversation_id, conversation, place));
    if (!is_owed) return {};
    Plan plan;
    planner.add(callback.conversation_id, *conversation.last, {}, {&callback}, plan);
    TRY(const auto fresh, planner.write(transaction, plan, {callback}));
    if (!fresh.empty() && planned) *planned = place.sink;
    return {};
}

namespace {

/// An equal callback is there already: it hears what the request knows beside it.
Result<Registered> join(Transaction& transaction, const Planner& planner, const RegistrationRequest& request,
                        const Conversation& conversation, CallbackRow equal) {
    Registered registered{equal.id, false, true, {}};
    if (request.kept && !equal.idempotency_key.empty())
        TRY_VOID(transaction.callbacks().point_idempotency_key(request.kept->key, equal.idempotency_key));
    if (request.endpoint) TRY_VOID(transaction.agent_endpoints().save(*request.endpoint));
    const CallbackState awake = step(equal.state, equal.options, WakeAsked{}).state;
    if (awake == equal.state && !request.endpoint) return registered;
    TRY(const Instant now, transaction.now());
    if (awake == equal.state) {
        TRY_VOID(request_reconcile(transaction, equal.conversation_id, conversation, now,
                                   request.watch.default_agent_server));
        return registered;
    }
    equal.state = awake;
    equal.options = request.options;
    TRY_VOID(transaction.callbacks().update_state(equal.id, awake));
    TRY_VOID(
        begin_watch(transaction, planner, conversation, equal, now, request.watch, &registered.planned_sink));
    return registered;
}

/// One transaction of register_callback. `seen_before`: the conversation as a planted fault has it.
Result<Registered> register_in(Transaction& transaction, const Planner& planner,
                               const RegistrationRequest& request, CallbackRow row,
                               const std::optional<Conversation>& seen_before) {
    if (request.kept) {
        IdempotentRequest kept = *request.kept;
        kept.registration = row.idempotency_key;
        TRY(kept, transaction.callbacks().save_idempotency_key(kept));
        if (kept.body_sha256 != request.kept->body_sha256)
            return poisonous("Idempotency-Key: it came with another body before");
        row.idempotency_key = kept.registration;
    }
    TRY(const Conversation locked, transaction.conversations().lock_one(row.conversation_id));
    const Conversation& conversation = seen_before ? *seen_before : locked;
    TRY(const auto known, transaction.callbacks().with_idempotency_key(row.idempotency_key));
    if (known) return Registered{*known, true, false, {}};
    if (!request.again) {
        TRY(auto equal, lock_equal(transaction, row));
        if (equal) return join(transaction, planner, request, conversation, std::move(*equal));
    }
    TRY(row.id, transaction.callbacks().insert(row));
    Registered registered{row.id, false, false, {}};
    if (request.endpoint) TRY_VOID(transaction.agent_endpoints().save(*request.endpoint));
    TRY(const Instant now, transaction.now());
    TRY_VOID(
        begin_watch(transaction, planner, conversation, row, now, request.watch, &registered.planned_sink));
    return registered;
}

}  // namespace

Result<Registered> register_callback(Store& store, const Planner& planner,
                                     const RegistrationRequest& request) {
    if (const auto fault = key_fault(request.conversation_id); !fault.empty())
        return poisonous("conversation: expected 1 to 255 bytes of UTF-8 (" + std::string(fault) + ")");
    if (const auto processor = decode_processor(request.processor_type, request.processor_json); !processor)
        return Failure(processor.error());
    CallbackRow callback;
    callback.conversation_id = normalise_conversation_id(request.conversation_id);
    callback.options = request.options;
    callback.processor_type = request.processor_type;
    callback.processor_json = request.processor_json;
    callback.idempotency_key = request.idempotency_key.empty() ? random_uuid() : request.idempotency_key;

    std::optional<Conversation> seen_before;
    if (mutant(Mutant::late_registration_unlocked)) {
        TRY_VOID(store.read_only([&](Transaction& transaction) -> Result<void> {
            TRY(seen_before, transaction.conversations().lock_one(callback.conversation_id));
            return {};
        }));
    }

    Registered registered;
    const auto work = [&](Transaction& transaction) -> Result<void> {
        TRY(registered, register_in(transaction, planner, request, callback, seen_before));
        return {};
    };
    const auto is_done = [&](Transaction& transaction) -> Result<bool> {
        TRY_VOID(
            transaction.conversations().lock_one(callback.conversation_id));  // waits for a COMMIT under way
        TRY(const auto known, transaction.callbacks().with_idempotency_key(callback.idempotency_key));
        return known.has_value();
    };
    TRY_VOID(store.transact(work, is_done));
    return registered;
}

Result<bool> cancel_callback(Store& store, CallbackId id) {
    return step_callback(store, id, CancelAsked{});
}

Result<Woken> wake_callback(Store& store, const Planner& planner, CallbackId id, const WatchRules& watch) {
    Woken woken = Woken::unknown;
    const auto work = [&](Transaction& transaction) -> Result<void> {
        woken = Woken::unknown;
        TRY(const auto unlocked, transaction.callbacks().read(id));
        if (!unlocked) return {};
        TRY(const Conversation conversation, transaction.conversations().lock_one(unlocked->conversation_id));
        TRY(auto callback, transaction.callbacks().lock(id));
        if (!callback) return {};
        const Phase before = callback->state.phase;
        TRY(const Instant now, transaction.now());
        if (before == Phase::watching) {
            TRY(const bool asks, hurry_reconcile(transaction, callback->conversation_id, conversation, now,
                                                 watch.default_agent_server));
            woken = asks ? Woken::asked : Woken::awake;
            return {};
        }
        callback->state = step(callback->state, callback->options, WakeAsked{}).state;
        const bool is_woken = callback->state.phase != before;
        woken = is_woken ? Woken::woken : before == Phase::delivering ? Woken::awake : Woken::over;
        if (!is_woken) return {};
        TRY_VOID(transaction.callbacks().update_state(id, callback->state));
        return begin_watch(transaction, planner, conversation, *callback, now, watch);
    };
    TRY_VOID(store.transact_idempotent(work));
    return woken;
}

}  // namespace epilogue
