// The door at which agent servers post: what they say is in the topic before they are told that it is taken.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/relay/conversation_owners.h"
#include "agent/relay/observer.h"
#include "agent/relay/topic.h"
#include "agent/relay/topic_record.h"
#include "agent/relay/webhook/http_service.h"
#include "agent/relay/webhook/sender_keys.h"
#include "agent/relay/webhook/waiting_events.h"

namespace epilogue::relay {

class KnownOwners;

/// An event that is in the topic now.
struct CameEvent {
    ConversationId conversation_id;
    std::string id;         ///< "": it says none
    bool ends_run = false;  ///< it says that a run is over
};

struct WebhookRules {
    std::vector<std::string> leave_out;            ///< kinds, as TopicRecords takes them
    std::function<std::size_t()> max_event_bytes;  ///< the topic's limit, as it is known now
    DoorObserver observer = {};
    /// Told of each event that the topic has acknowledged. On the topic's own thread.
    std::function<void(const CameEvent&)> came = [](const auto&) {};
    /// Asked before an event that says that a run is over: calls `go_on`, on whatever thread, when it may be
    /// in the topic, because what stands before it in the server's log is, or that cannot be found out.
    std::function<void(const ConversationId&, std::function<void()> go_on)> before_end =
        [](const auto&, const auto& go_on) { go_on(); };
    /// Told whether the owners of conversations can be asked: "", or why not.
    std::function<void(const std::string& why)> owners_answered = [](auto&&) {};
};

/// Answers 2xx only when the topic has acknowledged every event of the request that is wanted there; 503 when
/// it has not, and all of it is to be sent again. 403 when a conversation belongs to another sender, and 422
/// when an item is none: the good items of such a request are in the topic all the same.
class WebhookDoor final : public HttpService {
  public:
    /// `topic` and `owners` outlive it.
    WebhookDoor(Topic& topic, ConversationOwners& owners, SenderKeys keys, WebhookRules rules);
    /// When no answer is owed any more.
    ~WebhookDoor() override;

    std::optional<HttpReply> answer_head(const HttpHead& head) override;
    void answer(const HttpHead& head, std::string body, std::function<void(HttpReply)> reply) override;

    /// What came and is not answered yet.
    WaitingEvents::Seen waiting() const { return waiting_.seen(); }

  private:
    struct Request;
    void check(const std::shared_ptr<Request>& request);
    /// From that item on.
    void produce(const std::shared_ptr<Request>& request, std::size_t from);
    void produce_end(const std::shared_ptr<Request>& request, std::size_t item);
    /// The item's record; nullopt: it makes none, and is counted.
    std::optional<MadeRecord> record_of(Request& request, std::size_t item) const;
    bool produce(const std::shared_ptr<Request>& request, std::size_t item, MadeRecord record);

    Topic& topic_;
    const SenderKeys keys_;
    const WebhookRules rules_;
    const TopicRecords records_;
    WaitingEvents waiting_;
    std::unique_ptr<KnownOwners> owners_;
};

}  // namespace epilogue::relay
