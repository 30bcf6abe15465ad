#include "base/jwt.h"

#include <stdexcept>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sodium.h>

#include "base/text.h"

namespace epilogue {
namespace {

template <class Type, void (*free)(Type*)>
struct Freed {
    void operator()(Type* it) const { free(it); }
};
using Bio = std::unique_ptr<BIO, Freed<BIO, BIO_free_all>>;
using Digest = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX, EVP_MD_CTX_free>>;

std::string base64url(std::string_view bytes) {
    constexpr int variant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
    std::string text(sodium_base64_encoded_len(bytes.size(), variant), '\0');
    sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                      bytes.size(), variant);
    text.pop_back();  // its terminator
    return text;
}

/// An encrypted key is refused instead of asked for at the terminal.
int no_passphrase(char*, int, int, void*) {
    return -1;
}

}  // namespace

struct JwtKey::Key {
    std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY, EVP_PKEY_free>> pkey;
};

Result<JwtKey> JwtKey::from_pem(const Secret& pem) {
    constexpr int least_bits = 2048;
    const std::string text = replaced(pem.reveal(), "\\n", "\n");
    const Bio bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
    auto key = std::make_shared<Key>();
    key->pkey.reset(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
    if (!key->pkey || EVP_PKEY_get_base_id(key->pkey.get()) != EVP_PKEY_RSA)
        return fatal("expected an RSA private key as PEM (BEGIN PRIVATE KEY), unencrypted");
    if (EVP_PKEY_get_bits(key->pkey.get()) < least_bits)
        return fatal("the RSA key has under 2048 bits: make a new one where the App is registered");
    return JwtKey(std::move(key));
}

std::string JwtKey::sign(std::string_view claims) const {
    std::string token = base64url(R"({"alg":"RS256","typ":"JWT"})") + "." + base64url(claims);
    const Digest digest(EVP_MD_CTX_new());
    const auto* bytes = reinterpret_cast<const unsigned char*>(token.data());
    std::size_t size = 0;
    bool done = EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, key_->pkey.get()) == 1 &&
                EVP_DigestSign(digest.get(), nullptr, &size, bytes, token.size()) == 1;
    std::string signature(size, '\0');
    done = done && EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                                  bytes, token.size()) == 1;
    if (!done) throw std::runtime_error("OpenSSL cannot sign a token");
    signature.resize(size);
    return token + "." + base64url(signature);
}

}  // namespace epilogue
