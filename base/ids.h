// Identifiers: their types, conversation ids as they are written, UUIDs, digests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/named.h"
#include "base/text_id.h"

namespace epilogue {

using ConversationId = TextId<struct ConversationIdTag>;       ///< normalised, as topic and tables have it
using TurnKey = TextId<struct TurnKeyTag>;                     ///< id of the event that opened it, or "start"
using DeliveryId = TextId<struct DeliveryIdTag>;               ///< a UUID
using CallbackId = Named<std::int64_t, struct CallbackIdTag>;  ///< conversation_callbacks.id

/// Conversation ids that are UUIDs mean the same with and without dashes and in either case: those become
/// 32 lower-case hex digits. Any other id stays as it is. (contract §3)
ConversationId normalise_conversation_id(std::string_view id);

/// A random UUID (version 4), lower case with dashes.
std::string random_uuid();

/// UUID version 5 (RFC 4122 §4.3, SHA-1) of `name` (any bytes) in `name_space` (a UUID).
/// Returns lower case with dashes; throws std::invalid_argument when name_space is no UUID.
std::string uuid_v5(std::string_view name_space, std::string_view name);

/// SHA-256 of the bytes as 64 lower-case hex digits.
std::string sha256_hex(std::string_view bytes);

/// HMAC-SHA256 (RFC 2104) of `message` under `key` as 64 lower-case hex digits.
std::string hmac_sha256_hex(std::string_view key, std::string_view message);

/// CRC-32 (IEEE 802.3, as zlib's) of the bytes.
unsigned crc32_of(std::string_view bytes);

}  // namespace epilogue
