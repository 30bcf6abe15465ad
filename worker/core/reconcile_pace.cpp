#include "worker/core/reconcile_pace.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/enum_names.h"
#include "base/mutant.h"

namespace epilogue {
namespace {

using std::chrono::seconds;

constexpr EnumNames<ReconcileReason, 3> reason_names{{"registered", "silence", "gap"}};
static_assert(reason_names.ends_with(ReconcileReason::gap));

constexpr EnumNames<Hindrance, 7> hindrance_names{
    {"no_server", "unusable", "unknown", "not_begun", "unauthorised", "unreachable", "failed"}};
static_assert(hindrance_names.ends_with(Hindrance::failed));

/// Each list's last pause is repeated.
constexpr std::array<seconds, 6> until_it_answers{
    {seconds{5}, seconds{15}, seconds{45}, seconds{120}, seconds{300}, seconds{600}}};
constexpr std::array<seconds, 8> until_it_has_begun{{seconds{5}, seconds{15}, seconds{45}, seconds{120},
                                                     seconds{300}, seconds{600}, seconds{1200},
                                                     seconds{2400}}};
constexpr std::array<seconds, 7> until_it_can_be_read{
    {seconds{30}, seconds{60}, seconds{120}, seconds{240}, seconds{480}, seconds{960}, seconds{1800}}};
constexpr int always_again = 4;
constexpr seconds patience_after_a_gap{86400};

std::span<const seconds> pauses_for(Hindrance hindrance) {
    switch (hindrance) {
        case Hindrance::unknown:
        case Hindrance::not_begun:
            return until_it_has_begun;
        case Hindrance::failed:
            return until_it_can_be_read;
        case Hindrance::no_server:
        case Hindrance::unusable:
        case Hindrance::unauthorised:
        case Hindrance::unreachable:
            break;
    }
    return until_it_answers;
}

/// Whether the answer is a no, for this question.
bool is_final(ReconcileReason why, Hindrance hindrance) {
    const bool is_absent = hindrance == Hindrance::unknown || hindrance == Hindrance::not_begun;
    switch (why) {
        case ReconcileReason::registered:
            return false;
        case ReconcileReason::inactivity:
            return is_absent || hindrance == Hindrance::no_server || hindrance == Hindrance::unusable;
        case ReconcileReason::gap:
            // A conversation that has begun is known to its server; what has not begun lies in no gap.
            return is_absent;
    }
    return false;
}

seconds patience_for(ReconcileReason why, seconds patience) {
    return why == ReconcileReason::gap ? patience_after_a_gap : patience;
}

}  // namespace

std::string_view name_of(ReconcileReason reason) {
    return reason_names.of(reason);
}

std::optional<ReconcileReason> reconcile_reason_named(std::string_view name) {
    return reason_names.named(name);
}

std::string_view name_of(Hindrance hindrance) {
    return hindrance_names.of(hindrance);
}

std::optional<Hindrance> hindrance_named(std::string_view name) {
    return hindrance_names.named(name);
}

const std::vector<Hindrance>& all_hindrances() {
    static const std::vector<Hindrance> all = [] {
        std::vector<Hindrance> made;
        for (const std::string_view name : hindrance_names.names) made.push_back(*hindrance_named(name));
        return made;
    }();
    return all;
}

std::optional<seconds> pause_after(const VainQuestion& question, seconds patience) {
    if (is_final(question.why, question.hindrance)) return std::nullopt;
    const bool is_patient = question.why != ReconcileReason::inactivity &&
                            question.asked_for < patience_for(question.why, patience) &&
                            !mutant(Mutant::asked_a_few_times_only);
    if (question.attempts > always_again && !is_patient) return std::nullopt;
    const auto pauses = pauses_for(question.hindrance);
    const auto index = static_cast<std::size_t>(std::max(0, question.attempts - 1));
    return std::max(pauses[std::min(index, pauses.size() - 1)],
                    std::chrono::ceil<seconds>(question.left_alone));
}

Instant asked_until(ReconcileReason why, Instant since, seconds patience) {
    return since + patience_for(why, patience);
}

bool is_told(ReconcileReason why, Hindrance hindrance) {
    if (why == ReconcileReason::inactivity || hindrance == Hindrance::not_begun) return false;
    return why != ReconcileReason::gap || hindrance != Hindrance::unknown;
}

}  // namespace epilogue
