// What the suites of the remote conversation share: a conversation on a stand-in, and what its callbacks saw.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "agent/conversation.h"
#include "tests/agent/fake_agent_server.h"

namespace epilogue::testing {

using namespace agent;

/// The conversation of these suites.
inline const std::string id = "11111111-2222-4333-8444-555555555555";

/// The events that callbacks saw. Thread-safe.
class SeenEvents {
  public:
    void operator()(const RemoteEvent& event) {
        const std::lock_guard lock(mutex_);
        if (!event.is_full_state()) seen_.push_back(event.id);
    }
    std::vector<std::string> seen() const {
        const std::lock_guard lock(mutex_);
        return seen_;
    }

  private:
    mutable std::mutex mutex_;
    std::vector<std::string> seen_;
};

/// Options with short pauses between attempts to connect; `seen`, unless it is null, is told of every event.
inline ConversationOptions fast(SeenEvents* seen = nullptr) {
    ConversationOptions options;
    options.socket.backoff_base = std::chrono::milliseconds{1};
    options.socket.backoff_cap = std::chrono::milliseconds{50};
    if (seen != nullptr) options.callbacks.emplace_back([seen](const RemoteEvent& event) { (*seen)(event); });
    return options;
}

/// The conversation `id` on that server; throws when it cannot be attached to.
inline std::unique_ptr<RemoteConversation> attached(const FakeAgentServer& server,
                                                    ConversationOptions options = fast()) {
    auto conversation = RemoteConversation::attach(server.client(), id, std::move(options));
    if (!conversation) throw std::runtime_error(conversation.error().text);
    return std::move(*conversation);
}

/// Their ids, in their order.
inline std::vector<std::string> ids_of(const EventList& events) {
    std::vector<std::string> ids;
    for (const EventRef& event : events) ids.push_back(event->id);
    return ids;
}

/// So many messages of the agent, e0, e1, ….
inline std::vector<std::string> numbered(int count) {
    std::vector<std::string> events;
    for (int i = 0; i < count; ++i) events.push_back(message_event("e" + std::to_string(i), i, "agent", "x"));
    return events;
}

/// The ids of events as JSON.
inline std::vector<std::string> ids_in(const std::vector<std::string>& events) {
    std::vector<std::string> ids;
    for (const std::string& event : events) ids.push_back(parse_event(event)->id);
    return ids;
}

/// What a run of the server does: goes through these statuses, and says why when it ends in error.
inline void play_run(FakeAgentServer& server, const std::string& end, const std::string& reason = "") {
    server.on_run([&server, end, reason](const std::string& conversation) {
        const auto n = static_cast<double>(server.log(conversation).size());
        const std::string name = std::to_string(server.log(conversation).size());
        server.emit(conversation, status_event("running" + name, n, "running"));
        server.emit(conversation, message_event("word" + name, n + 0.1, "agent", "a word"));
        server.emit(conversation, status_event("end" + name, n + 0.2, end));
        if (!reason.empty()) server.emit(conversation, error_event("why" + name, n + 0.3, "Code", reason));
    });
}

}  // namespace epilogue::testing
