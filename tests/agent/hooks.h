// Conversations with a stop hook, for tests with real agent servers.
#pragma once

#include <filesystem>
#include <string>

#include "tests/agent/real_server.h"

namespace epilogue::testing {

/// A stop hook that takes its time, and the files by which it says how far it is.
class SlowHook {
  public:
    /// Takes so many seconds each time. `denies_first`: and lets only the second end pass. `name`: a word
    /// that no other hook of that server has.
    SlowHook(const RealServer& server, const std::string& name, int seconds, bool denies_first = true)
        : folder_(server.work() / name), seconds_(seconds), denies_first_(denies_first) {}

    /// JSON to merge into the request that creates a conversation.
    std::string request() const;
    /// It has begun to think about an end.
    bool has_begun() const { return std::filesystem::exists(folder_ / "begun"); }
    /// It has let an end pass.
    bool has_allowed() const { return std::filesystem::exists(folder_ / "allowed"); }

  private:
    std::filesystem::path folder_;
    int seconds_;
    bool denies_first_;
};

}  // namespace epilogue::testing
