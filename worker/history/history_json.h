// A conversation's history as one JSON document: schemas/json/conversation_history.json describes it.
#pragma once

#include <string>

#include "worker/history/history.h"

namespace epilogue {

/// The document; bytes that are no UTF-8 become U+FFFD.
std::string to_json(const ConversationHistory& history);

}  // namespace epilogue
