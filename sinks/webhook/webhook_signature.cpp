#include "sinks/webhook/webhook_signature.h"

#include <array>

#include <sodium.h>

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
    std::string key(longest, '\0');
    std::size_t size = 0;
    if (sodium_base642bin(reinterpret_cast<unsigned char*>(key.data()), key.size(), secret.data(),
                          secret.size(), nullptr, &size, nullptr, sodium_base64_VARIANT_ORIGINAL) != 0 ||
        size < shortest)
        return std::nullopt;
    key.resize(size);
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
    std::array<char, sodium_base64_ENCODED_LEN(mac.size(), sodium_base64_VARIANT_ORIGINAL)> text{};
    sodium_bin2base64(text.data(), text.size(), mac.data(), mac.size(), sodium_base64_VARIANT_ORIGINAL);
    return std::string("v1,") + text.data();
}

}  // namespace epilogue
