// The part of a relay in tests with real agent servers: brings what a conversation tells to a rig's topic,
// live.
#pragma once

#include <memory>
#include <string>

#include "agent/conversation.h"
#include "tests/agent/real_server.h"
#include "tests/support/rig.h"

namespace epilogue::testing {

/// As long as it lives each event of the conversation comes to the topic at once, in the order in which the
/// server tells it, snapshots of its state included. It outlives restarts of the server. Errors are
/// std::runtime_error.
class LiveTopic {
  public:
    LiveTopic(const Rig& rig, const RealServer& server, const std::string& conversation);

  private:
    std::shared_ptr<Producer> producer_;
    std::unique_ptr<agent::RemoteConversation> conversation_;  ///< first to go: its thread produces
};

}  // namespace epilogue::testing
