#include "base/process/token_command.h"

#include <cstdint>
#include <exception>
#include <optional>

#include <nlohmann/json.hpp>
#include <sodium.h>

#include "base/bounded_json.h"
#include "base/process/process.h"
#include "base/text.h"

namespace epilogue {
namespace {

constexpr std::chrono::minutes default_lifetime{5};
constexpr std::chrono::seconds patience{30};

/// The claims of a JWT, which are JSON in its second part; nullopt: it is no JWT.
std::optional<std::string> claims_of(std::string_view token) {
    const auto first = token.find('.');
    const auto second = first == std::string_view::npos ? first : token.find('.', first + 1);
    if (second == std::string_view::npos) return {};
    const std::string_view encoded = token.substr(first + 1, second - first - 1);
    std::string claims(encoded.size(), '\0');
    std::size_t size = 0;
    if (sodium_base642bin(reinterpret_cast<unsigned char*>(claims.data()), claims.size(), encoded.data(),
                          encoded.size(), "=", &size, nullptr, sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0)
        return {};
    claims.resize(size);
    return claims;
}

/// A member of an object, as text; empty: it has none.
std::string text_in(const nlohmann::json& object, const char* name) {
    const auto member = object.find(name);
    return member != object.end() && member->is_string() ? member->get<std::string>() : std::string();
}

/// Likewise seconds, which may be written with a fraction (NumericDate). Those of no date count as none.
std::optional<std::int64_t> seconds_in(const nlohmann::json& object, const char* name) {
    constexpr double last_second = 253'402'300'799;  // of the year 9999
    const auto member = object.find(name);
    if (member == object.end() || !member->is_number()) return {};
    const auto seconds = member->get<double>();
    if (seconds < 0 || seconds > last_second) return {};
    return static_cast<std::int64_t>(seconds);
}

/// What the token says of itself, where it is a JWT.
void read_claims(KafkaToken& token) {
    const auto claims = claims_of(token.text.reveal());
    if (!claims) return;
    const auto read = parse_json(*claims);
    if (!read.is_object()) return;
    token.principal = text_in(read, "sub");
    if (const auto expires = seconds_in(read, "exp")) token.expires = Instant{std::chrono::seconds{*expires}};
}

std::string_view last_line(std::string_view text) {
    const std::string_view lines = trimmed(text);
    const auto end = lines.rfind('\n');
    return end == std::string_view::npos ? lines : lines.substr(end + 1);
}

}  // namespace

Result<KafkaToken> parse_token(std::string_view output, Instant now) {
    const std::string_view text = trimmed(output);
    KafkaToken token{Secret(std::string(text)), now + default_lifetime, ""};
    if (text.starts_with('{')) {
        const auto answer = parse_json(text);
        if (!answer.is_object()) return retryable("the token command printed no JSON");
        token.text = Secret(text_in(answer, "access_token"));
        read_claims(token);
        if (const auto lifetime = seconds_in(answer, "expires_in"))
            token.expires = now + std::chrono::seconds{*lifetime};
    } else {
        read_claims(token);
    }
    if (token.text.empty()) return retryable("the token command printed no token");
    if (token.text.reveal().find_first_of(" \t\r\n") != std::string::npos)
        return retryable("the token command printed more than one word");
    return token;
}

KafkaTokenSource token_command(const std::string& command) {
    if (command.empty()) return nullptr;
    return [command]() -> Result<KafkaToken> {
        try {
            const auto done = process::run({{"sh", "-c", command}}, patience);
            if (done.status != 0)
                return retryable("the token command ended with " + std::to_string(done.status) + ": " +
                                 std::string(last_line(done.err)));
            return parse_token(done.out, system_now());
        } catch (const std::exception&) {  // its text may hold what the command printed
            return retryable("the token command did not end in time");
        }
    };
}

}  // namespace epilogue
