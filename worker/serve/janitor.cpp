#include "worker/serve/janitor.h"

#include <chrono>
#include <optional>

#include "base/io/log.h"
#include "base/stoppable_wait.h"

namespace epilogue {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::hours pass_every{1};
constexpr std::chrono::seconds look_every{5};
constexpr std::chrono::hours all_bodies_every{24};
constexpr std::chrono::milliseconds between_chunks{50};

}  // namespace

void Janitor::run(const std::stop_token& stop) {
    RateLimitedLog complaints;
    std::optional<Clock::time_point> last;
    while (wait_or_stop(stop, look_every)) {
        const bool is_due = !last || Clock::now() - *last >= pass_every;
        if (!is_due || !is_ours_()) continue;
        const auto passed = pass(stop);
        if (passed)
            last = Clock::now();
        else
            complaints.warn("janitor", "what [retention] says is not removed",
                            {{"why", passed.error().text}});
    }
}

Result<void> Janitor::pass(const std::stop_token& stop) {
    TRY(const Instant now, rows_.now());
    const RetentionLimits limits = retention_limits(rules_, now);
    // Those that could not lose it when the cursor came by are few, and come the next day.
    if (!bodies_from_start_ || now - *bodies_from_start_ >= all_bodies_every) {
        bodies_from_start_ = now;
        bodies_ = {};
    }
    RetentionCursor summaries;
    RetentionCursor conversations;
    RetentionCursor ledger;
    TRY(const auto letters_gone,
        remove_all(
            "dead_letter", [&] { return rows_.remove_dead_letters(limits.dead_letters); }, stop));
    TRY(const auto bodies_gone,
        remove_all(
            "body", [&] { return rows_.remove_bodies(limits.bodies, bodies_); }, stop));
    TRY(const auto summaries_gone,
        remove_all(
            "summary", [&] { return rows_.remove_summaries(limits.bodies, summaries); }, stop));
    TRY(const auto conversations_gone,
        remove_all(
            "conversation", [&] { return rows_.remove_conversations(limits.conversations, conversations); },
            stop));
    TRY(const auto ledger_gone,
        remove_all(
            "delivery", [&] { return rows_.remove_deliveries(limits.ledger, ledger); }, stop));
    const auto all = letters_gone + bodies_gone + summaries_gone + conversations_gone + ledger_gone;
    if (all > 0)
        log_info("removed what is older than [retention] says", {{"dead_letters", letters_gone},
                                                                 {"bodies", bodies_gone},
                                                                 {"summaries", summaries_gone},
                                                                 {"conversations", conversations_gone},
                                                                 {"deliveries", ledger_gone}});
    return {};
}

Result<std::int64_t> Janitor::remove_all(std::string_view what, const NextChunk& next,
                                         const std::stop_token& stop) const {
    std::int64_t removed = 0;
    while (!stop.stop_requested() && is_ours_()) {
        TRY(const RetentionChunk chunk, next());
        if (chunk.removed > 0) observer_.removed(what, chunk.removed);
        removed += chunk.removed;
        if (chunk.is_last || !wait_or_stop(stop, between_chunks)) break;
    }
    return removed;
}

}  // namespace epilogue
