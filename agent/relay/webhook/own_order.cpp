#include "agent/relay/webhook/own_order.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>

#include "base/instant.h"
#include "schemas/json_reader.h"

namespace epilogue::relay {
namespace {

const WantedPart wanted{"", {{"timestamp"}}};

std::optional<Instant> own_time(std::string_view event) {
    thread_local JsonReader json;
    const auto read = json.read(event, wanted);
    const auto text = read ? (*read)["timestamp"].string() : std::nullopt;
    return text ? parse_instant(*text) : std::nullopt;
}

/// So far a clock is set back by a change of the zone or of daylight saving time, what happened meanwhile
/// counted in.
bool is_step_of_zone(Micros back) {
    constexpr std::chrono::minutes step{30};
    constexpr std::chrono::minutes off{1};
    return back >= step - off && (back + off) % step <= 2 * off;
}

}  // namespace

std::vector<std::size_t> own_order(const std::vector<std::string_view>& events) {
    std::vector<std::size_t> order(events.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<Instant> times;
    Micros farthest_back{0};
    for (const std::string_view event : events) {
        const auto time = own_time(event);
        if (!time) return order;
        if (!times.empty()) farthest_back = std::max(farthest_back, Micros{times.back() - *time});
        times.push_back(*time);
    }
    if (farthest_back == Micros{0} || is_step_of_zone(farthest_back)) return order;
    std::ranges::stable_sort(order, {}, [&](std::size_t place) { return times[place]; });
    return order;
}

}  // namespace epilogue::relay
