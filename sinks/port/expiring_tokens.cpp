#include "sinks/port/expiring_tokens.h"

#include <algorithm>
#include <chrono>

namespace epilogue {
namespace {

/// So long before its end a token is renewed; one that lives shortly, in the last quarter of its life.
constexpr Micros renewed_ahead = std::chrono::minutes{5};

}  // namespace

std::variant<std::string, ExpiringTokens::Renewal, ExpiringTokens::Busy> ExpiringTokens::ask(
    const std::string& key, std::string_view refused, Instant now) {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[key];
    if (!refused.empty() && entry.token == refused) entry.token.clear();
    const bool is_good = !entry.token.empty() && now < entry.ends;
    if (is_good && (now < entry.renew_from || entry.is_renewed)) return entry.token;
    if (entry.is_renewed) return Busy{};
    entry.is_renewed = true;
    return Renewal(*this, key);
}

void ExpiringTokens::Renewal::done(std::string token, Instant now, Micros lifetime) {
    ExpiringTokens& tokens = *std::exchange(tokens_, nullptr);
    const std::lock_guard lock(tokens.mutex_);
    tokens.entries_[key_] = {.token = std::move(token),
                             .renew_from = now + lifetime - std::min(renewed_ahead, lifetime / 4),
                             .ends = now + lifetime,
                             .is_renewed = false};
}

std::string ExpiringTokens::Renewal::put_off(Instant now) {
    ExpiringTokens& tokens = *std::exchange(tokens_, nullptr);
    const std::lock_guard lock(tokens.mutex_);
    Entry& entry = tokens.entries_[key_];
    entry.is_renewed = false;
    if (now >= entry.ends) return "";
    entry.renew_from = now + (entry.ends - now) / 2;
    return entry.token;
}

void ExpiringTokens::Renewal::give_up() {
    if (tokens_ == nullptr) return;
    const std::lock_guard lock(tokens_->mutex_);
    tokens_->entries_[key_].is_renewed = false;
}

}  // namespace epilogue
