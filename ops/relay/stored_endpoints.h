// Which addresses and keys of conversations' agent servers an app server told of and are stored already.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "agent/relay/app_server/app_server.h"
#include "base/ids.h"
#include "base/result.h"

namespace epilogue {

/// Thread-safe.
class StoredEndpoints {
  public:
    using Save = std::function<Result<void>(const relay::AppConversation&)>;

    explicit StoredEndpoints(Save save) : save_(std::move(save)) {}

    /// The conversation's agent server answers: its address and key are stored, unless they are already. When
    /// that fails it is logged, and tried again the next time.
    void note(const relay::AppConversation& conversation);

  private:
    const Save save_;
    std::mutex mutex_;
    /// The digest of address and key: no key is kept.
    std::map<ConversationId, std::string> stored_;
};

}  // namespace epilogue
