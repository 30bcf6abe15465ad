#include "worker/core/rate_window.h"

#include <algorithm>

#include "base/mutant.h"
#include "base/text.h"

namespace epilogue {
namespace {

bool one_at_a_time(const RateWindow& window, const std::vector<RateLimit>& limits) {
    return window.refusals > 0 ||
           std::any_of(limits.begin(), limits.end(), [](const RateLimit& limit) { return limit.count == 1; });
}

}  // namespace

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
