#include "base/ids.h"

#include <stdexcept>

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/string_generator.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <zlib.h>

#include "base/text.h"

namespace epilogue {
namespace {

bool is_hex(std::string_view text) {
    return text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

std::string_view as_text(const unsigned char* bytes, std::size_t size) {
    return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

ConversationId normalise_conversation_id(std::string_view id) {
    std::string bare;
    if (id.size() == 36 && id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-') {
        for (const char c : id)
            if (c != '-') bare += c;
    } else {
        bare = id;
    }
    return ConversationId(bare.size() == 32 && is_hex(bare) ? lowered(bare) : std::string(id));
}

std::string random_uuid() {
    return to_string(boost::uuids::random_generator()());
}

std::string uuid_v5(std::string_view name_space, std::string_view name) {
    try {
        const auto parsed = boost::uuids::string_generator()(name_space.begin(), name_space.end());
        return to_string(boost::uuids::name_generator_sha1(parsed)(name.data(), name.size()));
    } catch (const std::runtime_error&) {
        throw std::invalid_argument("not a UUID");
    }
}

std::string sha256_hex(std::string_view bytes) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr);
    return to_hex(as_text(digest, size));
}

std::string hmac_sha256_hex(std::string_view key, std::string_view message) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
         reinterpret_cast<const unsigned char*>(message.data()), message.size(), digest, &size);
    return to_hex(as_text(digest, size));
}

unsigned crc32_of(std::string_view bytes) {
    return static_cast<unsigned>(
        crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

}  // namespace epilogue
