// Finds the conversations of one agent server, again and again, on a thread of its own.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "agent/server.h"
#include "base/ids.h"
#include "base/result.h"

namespace epilogue::relay {

struct ListingRules {
    int page = 50;                                ///< conversations, at most 100
    std::chrono::milliseconds look_every{5'000};  ///< for those that are new
    std::chrono::milliseconds all_every{300'000};
    /// A pause is at least so many times as long as the listing before it took.
    int rest = 20;
};

class ServerListing {
  public:
    /// What the server has; `is_all`: and no others. Called on the listing's thread. After an error it is
    /// told of all of them again.
    using Found = std::function<Result<void>(const std::vector<ConversationId>& conversations, bool is_all)>;

    /// Begins at once.
    ServerListing(std::shared_ptr<const agent::AgentServer> server, Found found, ListingRules rules = {});
    /// Ends a request that is under way.
    ~ServerListing();
    ServerListing(const ServerListing&) = delete;
    ServerListing& operator=(const ServerListing&) = delete;

    /// Why it could not be listed the last time; "": it could. Thread-safe.
    std::string trouble() const;

  private:
    using Clock = std::chrono::steady_clock;

    void run(const std::stop_token& stop);
    Result<void> look(bool all, const std::stop_token& stop);
    void note(std::string trouble);

    const std::shared_ptr<const agent::AgentServer> server_;
    const Found found_;
    const ListingRules rules_;
    std::set<ConversationId> known_;
    mutable std::mutex mutex_;
    std::string trouble_;
    std::jthread thread_;
};

}  // namespace epilogue::relay
