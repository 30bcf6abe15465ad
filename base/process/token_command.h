// Tokens of SASL OAUTHBEARER from a command of the operator's ([kafka] oauth_token_command).
#pragma once

#include <string>
#include <string_view>

#include "base/instant.h"
#include "base/io/kafka.h"

namespace epilogue {

/// What such a command prints: a JWT (its `exp` and `sub` count, RFC 7519 §4.1), or a token endpoint's
/// answer,
/// {"access_token": "…", "expires_in": seconds} (RFC 6749 §5.1). Where no expiry is said it is five minutes
/// after `now`. Errors: retryable, without a word of the output, which is a secret.
Result<KafkaToken> parse_token(std::string_view output, Instant now);

/// Runs `command` in a shell for each token. Errors: retryable, when it does not end with 0 within 30 s (with
/// the last line that it wrote on standard error), or parse_token()'s. null for an empty command.
KafkaTokenSource token_command(const std::string& command);

}  // namespace epilogue
