// What a request to the webhook door is about, by its method and path. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/ids.h"

namespace epilogue::relay {

/// V1: the body is an array of events of that conversation.
struct EventsOf {
    ConversationId conversation_id;
};
/// V1: the body is the information of a conversation.
struct ConversationInfo {};
/// V0: the body is an array of files that were written or removed.
struct FileBatch {};
/// V0: the body is one file that was written.
struct OneFile {
    std::string path;
};
/// An id that cannot be a conversation's.
struct BadConversationId {};

using WebhookSubject = std::variant<EventsOf, ConversationInfo, FileBatch, OneFile, BadConversationId>;

/// Any base may stand before the parts that say what it is; a query is ignored. nullopt: no path of ours.
std::optional<WebhookSubject> webhook_subject(std::string_view target);

/// The conversation whose event that file of V0 is ("sessions/ID/events/N.json"); nullopt for other files.
std::optional<ConversationId> conversation_of_file(std::string_view path);

}  // namespace epilogue::relay
