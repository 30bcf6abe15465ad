// Secrets that are kept in the database: sealed with a key of `[security] keys`, bound to the row they are
// in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/secret.h"

namespace epilogue {

/// Seals and opens secrets of one purpose. What is sealed for another purpose, or bound to something else,
/// does not open. Thread-safe.
class Sealer {
  public:
    /// `keys`: the bytes of `[security] keys`. The first seals, all of them open. `purpose`: a constant, from
    /// which and each key a key of its own is derived.
    Sealer(const std::vector<Secret>& keys, std::string_view purpose);

    /// `secret` as printable text that only a key of this purpose opens, and only together with `bound_to`.
    /// Never the same twice. Fatal without keys.
    Result<std::string> seal(const Secret& secret, std::string_view bound_to) const;

    /// The secret that seal() was given. Fatal when none of the keys opens it: they were taken away, or the
    /// text was changed or belongs elsewhere.
    Result<Secret> open(std::string_view sealed, std::string_view bound_to) const;

    bool has_key() const { return !keys_.empty(); }

  private:
    std::vector<std::string> keys_;
};

}  // namespace epilogue
