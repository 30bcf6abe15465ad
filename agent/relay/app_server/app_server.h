// What an OpenHands app server tells of its conversations by its V1 API.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/io/http.h"
#include "base/result.h"
#include "base/secret.h"

namespace epilogue::relay {

struct AppConversation {
    ConversationId id;
    std::string updated_at;  ///< as the server writes it
    /// @{ Of the agent server in its sandbox, while that runs; "": none.
    std::string agent_url;
    Secret session_key;
    /// @}
};

struct AppConversations {
    std::vector<AppConversation> items;
    std::string next_page_id;  ///< "": the last page
};

struct AppEvent {
    std::string id;
    std::string timestamp;  ///< as its agent server wrote it: local time, compares as text
    std::string json;
    bool ends_run = false;  ///< it says that a run is over
};

struct AppEvents {
    std::vector<AppEvent> items;  ///< the oldest first
    std::string next_page_id;     ///< "": the last page
};

/// @{ Answers' bodies. Errors: retryable, it is none.
Result<AppConversations> app_conversations_in(std::string_view body);
Result<AppEvents> app_events_in(std::string_view body);
/// @}

/// Blocking. Errors are retryable and never hold the key or what the server wrote.
class AppServer {
  public:
    struct Rules {
        std::string url;  ///< base
        Secret key;       ///< empty: none
        std::string org;  ///< whose conversations; "": those that the key sees by itself
        std::chrono::milliseconds deadline{30'000};
    };
    explicit AppServer(Rules rules) : rules_(std::move(rules)) {}

    /// Those that were updated since, as the server orders them.
    Result<AppConversations> conversations(const std::string& since, const std::string& page_id,
                                           const std::stop_token& stop) const;
    /// Of its log, from that own time on ("": all).
    Result<AppEvents> events(const ConversationId& conversation, const std::string& since,
                             const std::string& page_id, const std::stop_token& stop) const;
    /// What it answers to who lists its newest conversation: for those who look whether it lets us in.
    HttpAnswer answer_to_listing(const std::stop_token& stop) const;
    /// How many events its log has.
    Result<std::int64_t> count(const ConversationId& conversation, const std::stop_token& stop) const;

    /// So long the last answer wants to be left alone (429, 503), and forgets it. For one thread.
    std::chrono::seconds take_retry_after() const { return std::exchange(retry_after_, {}); }

    /// "https://host" or "https://host#org".
    std::string name() const { return rules_.org.empty() ? rules_.url : rules_.url + "#" + rules_.org; }

  private:
    HttpAnswer send(const std::string& path, const std::stop_token& stop) const;
    Result<std::string> get(const std::string& path, const std::stop_token& stop) const;

    const Rules rules_;
    HttpClient http_;
    mutable std::chrono::seconds retry_after_{0};
};

}  // namespace epilogue::relay
