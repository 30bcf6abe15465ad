#include "worker/deliver/delivery_log.h"

#include <algorithm>
#include <utility>

#include "base/redacted.h"
#include "sinks/port/quota.h"

namespace epilogue {
namespace {

/// A cause ends with what the platform said, which may be anything.
constexpr std::size_t longest_cause = 300;

bool is_trouble(const DeliveryProgress& progress) {
    switch (progress.state) {
        case DeliveryState::planned:
        case DeliveryState::sent:
            return false;
        case DeliveryState::sending:
            return progress.attempt > 1;
        case DeliveryState::unknown:
        case DeliveryState::retry:
        case DeliveryState::failed:
        case DeliveryState::parked:
            break;
    }
    return true;
}

}  // namespace

std::string trace_id_of(const DeliveryId& delivery_id) {
    std::string digits = delivery_id;
    std::erase(digits, '-');
    return digits;
}

bool DeliveryLog::may_write(const std::string& sink, bool is_trouble, std::uint64_t& left_out) {
    const std::lock_guard lock(mutex_);
    const auto now = clock_();
    Span& span = spans_.try_emplace(sink, Span{now}).first->second;
    if (now - span.since >= trouble_span) {
        span.since = now;
        span.written = 0;
    }
    if (is_trouble && span.written >= trouble_lines) {
        ++span.left_out;
        return false;
    }
    if (is_trouble) ++span.written;
    left_out = std::exchange(span.left_out, 0);
    return true;
}

void DeliveryLog::changed(const DeliveryRow& row) {
    std::uint64_t left_out = 0;
    if (!may_write(row.sink, is_trouble(row.progress), left_out)) return;
    LogFields fields{{"conversation", row.conversation_id},
                     {"callback", row.callback_id.value},
                     {"sink", row.sink},
                     {"target", row.target},
                     {"delivery", row.id},
                     {"state", std::string(name_of(row.progress.state))},
                     {"attempt", row.progress.attempt}};
    if (!row.progress.cause.empty())
        fields.emplace_back("why", redacted_prefix(row.progress.cause, longest_cause));
    fields.emplace_back("trace_id", trace_id_of(row.id));
    if (left_out > 0) fields.emplace_back("held_back", left_out);
    log_info("delivery", fields);
}

void DeliveryLog::settled(const std::string& credential, DeliveryState state, std::int64_t rows) {
    log_info("deliveries of a credential", {{"sink", platform_of(credential)},
                                            {"credential", credential},
                                            {"state", std::string(name_of(state))},
                                            {"deliveries", rows}});
}

}  // namespace epilogue
