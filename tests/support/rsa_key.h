// A new RSA key, as a GitHub App would have one.
#pragma once

#include <string>

namespace epilogue::testing {

struct RsaKey {
    std::string private_pem;
    std::string public_pem;
};

/// Takes a tenth of a second. Throws std::runtime_error when OpenSSL makes none.
RsaKey new_rsa_key(unsigned bits = 2048);

}  // namespace epilogue::testing
