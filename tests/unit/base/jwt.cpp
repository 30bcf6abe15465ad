#define BOOST_TEST_MODULE jwt
#include "base/jwt.h"

#include <memory>
#include <string>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sodium.h>

#include "base/text.h"
#include "tests/support/rsa_key.h"

using namespace epilogue;
using testing::new_rsa_key;

namespace {

std::string decoded(const std::string& text) {
    std::string bytes(text.size(), '\0');
    std::size_t size = 0;
    BOOST_REQUIRE(sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(),
                                    text.size(), nullptr, &size, nullptr,
                                    sodium_base64_VARIANT_URLSAFE_NO_PADDING) == 0);
    bytes.resize(size);
    return bytes;
}

bool verifies(const std::string& public_pem, const std::string& text, const std::string& signature) {
    const std::unique_ptr<BIO, decltype(&BIO_free_all)> bio(
        BIO_new_mem_buf(public_pem.data(), static_cast<int>(public_pem.size())), &BIO_free_all);
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
        PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free);
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
    const auto bytes = [](const std::string& of) {
        return reinterpret_cast<const unsigned char*>(of.data());
    };
    return EVP_DigestVerifyInit(digest.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1 &&
           EVP_DigestVerify(digest.get(), bytes(signature), signature.size(), bytes(text), text.size()) == 1;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_token_holds_the_claims_and_its_signature_is_the_keys) {
    const auto pair = new_rsa_key();
    const auto key = JwtKey::from_pem(Secret(pair.private_pem));
    BOOST_REQUIRE(key.has_value());
    const std::string claims = R"({"iss":"12","iat":1763715600,"exp":1763716200})";
    const auto token = key->sign(claims);
    const auto parts = split(token, '.');
    BOOST_REQUIRE(parts.size() == 3U);
    BOOST_TEST(token.find_first_of("+/=\n") == std::string::npos);
    BOOST_TEST(nlohmann::json::parse(decoded(parts[0])) ==
               nlohmann::json({{"alg", "RS256"}, {"typ", "JWT"}}));
    BOOST_TEST(decoded(parts[1]) == claims);
    const auto signature = decoded(parts[2]);
    BOOST_TEST(verifies(pair.public_pem, parts[0] + "." + parts[1], signature));
    BOOST_TEST(!verifies(pair.public_pem, parts[0] + "." + parts[1] + "x", signature));
    BOOST_TEST(!verifies(new_rsa_key().public_pem, parts[0] + "." + parts[1], signature));
}

BOOST_AUTO_TEST_CASE(a_key_whose_line_ends_are_written_out_is_read) {
    const auto pair = new_rsa_key();
    const auto key = JwtKey::from_pem(Secret(replaced(pair.private_pem, "\n", "\\n")));
    BOOST_REQUIRE(key.has_value());
    BOOST_TEST(key->sign("{}") == JwtKey::from_pem(Secret(pair.private_pem))->sign("{}"));
}

BOOST_AUTO_TEST_CASE(what_is_no_private_rsa_key_of_2048_bits_is_refused_without_being_shown) {
    const auto pair = new_rsa_key();
    const std::string half = pair.private_pem.substr(0, pair.private_pem.size() / 2);
    for (const std::string& text : {std::string("a password"), pair.public_pem, half, std::string()}) {
        const auto key = JwtKey::from_pem(Secret(text));
        BOOST_REQUIRE(!key.has_value());
        BOOST_TEST(key.error().text == "expected an RSA private key as PEM (BEGIN PRIVATE KEY), unencrypted");
    }
    const auto small = JwtKey::from_pem(Secret(new_rsa_key(1024).private_pem));
    BOOST_REQUIRE(!small.has_value());
    BOOST_TEST(small.error().text.find("under 2048 bits") != std::string::npos);
}
