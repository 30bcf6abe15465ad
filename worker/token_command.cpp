#include "worker/token_command.h"

#include <exception>
#include <optional>

#include <sodium.h>

#include "base/process/process.h"
#include "base/text.h"
#include "schemas/json_reader.h"

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

/// Seconds, which may be written with a fraction (NumericDate).
std::optional<std::int64_t> seconds_in(const JsonPart& number) {
    if (number.type != JsonPart::Type::number) return {};
    return integer_in(number.text.substr(0, number.text.find('.')));
}

/// What the token says of itself, where it is a JWT.
void read_claims(KafkaToken& token) {
    const auto claims = claims_of(token.text.reveal());
    if (!claims) return;
    const auto read = JsonReader().read(*claims, {.name = "", .members = {{"exp"}, {"sub"}}});
    if (!read) return;
    token.principal = (*read)["sub"].string_or_empty();
    if (const auto expires = seconds_in((*read)["exp"]))
        token.expires = Instant{std::chrono::seconds{*expires}};
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
        const auto answer =
            JsonReader().read(text, {.name = "", .members = {{"access_token"}, {"expires_in"}}});
        if (!answer) return retryable("the token command printed no JSON");
        token.text = Secret(std::string((*answer)["access_token"].string_or_empty()));
        read_claims(token);
        if (const auto lifetime = seconds_in((*answer)["expires_in"]))
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
