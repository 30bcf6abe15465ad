#include "worker/agents/summariser.h"

#include <algorithm>

#include "base/io/log.h"
#include "base/mutant.h"
#include "base/redacted.h"
#include "base/text.h"
#include "base/under_way.h"
#include "schemas/summary.h"
#include "worker/core/conversation.h"
#include "worker/core/cut_words.h"
#include "worker/store/delivery_rows.h"
#include "worker/store/fence.h"
#include "worker/store/freeze.h"
#include "worker/store/leased_rows.h"
#include "worker/store/summary_rows.h"

namespace epilogue {

bool lacks_words(const SummaryRow& row) {
    constexpr std::size_t longest_code_point = 4;
    const auto summary = summary_from_json(row.body);
    return !summary || summary->final_message.empty() || are_cut_words(summary->final_message) ||
           summary->final_message.size() + longest_code_point > max_message_bytes;
}

Result<SummaryRow> with_words_of(const FinalMessageReply& reply, SummaryRow row, Language language) {
    if (reply.kind != FinalMessageReply::Kind::confirmed || trimmed(reply.words).empty()) return row;
    TRY(Summary summary, summary_from_json(row.body));
    summary.final_message = cut_words_in(language, redacted_words(reply.words, max_final_bytes));
    row.source = reply.source;
    row.body = to_json(summary);
    return row;
}

namespace {

FinalMessageQuery question_about(const SummaryRow& row) {
    FinalMessageQuery query{
        {row.conversation_id, row.turn_key}, row.status_event, lacks_words(row), row.source};
    if (auto summary = summary_from_json(row.body)) {
        query.headline = std::move(summary->headline);
        query.facts = std::move(summary->facts);
    }
    return query;
}

}  // namespace

/// A summary that this summariser has leased.
struct Summariser::Job {
    SummaryRow row;
    std::chrono::milliseconds left{0};  ///< until its deadline
    std::chrono::steady_clock::time_point lease_end{};
};

Result<bool> Summariser::work_at(const TurnId& turn, const std::stop_token& stop) {
    const WorkingAt note(leased_summary, turn.conversation_id, turn.turn_key);
    Job job;
    job.lease_end = rules_.steady() + rules_.lease;
    TRY(const bool leased, lease(turn, job));
    if (!leased) return false;
    FinalMessageReply reply;
    if (job.row.crashes >= most_crashes) {
        log_warn("asking for a conversation's last words ended two workers; the log's own are posted",
                 {{"conversation", turn.conversation_id}, {"turn", turn.turn_key}});
        reply.kind = FinalMessageReply::Kind::refused;
    } else if (const auto within = may_ask_for(job); within.count() > 0)
        reply = final_messages_.ask(question_about(job.row), within, stop);
    if (reply.kind == FinalMessageReply::Kind::stopped) {
        TRY_VOID(release(job));
        return true;
    }
    const bool may_ask_again =
        reply.kind == FinalMessageReply::Kind::late && !reply.is_spent && job.left > rules_.lease;
    if (!may_ask_again) TRY_VOID(freeze(job, reply));
    return true;
}

/// What is left of the lease, also when this process stood still since it was taken: another worker may be
/// asking by then.
std::chrono::milliseconds Summariser::may_ask_for(const Job& job) const {
    if (mutant(Mutant::question_outlasts_lease)) return std::min(job.left, rules_.lease);
    return std::min(job.left,
                    std::chrono::duration_cast<std::chrono::milliseconds>(job.lease_end - rules_.steady()));
}

Result<bool> Summariser::lease(const TurnId& turn, Job& job) {
    bool leased = false;
    const auto work = [&](Transaction& transaction) -> Result<void> {
        leased = false;
        TRY(auto row, transaction.summaries().lock(turn));
        TRY(const Instant now, transaction.now());
        if (!row || !row->owed || (row->lease_until && *row->lease_until > now)) return {};
        row->owner = rules_.owner;
        row->generation.value += 1;
        row->lease_until = now + rules_.lease;
        TRY_VOID(transaction.summaries().update(*row));
        job.left =
            std::chrono::duration_cast<std::chrono::milliseconds>(row->created_at + rules_.deadline - now);
        job.row = std::move(*row);
        leased = true;
        return {};
    };
    TRY_VOID(store_.transact(work, [&](Transaction& transaction) -> Result<bool> {
        TRY(const auto row, transaction.summaries().lock(turn));
        return row && row->generation == job.row.generation && row->owner == rules_.owner;
    }));
    return leased;
}

Result<void> Summariser::release(const Job& job) {
    const auto work = [&](Transaction& transaction) -> Result<void> {
        TRY(auto row, transaction.summaries().lock({job.row.conversation_id, job.row.turn_key}));
        if (!row || !row->owed || row->generation != job.row.generation) return {};
        row->lease_until.reset();
        return transaction.summaries().update(*row);
    };
    return store_.transact_idempotent(work);
}

Result<void> Summariser::freeze(const Job& job, const FinalMessageReply& reply) {
    TRY(const SummaryRow row, with_words_of(reply, job.row, rules_.language));
    std::vector<DeliveryRow> released;
    const auto work = [&](Transaction& transaction) -> Result<void> {
        TRY(released, freeze_and_release(transaction, row));
        return {};
    };
    const auto done = store_.transact(work, [&](Transaction& transaction) -> Result<bool> {
        TRY(const auto stored, transaction.summaries().lock({row.conversation_id, row.turn_key}));
        return stored && !stored->owed;
    });
    if (!done && is_fenced(done.error())) return {};  // its posts fell due, or its lease had passed
    if (!done) return Failure(done.error());
    observer_.froze(row.source, name_of(reply.kind));
    for (const DeliveryRow& delivery : released) observer_.released(delivery);
    return {};
}

}  // namespace epilogue
