#include "tests/integration/contract_post.h"

#include <array>
#include <map>
#include <vector>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/text.h"

namespace epilogue::testing {
namespace {

std::string hex_of(const unsigned char* bytes, std::size_t count) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        text += digits[bytes[i] >> 4U];
        text += digits[bytes[i] & 15U];
    }
    return text;
}

}  // namespace

std::string with_dashes(std::string hex) {
    for (const std::size_t at : {8U, 13U, 18U, 23U}) hex.insert(at, "-");
    return hex;
}

std::string delivery_id_of(const std::string& installation, const std::string& callback,
                           const std::string& conversation, const std::string& turn_key) {
    std::string name;
    const std::string space = replaced(installation, "-", "");
    for (std::size_t i = 0; i < space.size(); i += 2)
        name += static_cast<char>(std::stoi(space.substr(i, 2), nullptr, 16));
    name += callback + '\0' + conversation + '\0' + turn_key;
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    EVP_Digest(name.data(), name.size(), digest.data(), nullptr, EVP_sha1(), nullptr);
    digest[6] = static_cast<unsigned char>((digest[6] & 0x0FU) | 0x50U);
    digest[8] = static_cast<unsigned char>((digest[8] & 0x3FU) | 0x80U);
    return with_dashes(hex_of(digest.data(), 16));
}

std::string marker_of(const std::string& key, const std::string& delivery_id) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
    const std::vector<unsigned char> message(delivery_id.begin(), delivery_id.end());
    HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), message.data(), message.size(), mac.data(),
         nullptr);
    return "<!-- epilogue:1 id=" + delivery_id + " mac=" + hex_of(mac.data(), 8) + " -->";
}

std::string headline_of(const RecordedTurn& turn) {
    static const std::map<std::string, std::string> headlines{
        {"finished", "Finished"},         {"awaiting_user_input", "Waiting for you"},
        {"error", "Ended with an error"}, {"stuck", "Got stuck"},
        {"rejected", "Rejected"},         {"stopped", "Stopped"}};
    const std::string code = turn.error_code.substr(0, turn.error_code.find(':'));
    return "**" + headlines.at(turn.verdict) + "**" + (code.empty() ? "" : ": `" + code + "`");
}

std::string start_of_post(const RecordedTurn& turn) {
    const bool with_words = turn.verdict == "finished" || turn.verdict == "awaiting_user_input";
    return headline_of(turn) + "\n\n" + (with_words && !turn.words.empty() ? turn.words + "\n\n" : "");
}

std::string without_problems(const std::string& post) {
    const std::string finished = "**Finished**";
    const std::string problems = ", with problems";
    return post.starts_with(finished + problems) ? finished + post.substr((finished + problems).size())
                                                 : post;
}

}  // namespace epilogue::testing
