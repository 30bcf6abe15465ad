// When an agent server that did not tell what became of a conversation is asked again, and when it is given
// up. Pure: the row, its lease and the database's clock are the caller's.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "base/instant.h"

namespace epilogue {

/// Why an agent server is asked for what the topic did not tell.
enum class ReconcileReason {
    registered,  ///< a callback came, and the topic may have lost what was before it
    inactivity,  ///< an open turn is inactive, and would be given up
    gap,         ///< records were gone before they were read; its own may be among them
};
/// As the column catch_ups.why and metrics spell it.
std::string_view name_of(ReconcileReason reason);
std::optional<ReconcileReason> reconcile_reason_named(std::string_view name);

/// What kept a conversation's log from being read.
enum class Hindrance {
    no_server,     ///< there is none to ask
    unusable,      ///< its address or key cannot be used
    unknown,       ///< the server knows no such conversation
    not_begun,     ///< the server knows it, but no turn of it
    unauthorised,  ///< the key is wrong or missing
    unreachable,   ///< no answer
    failed,        ///< the server cannot read it: an answer that is a failure, or makes no sense
};
/// As the column catch_ups.hindrance and metrics spell it: "no_server", …
std::string_view name_of(Hindrance hindrance);
std::optional<Hindrance> hindrance_named(std::string_view name);
/// Each of them, in this order.
const std::vector<Hindrance>& all_hindrances();

/// A question that was asked in vain.
struct VainQuestion {
    ReconcileReason why = ReconcileReason::registered;
    Hindrance hindrance = Hindrance::unreachable;
    int attempts = 1;                         ///< so far, the last one included
    Micros asked_for{0};                      ///< since the question came up
    std::chrono::milliseconds left_alone{0};  ///< from now on the server is not asked by this process
};

/// The pause after which the server is asked again; nullopt: it is given up. Pauses grow, those after a log
/// that the server could not read begin longer, since reading costs it most; none is shorter than the server
/// is left alone. A registration is asked about for `patience`, a gap for a day, and four times more at the
/// least; an inactivity no more than four times, because its turn times out meanwhile.
std::optional<std::chrono::seconds> pause_after(const VainQuestion& question, std::chrono::seconds patience);

/// Until when a question that came up at `since` is asked.
Instant asked_until(ReconcileReason why, Instant since, std::chrono::seconds patience);

/// Whether the hindrance is worth a word on the callback. A conversation that has not begun is as it should
/// be, and an inactivity ends by itself.
bool is_told(ReconcileReason why, Hindrance hindrance);

}  // namespace epilogue
