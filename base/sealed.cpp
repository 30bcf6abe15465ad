#include "base/sealed.h"

#include <array>
#include <stdexcept>

#include <sodium.h>

namespace epilogue {
namespace {

constexpr std::string_view form = "xchacha20poly1305:";
constexpr std::size_t nonce_size = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t tag_size = crypto_aead_xchacha20poly1305_ietf_ABYTES;
static_assert(crypto_auth_hmacsha256_BYTES == crypto_aead_xchacha20poly1305_ietf_KEYBYTES);

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) {
    return reinterpret_cast<unsigned char*>(text.data());
}

void make_ready() {
    static const int ready = sodium_init();
    if (ready < 0) throw std::runtime_error("libsodium cannot be used: no random bytes to be had");
}

/// HMAC-SHA256 takes keys of any length, as `[security] keys` are.
std::string derived(std::string_view key, std::string_view purpose) {
    std::string made(crypto_auth_hmacsha256_BYTES, '\0');
    crypto_auth_hmacsha256_state state;
    crypto_auth_hmacsha256_init(&state, bytes_of(key), key.size());
    crypto_auth_hmacsha256_update(&state, bytes_of(purpose), purpose.size());
    crypto_auth_hmacsha256_final(&state, bytes_of(made));
    sodium_memzero(&state, sizeof state);
    return made;
}

std::string to_base64(std::string_view bytes) {
    std::string text(sodium_base64_encoded_len(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
    sodium_bin2base64(text.data(), text.size(), bytes_of(bytes), bytes.size(),
                      sodium_base64_VARIANT_ORIGINAL);
    text.pop_back();  // its terminator
    return text;
}

/// Empty when `text` is no base64.
std::string from_base64(std::string_view text) {
    std::string bytes(text.size(), '\0');
    std::size_t size = 0;
    const char* end = nullptr;
    const int fault = sodium_base642bin(bytes_of(bytes), bytes.size(), text.data(), text.size(), nullptr,
                                        &size, &end, sodium_base64_VARIANT_ORIGINAL);
    const bool whole = fault == 0 && end == text.data() + text.size();
    bytes.resize(whole ? size : 0);
    return bytes;
}

}  // namespace

Sealer::Sealer(const std::vector<Secret>& keys, std::string_view purpose) {
    make_ready();
    for (const Secret& key : keys) keys_.push_back(derived(key.reveal(), purpose));
}

Result<std::string> Sealer::seal(const Secret& secret, std::string_view bound_to) const {
    if (keys_.empty())
        return fatal(
            "[security] keys is empty: there is no key to seal a secret with; epilogue keygen makes one");
    const std::string& plain = secret.reveal();
    std::string sealed(nonce_size + plain.size() + tag_size, '\0');
    randombytes_buf(sealed.data(), nonce_size);
    crypto_aead_xchacha20poly1305_ietf_encrypt(bytes_of(sealed) + nonce_size, nullptr,
                                               bytes_of(std::string_view(plain)), plain.size(),
                                               bytes_of(bound_to), bound_to.size(), nullptr, bytes_of(sealed),
                                               bytes_of(std::string_view(keys_.front())));
    return std::string(form) + to_base64(sealed);
}

Result<Secret> Sealer::open(std::string_view sealed, std::string_view bound_to) const {
    if (!sealed.starts_with(form)) return fatal("a sealed secret has a form that this version does not know");
    const std::string bytes = from_base64(sealed.substr(form.size()));
    if (bytes.size() < nonce_size + tag_size) return fatal("a sealed secret is damaged");
    const std::string_view nonce = std::string_view(bytes).substr(0, nonce_size);
    const std::string_view closed = std::string_view(bytes).substr(nonce_size);
    std::string plain(closed.size() - tag_size, '\0');
    for (const std::string& key : keys_)
        if (crypto_aead_xchacha20poly1305_ietf_decrypt(bytes_of(plain), nullptr, nullptr, bytes_of(closed),
                                                       closed.size(), bytes_of(bound_to), bound_to.size(),
                                                       bytes_of(nonce), bytes_of(std::string_view(key))) == 0)
            return Secret(std::move(plain));
    return fatal("none of [security] keys opens a sealed secret");
}

}  // namespace epilogue
