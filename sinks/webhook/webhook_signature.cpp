#include "sinks/webhook/webhook_signature.h"

#include <array>

#include <sodium.h>

#include "sinks/port/base64.h"

namespace epilogue {
namespace {

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::optional<std::string> webhook_key(std::string_view secret) {
    constexpr std::string_view prefix = "whsec_";
    constexpr std::size_t shortest = 24;
    constexpr std::size_t longest = 64;
    if (!secret.starts_with(prefix)) return std::nullopt;
    secret.remove_prefix(prefix.size());
    auto key = bytes_of_base64(secret, longest);
    if (!key || key->size() < shortest) return std::nullopt;
    return key;
}

std::string webhook_signature(std::string_view key, std::string_view id, std::string_view timestamp,
                              std::string_view body) {
    crypto_auth_hmacsha256_state state;
    crypto_auth_hmacsha256_init(&state, bytes_of(key), key.size());
    for (const std::string_view part : {id, std::string_view("."), timestamp, std::string_view("."), body})
        crypto_auth_hmacsha256_update(&state, bytes_of(part), part.size());
    std::array<unsigned char, crypto_auth_hmacsha256_BYTES> mac{};
    crypto_auth_hmacsha256_final(&state, mac.data());
    return "v1," + base64_of({reinterpret_cast<const char*>(mac.data()), mac.size()});
}

}  // namespace epilogue
