#include "base/secret.h"

#include <cstddef>
#include <stdexcept>

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include "base/config_file.h"
#include "base/ids.h"
#include "base/text.h"

namespace epilogue {
namespace {

constexpr std::size_t key_size = 32;

unsigned hex_value(char digit) {
    return static_cast<unsigned>(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
}

Result<Secret> from_environment(std::string_view name, const Environment& environment) {
    const auto variable = environment.find(std::string(name));
    if (variable == environment.end())
        return fatal("environment variable " + std::string(name) + " is not set");
    if (variable->second.empty()) return fatal("environment variable " + std::string(name) + " is empty");
    return Secret(variable->second);
}

Result<Secret> from_file(const std::string& path) {
    TRY(std::string text, read_text_file(path));
    if (text.ends_with('\n')) text.pop_back();
    if (text.ends_with('\r')) text.pop_back();
    if (text.empty()) return fatal("file " + path + " is empty");
    return Secret(std::move(text));
}

}  // namespace

bool is_same(const Secret& secret, std::string_view offered) {
    // Digests are of one length, whatever was offered.
    const std::string mine = sha256_hex(secret.reveal());
    const std::string theirs = sha256_hex(offered);
    return !secret.empty() && CRYPTO_memcmp(mine.data(), theirs.data(), mine.size()) == 0;
}

Result<Secret> resolve_secret(std::string_view written, const Environment& environment) {
    if (written.starts_with("env:")) return from_environment(trimmed(written.substr(4)), environment);
    if (const auto file = file_of_secret(written)) return from_file(*file);
    return Secret(std::string(written));
}

std::optional<std::string> file_of_secret(std::string_view written) {
    constexpr std::string_view mark = "file:";
    if (!written.starts_with(mark)) return std::nullopt;
    return std::string(trimmed(written.substr(mark.size())));
}

Result<std::string> key_bytes(std::string_view text) {
    const bool hex = text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
    if (!hex && text.size() >= key_size) return std::string(text);
    // A key of hex digits that is short or odd is a damaged key, not a pass phrase.
    if (!hex || text.size() < 2 * key_size || text.size() % 2 != 0)
        return fatal("expected 64 hex digits as \"epilogue keygen\" prints them, got " +
                     std::to_string(text.size()) + (hex ? " hex digits" : " bytes"));
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); i += 2)
        bytes += static_cast<char>(hex_value(text[i]) << 4U | hex_value(text[i + 1]));
    return bytes;
}

std::string new_key() {
    std::string bytes(key_size, '\0');
    if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size())) != 1)
        throw std::runtime_error("no random bytes to be had");
    return to_hex(bytes);
}

}  // namespace epilogue
