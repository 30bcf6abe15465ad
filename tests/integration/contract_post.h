// What a post has to be: made here once more from the contract's words, not by the program's own code.
#pragma once

#include <string>

#include "tests/integration/recording_set.h"

namespace epilogue::testing {

/// 32 hex digits as a UUID is written.
std::string with_dashes(std::string hex);

/// Contract §6: UUIDv5(installation_id, callback_id '\0' conversation_id '\0' turn_key).
std::string delivery_id_of(const std::string& installation, const std::string& callback,
                           const std::string& conversation, const std::string& turn_key);

/// Contract §6: the last line of a post on GitHub. `key`: the bytes of the first key.
std::string marker_of(const std::string& key, const std::string& delivery_id);

/// Contract §10: the first line.
std::string headline_of(const RecordedTurn& turn);

/// Contract §10: the first line and the agent's words, where they belong to the post; up to where the facts
/// begin.
std::string start_of_post(const RecordedTurn& turn);
/// A post whose first line does not say whether what is finished has problems: no recording's truth knows
/// that (tests/golden/posts does).
std::string without_problems(const std::string& post);

}  // namespace epilogue::testing
