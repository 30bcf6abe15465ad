// The digest as JSON, for the column `digest` of its conversation's row.
#pragma once

#include <string>

#include "base/result.h"
#include "worker/core/digest.h"

namespace epilogue {

/// An object without what is empty.
std::string to_json(const Digest& digest);

/// Reads it back, and what versions before 0.2 wrote as well (`files`, `commands` and `errors`, of which a
/// reader that knows them alone finds none in to_json's). Poison when it has another form.
Result<Digest> digest_from_json(const std::string& json);

}  // namespace epilogue
