// What kinds of value a key can have: how each is read, resolved, printed and described.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/config.h"
#include "base/config_file.h"

namespace epilogue {

/// What is wrong with a value, for people.
struct Complaint {
    // Not explicit: most complaints are no more than their text.
    Complaint(std::string complaint, unsigned at = 0) : text(std::move(complaint)), line(at) {}
    std::string text;
    unsigned line;  ///< where in a table of several lines; 0: the line of the key says enough
};

/// nullopt when nothing is wrong.
using Problem = std::optional<Complaint>;

/// One kind of value, bound to its place in Config.
struct ConfigKind {
    /// How a variable or a flag, which are text, becomes a value.
    enum class Written { text, integer, flag, list, table };
    Written written = Written::text;
    std::string expected;       ///< "an integer from 1 to 1024"
    std::string default_value;  ///< as TOML; empty: the example shows `sample` instead
    std::string sample;         ///< lines of the example in place of a default
    std::function<Problem(Config&, const ConfigValue&)> read;
    /// Replaces `env:` and `file:` by what they stand for; null for what is no secret.
    std::function<Problem(Config&, const Environment&)> resolve = nullptr;
    /// Takes the variable EPILOGUE_<SECTION>_<KEY>_<rest>, of which it is given the rest and the value; false
    /// when there is no such variable. Null for what has but one.
    std::function<bool(Config&, std::string_view rest, const std::string& value)> read_part = nullptr;
};

/// A place in Config.
template <class T>
using ConfigPlace = std::function<T&(Config&)>;

/// The place of a section's field.
template <class Section, class T>
ConfigPlace<T> place(Section Config::*section, T Section::*field) {
    return [section, field](Config& config) -> T& { return config.*section.*field; };
}

/// The same of a section that Config itself does not know.
template <class Section, class T>
ConfigPlace<T> place(T Section::*field) {
    return [field](Config& config) -> T& { return config.extensions.edit<Section>().*field; };
}

/// Text without control characters; `required` refuses "".
ConfigKind any_text(ConfigPlace<std::string> place);
ConfigKind required_text(ConfigPlace<std::string> place);

/// An http or https URL without its trailing slashes; the optional one may be "".
ConfigKind required_url(ConfigPlace<std::string> place);
ConfigKind optional_url(ConfigPlace<std::string> place);

/// "auto", "off", or limits as parse_rate_limits reads them.
ConfigKind budget(ConfigPlace<std::string> place);

/// host:port.
ConfigKind listen_address(ConfigPlace<std::string> place);

/// A secret of one line, may be "".
ConfigKind secret(ConfigPlace<Secret> place);

/// An RSA private key as PEM, may be "".
ConfigKind rsa_key(ConfigPlace<Secret> place);

/// `[security] keys`.
ConfigKind security_keys(ConfigPlace<std::vector<Secret>> place);

/// A list, may be empty, of secrets of one line.
ConfigKind secrets(ConfigPlace<std::vector<Secret>> place);

/// A list, may be empty, of words, without those of `never`; `expected` as in messages.
ConfigKind words(ConfigPlace<std::vector<std::string>> place, std::string expected,
                 std::vector<std::string_view> never);

/// A list, may be empty, of words that `fits` takes; `expected` as in messages.
ConfigKind checked_words(ConfigPlace<std::vector<std::string>> place, std::string expected,
                         std::function<bool(std::string_view)> fits);

/// `[kafka] properties`, without those that would break the contract.
ConfigKind kafka_properties(ConfigPlace<std::map<std::string, std::string>> place);

/// A list, not empty and without repeats, of `names`.
ConfigKind some_of(ConfigPlace<std::vector<std::string>> place, std::vector<std::string_view> names);

/// true or false, without quotes.
ConfigKind flag(ConfigPlace<bool> place);

/// `[section.key.<name>] token`: tokens under names of the user's choice. `expected` as in messages, `sample`
/// as in ConfigKind.
ConfigKind named_tokens(ConfigPlace<std::map<std::string, Secret>> place, std::string expected,
                        std::string sample);

/// `[[relay.servers]]`: url, key and all, each address once.
ConfigKind agent_servers(ConfigPlace<std::vector<Config::Relay::Server>> place);
/// `[[relay.app_servers]]`: url, key and org, each address and organisation once.
ConfigKind app_servers(ConfigPlace<std::vector<Config::Relay::AppServer>> place);

/// Building stones of the templates below: values as 64-bit numbers and as a position in a list of names.
ConfigKind integer_in(std::int64_t low, std::int64_t high, std::int64_t standard,
                      std::function<void(Config&, std::int64_t)> set);
ConfigKind one_of(std::vector<std::string_view> names, std::size_t standard,
                  std::function<void(Config&, std::size_t)> set);

/// An integer, or a duration in its own unit, from `low` to `high`, both included.
template <class T>
ConfigKind number(ConfigPlace<T> place, std::int64_t low, std::int64_t high) {
    Config defaults;
    const T standard = place(defaults);
    if constexpr (std::is_integral_v<T>) {
        return integer_in(low, high, static_cast<std::int64_t>(standard),
                          [=](Config& config, std::int64_t value) { place(config) = static_cast<T>(value); });
    } else {
        return integer_in(low, high, standard.count(),
                          [=](Config& config, std::int64_t value) { place(config) = T(value); });
    }
}
template <class Section, class T>
ConfigKind number(Section Config::*section, T Section::*field, std::int64_t low, std::int64_t high) {
    return number(place(section, field), low, high);
}

/// One of `names`, which stand in the order of T's enumerators.
template <class Section, class T>
ConfigKind choice(Section Config::*section, T Section::*field, std::vector<std::string_view> names) {
    const Config defaults;
    return one_of(
        std::move(names), static_cast<std::size_t>(defaults.*section.*field),
        [=](Config& config, std::size_t position) { config.*section.*field = static_cast<T>(position); });
}

}  // namespace epilogue
