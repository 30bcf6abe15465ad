#include "worker/core/rate_window.h"

#include <algorithm>

#include "base/backoff.h"
#include "base/mutant.h"
#include "base/text.h"

namespace epilogue {
namespace {

bool one_at_a_time(const RateWindow& window, const std::vector<RateLimit>& limits) {
    return window.refusals > 0 ||
           std::any_of(limits.begin(), limits.end(), [](const RateLimit& limit) { return limit.count == 1; });
}

/// How far apart look-ups are on average, and how many may be made at once.
struct LookPace {
    Micros apart{0};
    int at_once = 5;
};

LookPace pace_of(const std::vector<RateLimit>& look_limits) {
    LookPace pace;
    for (const RateLimit& limit : look_limits) {
        pace.apart = std::max(pace.apart, Micros(limit.span) / limit.count);
        pace.at_once = std::min(pace.at_once, limit.count);
    }
    return pace;
}

}  // namespace

Instant RateWindow::next_look(const std::vector<RateLimit>& look_limits) const {
    const LookPace pace = pace_of(look_limits);
    return look_limits.empty() ? Instant{} : looks_until - (pace.at_once - 1) * pace.apart;
}

void RateWindow::begin_look(const std::vector<RateLimit>& look_limits, Instant now) {
    looks_until = std::max(looks_until, now) + pace_of(look_limits).apart;
}

Instant RateWindow::next(Call call, const std::vector<RateLimit>& limits) const {
    Instant at = mutant(Mutant::closed_window_ignored) ? Instant{} : closed_until;
    // Calls that are over count with an instant in the past: only a call under way can be later than `at`.
    if (one_at_a_time(*this, limits) && !calls.empty()) at = std::max(at, calls.back());
    if (call == Call::read) return at;
    for (const RateLimit& limit : limits) {
        const auto count = static_cast<std::size_t>(limit.count);
        if (calls.size() >= count) at = std::max(at, calls[calls.size() - count] + limit.span);
    }
    return at;
}

bool RateWindow::keeps(Call call, const std::vector<RateLimit>& limits) const {
    return one_at_a_time(*this, limits) || (call == Call::write && !limits.empty());
}

bool RateWindow::serve(const std::vector<RateLimit>& limits, Instant now) {
    constexpr std::chrono::seconds unattended_after{60};
    constexpr std::chrono::seconds noted_every{10};
    if (now - std::max(served_at, next(Call::write, limits)) > unattended_after) unattended_until = now;
    if (now - served_at < noted_every) return false;
    served_at = now;
    return true;
}

void RateWindow::begin(Instant until) {
    calls.insert(std::upper_bound(calls.begin(), calls.end(), until), until);
}

void RateWindow::end(Call call, Instant until, const std::vector<RateLimit>& limits, Instant now) {
    const auto under_way = std::find(calls.begin(), calls.end(), until);
    if (under_way != calls.end()) calls.erase(under_way);
    if (call == Call::write) begin(now);
    std::chrono::seconds longest{0};
    for (const RateLimit& limit : limits) longest = std::max(longest, limit.span);
    calls.erase(calls.begin(), std::lower_bound(calls.begin(), calls.end(), now - longest));
}

void RateWindow::record_refusal(Instant begun, Instant now) {
    if (last_refused_at && begun < *last_refused_at) return;
    ++refusals;
    last_refused_at = now;
}

void RateWindow::record_success(Instant begun) {
    if (last_refused_at && begun < *last_refused_at) return;
    refusals = 0;
    last_refused_at.reset();
}

std::chrono::milliseconds pause_after_refusal(std::optional<std::chrono::seconds> not_before,
                                              bool is_estimate, int refusals, double random01) {
    const auto backoff = full_jitter(refusals, random01);
    if (!not_before) return backoff;
    constexpr int most_doublings = 4;
    const int doublings = is_estimate ? std::clamp(refusals - 1, 0, most_doublings) : 0;
    return *not_before * (1 << doublings) + backoff / 10;
}

std::string to_text(const std::vector<Instant>& calls) {
    std::string text;
    for (const Instant call : calls)
        text += (text.empty() ? "" : " ") + std::to_string(call.time_since_epoch().count());
    return text;
}

std::vector<Instant> calls_from_text(std::string_view text) {
    std::vector<Instant> calls;
    for (const std::string& part : split(text, ' '))
        if (const auto micros = integer_in(part)) calls.emplace_back(Micros(*micros));
    return calls;
}

}  // namespace epilogue
