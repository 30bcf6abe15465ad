#include "sinks/port/http_answer.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/http_date.h"
#include "base/text.h"
#include "sinks/port/sink_mutant.h"

namespace epilogue {
namespace {

constexpr std::chrono::seconds longest_wait = std::chrono::hours(24 * 30);

/// A decimal number that fills `text`; one too great for the type is the greatest.
std::optional<std::int64_t> number_in(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || end != text.data() + text.size() || text.front() == '-') return std::nullopt;
    return fault == std::errc::result_out_of_range ? INT64_MAX : value;
}

std::chrono::seconds clamped(std::chrono::seconds wait) {
    return std::clamp(wait, std::chrono::seconds(0), longest_wait);
}

/// Rounded up: to be a moment early is to be refused again.
std::chrono::seconds time_left(Instant until, Instant now) {
    return clamped(std::chrono::ceil<std::chrono::seconds>(until - now));
}

}  // namespace

std::string_view header_of(const HttpAnswer& answer, const std::string& name) {
    const auto found = answer.headers.find(name);
    return found == answer.headers.end() ? std::string_view{} : trimmed(found->second);
}

std::optional<std::chrono::seconds> retry_after(const HttpAnswer& answer, Instant now) {
    const auto value = header_of(answer, "retry-after");
    if (const auto seconds = number_in(value))
        return clamped(
            std::chrono::seconds(mutant(SinkMutant::waiting_time_halved) ? *seconds / 2 : *seconds));
    if (const auto date = parse_http_date(value)) return time_left(*date, now);
    return std::nullopt;
}

std::optional<std::chrono::seconds> wait_until_epoch(const HttpAnswer& answer, const std::string& name,
                                                     Instant now) {
    const auto epoch = number_in(header_of(answer, name));
    if (!epoch) return std::nullopt;
    constexpr std::int64_t end_of_time = 32503680000;  // the year 3000: far, and no overflow in microseconds
    return time_left(Instant(std::chrono::seconds(std::min(*epoch, end_of_time))), now);
}

PlatformState platform_state(const HttpAnswer& answer) {
    constexpr int first_fault_of_server = 500;
    const bool is_there = answer.outcome == HttpOutcome::answered && answer.status < first_fault_of_server;
    return is_there ? PlatformState::answered : PlatformState::failed;
}

Instant time_of(const HttpAnswer& answer) {
    if (const auto date = parse_http_date(header_of(answer, "date"))) return *date;
    return answer.received_at;
}

std::string next_page(const HttpAnswer& answer) {
    // RFC 8288: `<target>; parameter; …, <target>; …`. Commas may stand in a target, so read from bracket to
    // bracket.
    auto rest = header_of(answer, "link");
    while (true) {
        const auto open = rest.find('<');
        if (open == std::string_view::npos) return {};
        const auto close = rest.find('>', open);
        if (close == std::string_view::npos) return {};
        const auto target = rest.substr(open + 1, close - open - 1);
        rest.remove_prefix(close + 1);
        const auto parameters = lowered(rest.substr(0, rest.find('<')));
        for (const auto& parameter : split(replaced(parameters, ",", ";"), ';'))
            if (parameter == "rel=\"next\"" || parameter == "rel=next") return std::string(target);
    }
}

std::optional<std::vector<std::string>> list_in(const HttpAnswer& answer, const std::string& name) {
    if (!answer.headers.contains(name)) return std::nullopt;
    return split(header_of(answer, name), ',');
}

std::string origin_of(std::string_view url) {
    const auto scheme = url.find("://");
    if (scheme == std::string_view::npos) return {};
    return lowered(url.substr(0, url.find_first_of("/?#", scheme + 3)));
}

std::string_view path_of(std::string_view url) {
    return url.substr(origin_of(url).size());
}

}  // namespace epilogue
