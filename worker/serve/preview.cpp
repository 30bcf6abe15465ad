#include "worker/serve/preview.h"

#include <utility>

#include "base/enum_names.h"
#include "base/ids.h"
#include "base/io/http.h"
#include "base/text.h"
#include "sinks/port/transport.h"
#include "sinks/processor.h"
#include "worker/core/fold.h"
#include "worker/mysql/columns.h"
#include "worker/store/callback_rows.h"
#include "worker/store/conversation_rows.h"
#include "worker/store/delivery_rows.h"
#include "worker/store/summary_rows.h"

namespace epilogue {
namespace {

constexpr EnumNames<PreviewBasis, 4> basis_names{{"delivery", "last_turn", "open_turn", "nothing"}};
static_assert(basis_names.ends_with(PreviewBasis::nothing));

/// What the preview of a post is made of.
struct Basis {
    CallbackRow callback;
    std::optional<DeliveryRow> owed;
    Conversation conversation;
    TurnEnd turn;
    std::optional<Summary> frozen;  ///< the turn's summary, when it was made already
    std::string source;             ///< of that
    bool summary_owed = false;      ///< its agent server may still say better words
};

/// The callback as the worker has it, or will have it once it has adopted the row.
Result<std::optional<CallbackRow>> callback_row(Transaction& transaction, CallbackId id) {
    TRY(auto known, transaction.callbacks().read(id));
    if (known) return known;
    TRY(const auto foreign, transaction.callbacks().read_unadopted(id));
    if (!foreign) return std::optional<CallbackRow>();
    CallbackRow row;
    row.id = id;
    row.conversation_id = normalise_conversation_id(foreign->conversation_id);
    row.processor_type = foreign->processor_type;
    row.processor_json = foreign->processor_json;
    return std::optional(std::move(row));
}

/// The turn that is open, or none at all, as the fold would count it if `finished` came now and stood.
TurnEnd as_if_finished(const Conversation& conversation) {
    constexpr Instant far_off{std::chrono::hours{24 * 365 * 300}};
    Event finished;
    finished.id = "preview";
    finished.body = StatusChange{"finished", ""};
    FoldRules rules;
    rules.settle = std::chrono::milliseconds{0};
    rules.hook_wait = rules.settle;
    Conversation without_goal = conversation;
    without_goal.goal.reset();
    Folded folded = fold(std::move(without_goal), finished, far_off, rules);
    if (folded.ended.empty()) folded = tick(std::move(folded.conversation), far_off, rules);
    return folded.ended.empty() ? TurnEnd{} : std::move(folded.ended.front());
}

Result<void> read_basis(Transaction& transaction, const std::optional<DeliveryId>& owed_id, Basis& basis) {
    if (owed_id) {
        TRY(basis.owed, transaction.deliveries().lock(*owed_id));
    }
    TRY(basis.conversation, transaction.conversations().lock_one(basis.callback.conversation_id));
    if (basis.owed) {
        basis.turn.turn_key = basis.owed->turn_key;
        basis.turn.verdict = basis.owed->verdict;
    } else {
        basis.turn = basis.conversation.last ? *basis.conversation.last : as_if_finished(basis.conversation);
    }
    if (!basis.owed && !basis.conversation.last) return {};
    TRY(const auto row, transaction.summaries().find({basis.callback.conversation_id, basis.turn.turn_key}));
    if (row) {
        TRY(basis.frozen, summary_from_json(row->body));
        basis.summary_owed = row->owed;
        basis.source = row->source;
    }
    return {};
}

Result<std::optional<Basis>> basis_of(MysqlStore& store, CallbackId callback_id) {
    TRY(const auto rows,
        store.query("SELECT delivery_id FROM deliveries WHERE callback_id=? AND state NOT IN "
                    "('SENT','FAILED') ORDER BY ordinal LIMIT 1",
                    {callback_id.value}));
    const auto owed_id = rows.empty() ? std::nullopt : std::optional(Columns(rows[0]).id<DeliveryId>());
    std::optional<Basis> basis;
    TRY_VOID(store.read_only([&](Transaction& transaction) -> Result<void> {
        TRY(auto callback, callback_row(transaction, callback_id));
        if (!callback) return {};
        basis.emplace();
        basis->callback = std::move(*callback);
        return read_basis(transaction, owed_id, *basis);
    }));
    return basis;
}

std::string note_of(const Basis& basis, PreviewBasis kind) {
    if (basis.owed)
        return "the delivery " + basis.owed->id + ", " + std::string(name_of(basis.owed->progress.state)) +
               (next_action(basis.owed->progress) == NextAction::look
                    ? ": it is looked for on the platform before it is posted again"
                : basis.summary_owed ? ": its agent server is still asked for the last words"
                                     : "");
    std::string note = kind == PreviewBasis::last_turn ? "the conversation's last end"
                       : kind == PreviewBasis::open_turn
                           ? "no turn has ended yet: the open one, as if it finished now"
                           : "nothing of this conversation was read yet: an empty turn stands for it";
    const CallbackState& state = basis.callback.state;
    const bool would_report =
        step(state, basis.callback.options,
             TurnCounted{basis.turn.turn_key, basis.turn.verdict, true, basis.turn.status_event})
            .plan.has_value();
    if (kind == PreviewBasis::last_turn && state.last_turn_key == basis.turn.turn_key)
        note += "; this callback has reported it";
    else if (!would_report)
        note +=
            "; this callback does not report it: its phase is " + std::string(name_of(state.phase)) +
            (state.phase != Phase::watching        ? ""
             : basis.callback.options.told.empty() ? ", and the verdict none of its triggers"
                                                   : ", and OpenHands has told it, or the verdict is none "
                                                     "of its triggers");
    return note;
}

/// Tokens, and signatures that a receiver would take.
void hide_secrets(HttpRequest& request) {
    for (std::string& header : request.headers) {
        const auto name = header.substr(0, header.find(':'));
        if (lowered(name) == "authorization" || lowered(name) == "webhook-signature")
            header = name + ": [hidden]";
    }
}

/// The first request of the dialogue that writes, secrets hidden: the reads before it are made. nullopt: it
/// came to its end without one.
std::optional<HttpRequest> first_write(Dialogue<Attempt>& dialogue, std::chrono::milliseconds timeout) {
    const auto network = over_http();
    const auto until = steady_time() + timeout;
    while (HttpRequest* request = dialogue.request()) {
        if (request->method != "GET" && !request->changes_nothing) {
            hide_secrets(*request);
            return *request;
        }
        request->timeout = std::chrono::duration_cast<std::chrono::milliseconds>(until - steady_time());
        dialogue.answer(network(*request));
    }
    return std::nullopt;
}

}  // namespace

std::string_view name_of(PreviewBasis basis) {
    return basis_names.of(basis);
}

Result<std::optional<Preview>> preview(MysqlStore& store, const Planner& planner,
                                       const SinkSettings& settings, std::chrono::milliseconds http_timeout,
                                       CallbackId callback_id) {
    TRY(const auto basis, basis_of(store, callback_id));
    if (!basis) return std::optional<Preview>();
    const CallbackRow& callback = basis->callback;
    TRY(const Processor processor, decode_processor(callback.processor_type, callback.processor_json));

    Preview shown;
    shown.basis = basis->owed                         ? PreviewBasis::delivery
                  : basis->conversation.last          ? PreviewBasis::last_turn
                  : current_turn(basis->conversation) ? PreviewBasis::open_turn
                                                      : PreviewBasis::nothing;
    shown.note = note_of(*basis, shown.basis);
    shown.conversation_id = callback.conversation_id;
    shown.turn_key = basis->turn.turn_key;
    shown.verdict = name_of(basis->turn.verdict);
    shown.delivery_id = planner.delivery_id(callback_id, callback.conversation_id, shown.turn_key);
    shown.sink = processor.sink;
    shown.target = describe(processor);

    const auto sinks = make_sinks(settings);
    Sink& sink = *sinks.at(processor.sink);
    Post post;
    post.delivery_id = shown.delivery_id;
    post.conversation_id = callback.conversation_id;
    post.target = processor.target;
    if (basis->owed) post.body = basis->owed->body;
    const MadeSummary made = basis->frozen ? MadeSummary{.summary = *basis->frozen, .source = basis->source}
                                           : planner.summary_of(basis->turn, callback.conversation_id);
    shown.source = made.source;
    if (post.body.empty()) post.body = sink.render(made.summary, shown.delivery_id);
    auto dialogue = sink.create(std::move(post));
    shown.request = first_write(dialogue, http_timeout);
    if (!shown.request) {
        const Attempt attempt = dialogue.outcome();
        shown.cause = attempt.cause;
        shown.may_pass = attempt.answer == Answer::retry;
    }
    return std::optional(std::move(shown));
}

}  // namespace epilogue
