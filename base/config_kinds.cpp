#include "base/config_kinds.h"

#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/control_character.h"
#include "base/rate_limit.h"
#include "base/text.h"

namespace epilogue {
namespace {

std::string in_quotes(std::string_view text) {
    return fmt::format("\"{}\"", text);
}

std::string mismatch(std::string_view expected, const ConfigValue& value) {
    return fmt::format("expected {}, got {}", expected, described(value));
}

/// Text for which `accept` returns what is to be stored, or nullopt.
using Accept = std::function<std::optional<std::string>(std::string)>;

ConfigKind text_kind(const ConfigPlace<std::string>& place, std::string expected, Accept accept) {
    Config defaults;
    ConfigKind kind;
    kind.expected = expected;
    kind.default_value = in_quotes(place(defaults));
    kind.read = [=, accept = std::move(accept)](Config& config, const ConfigValue& value) -> Problem {
        const auto* text = std::get_if<std::string>(&value.data);
        std::optional<std::string> accepted;
        if (text != nullptr && !has_control_character(*text) && is_utf8(*text)) accepted = accept(*text);
        if (!accepted) return mismatch(expected, value);
        place(config) = std::move(*accepted);
        return {};
    };
    return kind;
}

std::optional<std::string> accept_url(std::string text) {
    const std::string_view view(text);
    const std::size_t scheme = view.starts_with("https://") ? 8 : view.starts_with("http://") ? 7 : 0;
    if (scheme == 0 || view.size() == scheme || view[scheme] == '/') return {};
    if (view.find(' ') != std::string_view::npos) return {};
    while (text.ends_with('/')) text.pop_back();
    return text;
}

/// `"a", "b" or "c"`.
std::string alternatives(const std::vector<std::string_view>& names) {
    std::string result;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) result += i + 1 == names.size() ? " or " : ", ";
        result += in_quotes(names[i]);
    }
    return result;
}

std::optional<std::size_t> position_of(const std::vector<std::string_view>& names, const ConfigValue& value) {
    const auto* text = std::get_if<std::string>(&value.data);
    if (text == nullptr) return {};
    const auto found = std::ranges::find(names, *text);
    if (found == names.end()) return {};
    return static_cast<std::size_t>(found - names.begin());
}

}  // namespace

ConfigKind any_text(ConfigPlace<std::string> place) {
    return text_kind(place, "text", [](std::string text) { return text; });
}

ConfigKind required_text(ConfigPlace<std::string> place) {
    return text_kind(place, "text that is not empty", [](std::string text) {
        return text.empty() ? std::nullopt : std::optional(std::move(text));
    });
}

ConfigKind required_url(ConfigPlace<std::string> place) {
    return text_kind(place, "an http:// or https:// URL", accept_url);
}

ConfigKind optional_url(ConfigPlace<std::string> place) {
    return text_kind(place, "an http:// or https:// URL, or \"\"",
                     [](std::string text) { return text.empty() ? text : accept_url(std::move(text)); });
}

ConfigKind budget(ConfigPlace<std::string> place) {
    return text_kind(place, "\"auto\", \"off\" or limits such as \"1/s 80/min 500/h\"", [](std::string text) {
        const bool is_word = text == "auto" || text == "off";
        const auto limits = is_word ? std::nullopt : parse_rate_limits(text);
        return is_word || (limits && !limits->empty()) ? std::optional(std::move(text)) : std::nullopt;
    });
}

ConfigKind listen_address(ConfigPlace<std::string> place) {
    return text_kind(place, "host:port with a port from 0 to 65535", [](std::string text) {
        return parse_listen_address(text) ? std::optional(std::move(text)) : std::nullopt;
    });
}

ConfigKind integer_in(std::int64_t low, std::int64_t high, std::int64_t standard,
                      std::function<void(Config&, std::int64_t)> set) {
    ConfigKind kind;
    kind.written = ConfigKind::Written::integer;
    kind.expected = fmt::format("an integer from {} to {}", low, high);
    kind.default_value = fmt::format("{}", standard);
    kind.read = [=, expected = kind.expected](Config& config, const ConfigValue& value) -> Problem {
        const auto* integer = std::get_if<std::int64_t>(&value.data);
        if (integer == nullptr || *integer < low || *integer > high) return mismatch(expected, value);
        set(config, *integer);
        return {};
    };
    return kind;
}

ConfigKind one_of(std::vector<std::string_view> names, std::size_t standard,
                  std::function<void(Config&, std::size_t)> set) {
    ConfigKind kind;
    kind.expected = alternatives(names);
    kind.default_value = in_quotes(names.at(standard));
    kind.read = [=, expected = kind.expected](Config& config, const ConfigValue& value) -> Problem {
        const auto position = position_of(names, value);
        if (!position) return mismatch(expected, value);
        set(config, *position);
        return {};
    };
    return kind;
}

ConfigKind flag(ConfigPlace<bool> place) {
    ConfigKind kind;
    kind.written = ConfigKind::Written::flag;
    kind.expected = "true or false";
    Config defaults;
    kind.default_value = place(defaults) ? "true" : "false";
    kind.read = [place = std::move(place), expected = kind.expected](Config& config,
                                                                     const ConfigValue& value) -> Problem {
        const auto* said = std::get_if<bool>(&value.data);
        if (said == nullptr) return mismatch(expected, value);
        place(config) = *said;
        return {};
    };
    return kind;
}

ConfigKind some_of(ConfigPlace<std::vector<std::string>> place, std::vector<std::string_view> names) {
    ConfigKind kind;
    kind.written = ConfigKind::Written::list;
    kind.expected = fmt::format("a list of {}, each at most once", alternatives(names));
    Config defaults;
    std::vector<std::string> shown;
    for (const std::string& name : place(defaults)) shown.push_back(in_quotes(name));
    kind.default_value = fmt::format("[{}]", fmt::join(shown, ", "));
    kind.read = [=, expected = kind.expected](Config& config, const ConfigValue& value) -> Problem {
        const auto* list = std::get_if<ConfigValue::List>(&value.data);
        if (list == nullptr || list->empty())
            return fmt::format("expected {}, got {}", expected, list ? "an empty array" : described(value));
        std::vector<std::string> chosen;
        for (const ConfigValue& element : *list) {
            const auto position = position_of(names, element);
            if (!position || std::ranges::find(chosen, names[*position]) != chosen.end())
                return mismatch(expected, element);
            chosen.emplace_back(names[*position]);
        }
        place(config) = std::move(chosen);
        return {};
    };
    return kind;
}

ConfigKind words(ConfigPlace<std::vector<std::string>> place, std::string expected,
                 std::vector<std::string_view> never) {
    return checked_words(std::move(place), std::move(expected), [never](std::string_view word) {
        return std::ranges::find(never, word) == never.end();
    });
}

ConfigKind checked_words(ConfigPlace<std::vector<std::string>> place, std::string expected,
                         std::function<bool(std::string_view)> fits) {
    ConfigKind kind;
    kind.written = ConfigKind::Written::list;
    kind.expected = std::move(expected);
    Config defaults;
    std::vector<std::string> shown;
    for (const std::string& word : place(defaults)) shown.push_back(in_quotes(word));
    kind.default_value = fmt::format("[{}]", fmt::join(shown, ", "));
    kind.read = [=, expected = kind.expected](Config& config, const ConfigValue& value) -> Problem {
        const auto* list = std::get_if<ConfigValue::List>(&value.data);
        if (list == nullptr) return mismatch(expected, value);
        std::vector<std::string> chosen;
        for (const ConfigValue& element : *list) {
            const auto* text = std::get_if<std::string>(&element.data);
            if (text == nullptr || text->empty() || !fits(*text)) return mismatch(expected, element);
            chosen.push_back(*text);
        }
        place(config) = std::move(chosen);
        return {};
    };
    return kind;
}

std::optional<ListenAddress> parse_listen_address(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return {};
    std::string_view host = text.substr(0, colon);
    const std::string_view port = text.substr(colon + 1);
    const bool bracketed = host.starts_with('[') && host.ends_with(']');
    if (bracketed) host = host.substr(1, host.size() - 2);
    if (host.empty() || host.find_first_of(bracketed ? "[] /" : "[]: /") != std::string_view::npos) return {};
    std::uint16_t number = 0;
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (error != std::errc() || end != port.data() + port.size()) return {};
    return ListenAddress{std::string(host), number};
}

}  // namespace epilogue
