// JSON Web Tokens signed with RS256 (RFC 7515, RFC 7518): who holds the private key proves it with one.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"

namespace epilogue {

/// An RSA private key. Copies share it. Thread-safe.
class JwtKey {
  public:
    /// Reads PEM, PKCS#1 or PKCS#8, unencrypted. A text in which each line end is written as "\n", as
    /// variables often have it, is read as well. Fatal for anything else, and for keys under 2048 bits.
    static Result<JwtKey> from_pem(const Secret& pem);

    /// The token with these claims, which are a JSON object. Throws std::runtime_error when OpenSSL cannot
    /// sign.
    std::string sign(std::string_view claims) const;

  private:
    struct Key;

    explicit JwtKey(std::shared_ptr<Key> key) : key_(std::move(key)) {}

    std::shared_ptr<Key> key_;
};

}  // namespace epilogue
