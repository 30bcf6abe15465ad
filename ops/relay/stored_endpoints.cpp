#include "ops/relay/stored_endpoints.h"

#include "base/io/log.h"

namespace epilogue {

void StoredEndpoints::note(const relay::AppConversation& conversation) {
    const std::string told = sha256_hex(conversation.agent_url + '\n' + conversation.session_key.reveal());
    const std::lock_guard lock(mutex_);
    auto& stored = stored_[conversation.id];
    if (stored == told) return;
    if (const auto saved = save_(conversation); !saved)
        return log_warn("the address of a conversation's agent server could not be stored",
                        {{"cause", saved.error().text}});
    stored = told;
}

}  // namespace epilogue
