#include "base/instant.h"

#include <charconv>
#include <cstdio>

namespace epilogue {
namespace {

std::string format(Instant at, char separator, const char* suffix) {
    const auto day = std::chrono::floor<std::chrono::days>(at);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss<Micros> time{at - day};
    char text[64];
    std::snprintf(text, sizeof text, "%04d-%02u-%02u%c%02d:%02d:%02d.%06d%s", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), separator,
                  static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                  static_cast<int>(time.seconds().count()), static_cast<int>(time.subseconds().count()),
                  suffix);
    return text;
}

/// Takes exactly `digits` decimal digits from the front of `text`.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
    if (text.size() < digits) return std::nullopt;
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value);
    if (error != std::errc{} || end != text.data() + digits || text[0] == '-') return std::nullopt;
    text.remove_prefix(digits);
    return value;
}

bool take(std::string_view& text, std::string_view any_of) {
    if (text.empty() || any_of.find(text[0]) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
}

std::optional<Micros> take_fraction(std::string_view& text) {
    if (!take(text, ".,")) return Micros{0};
    int value = 0;
    int scale = 1'000'000;
    bool any = false;
    while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
        any = true;
        if (scale > 1) {
            scale /= 10;
            value += (text[0] - '0') * scale;
        }
        text.remove_prefix(1);
    }
    if (!any) return std::nullopt;
    return Micros{value};
}

/// What has to be taken off the written time to get UTC.
std::optional<std::chrono::minutes> take_zone(std::string_view& text) {
    if (text.empty() || take(text, "Zz")) return std::chrono::minutes{0};
    const bool west = text[0] == '-';
    if (!take(text, "+-")) return std::nullopt;
    const auto hours = take_number(text, 2);
    if (!hours) return std::nullopt;
    take(text, ":");
    const auto minutes = text.empty() ? std::optional<int>{0} : take_number(text, 2);
    if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
    const std::chrono::minutes offset{*hours * 60 + *minutes};
    return west ? -offset : offset;
}

}  // namespace

Instant system_now() {
    return std::chrono::time_point_cast<Micros>(std::chrono::system_clock::now());
}

std::string to_iso(Instant at) {
    return format(at, 'T', "Z");
}

std::string to_sql(Instant at) {
    return format(at, ' ', "");
}

std::optional<Instant> parse_instant(std::string_view text) {
    const auto year = take_number(text, 4);
    if (!year || !take(text, "-")) return std::nullopt;
    const auto month = take_number(text, 2);
    if (!month || !take(text, "-")) return std::nullopt;
    const auto day = take_number(text, 2);
    if (!day || !take(text, "T ")) return std::nullopt;
    const auto hour = take_number(text, 2);
    if (!hour || !take(text, ":")) return std::nullopt;
    const auto minute = take_number(text, 2);
    if (!minute || !take(text, ":")) return std::nullopt;
    const auto second = take_number(text, 2);
    if (!second) return std::nullopt;
    const auto fraction = take_fraction(text);
    const auto zone = fraction ? take_zone(text) : std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year{*year},
                                           std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day))};
    if (!zone || !text.empty() || !date.ok() || *hour > 23 || *minute > 59 || *second > 60)
        return std::nullopt;
    return Instant{std::chrono::sys_days{date}} + std::chrono::hours{*hour} + std::chrono::minutes{*minute} +
           std::chrono::seconds{*second} + *fraction - *zone;
}

}  // namespace epilogue
