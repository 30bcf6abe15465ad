#include "tests/support/rsa_key.h"

#include <memory>
#include <stdexcept>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

namespace epilogue::testing {
namespace {

std::string text_in(BIO* bio) {
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(bio, &bytes);
    return {bytes, static_cast<std::size_t>(size)};
}

}  // namespace

RsaKey new_rsa_key(unsigned bits) {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_RSA_gen(bits), &EVP_PKEY_free);
    const auto memory = [] {
        return std::unique_ptr<BIO, decltype(&BIO_free_all)>(BIO_new(BIO_s_mem()), &BIO_free_all);
    };
    const auto written = memory();
    const auto shown = memory();
    if (!key ||
        PEM_write_bio_PrivateKey(written.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1 ||
        PEM_write_bio_PUBKEY(shown.get(), key.get()) != 1)
        throw std::runtime_error("OpenSSL makes no RSA key");
    return {text_in(written.get()), text_in(shown.get())};
}

}  // namespace epilogue::testing
