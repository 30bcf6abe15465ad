// Values that must not be seen: tokens, passwords, keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/config_environment.h"
#include "base/result.h"

namespace epilogue {

/// A string that cannot be printed by accident: it has no operator<< and converts to nothing.
class Secret {
  public:
    Secret() = default;
    explicit Secret(std::string text) : text_(std::move(text)) {}
    /// The value itself; every use of it is one to look at in a review.
    const std::string& reveal() const { return text_; }
    /// True when there is none.
    bool empty() const { return text_.empty(); }
    bool operator==(const Secret&) const = default;

  private:
    std::string text_;
};

/// Whether `offered` is the secret, in a time that tells nothing of where they differ or how long it is.
/// Nothing is the same as an empty one.
bool is_same(const Secret& secret, std::string_view offered);

/// What a setting that reads `written` stands for: `env:NAME` is the variable's value, `file:PATH` the file's
/// content without its last line end, anything else itself. Fatal when the variable or file is missing or
/// empty; the error says what is missing and never holds a value.
Result<Secret> resolve_secret(std::string_view written, const Environment& environment);

/// The path in `file:PATH`; nullopt when a setting that reads `written` is read from no file.
std::optional<std::string> file_of_secret(std::string_view written);

/// The bytes of a key of `[security] keys`: 64 or more hex digits, as `epilogue keygen` prints them, are
/// decoded; any other text of at least 32 bytes stands for itself. Fatal for what is shorter.
Result<std::string> key_bytes(std::string_view text);

/// A new random key of 32 bytes as 64 hex digits. Throws std::runtime_error without a source of randomness.
std::string new_key();

}  // namespace epilogue
