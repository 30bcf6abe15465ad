// Linear's answers as values, and what they mean for a post. Pure. An error comes with any status, also 200.
#pragma once

#include <optional>
#include <string>

#include "base/http_message.h"
#include "sinks/port/sink.h"

namespace epilogue {

/// Whom an answer names as the token's user, and where: "Epilogue (Acme)". "": it names none.
std::string read_linear_viewer(const HttpAnswer& answer);

/// Status and reason in a few words for people.
std::string linear_cause(const HttpAnswer& answer);

/// What the answer to a new comment means.
Attempt classify_linear_comment(const HttpAnswer& answer);

/// What a look-up saw that asked for the comment of one id, and for who we are: nothing, or a comment of
/// ours. A failed one says why.
LookupResult read_linear_lookup(const HttpAnswer& answer, const std::string& id);

/// True when the answer to a deletion says that it was made.
bool is_linear_deletion(const HttpAnswer& answer);

/// True when the answer takes the token for none of its own.
bool refuses_linear_token(const HttpAnswer& answer);

}  // namespace epilogue
