#include "agent/relay/webhook/webhook_door.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "agent/relay/webhook/known_owners.h"
#include "agent/relay/webhook/own_order.h"
#include "agent/relay/webhook/v0_files.h"
#include "agent/relay/webhook/webhook_path.h"
#include "base/ids.h"
#include "schemas/json_edit.h"
#include "schemas/json_reader.h"
#include "schemas/json_spans.h"

namespace epilogue::relay {
namespace {

/// What no event says: servers tell of a deletion by the conversation's information alone. Sent again it is
/// the same event. `updated_at`: the time, with its zone; "": not known.
std::string deletion(const ConversationId& conversation, std::string_view updated_at) {
    constexpr const char* name_space = "3e1f6d0a-54a7-5b0e-9d63-0c6a1f0b7a52";
    std::string event = R"({"kind":"ConversationStateUpdateEvent","id":)" +
                        json_string(uuid_v5(name_space, conversation.text()));
    if (updated_at.ends_with('Z')) event += R"(,"timestamp":)" + json_string(updated_at);
    return event + R"(,"source":"environment","key":"execution_status","value":"deleting"})";
}

/// One event of a request; the text is in the body, in `deleting`, or in `files`.
struct Item {
    ConversationId conversation_id;
    std::string_view json;
};

/// As W3C Trace Context writes it: version, trace, parent and flags.
bool is_traceparent(std::string_view text) {
    constexpr std::string_view form = "00-00000000000000000000000000000000-0000000000000000-00";
    if (text.size() != form.size()) return false;
    for (std::size_t i = 0; i < form.size(); ++i) {
        const char c = text[i];
        const bool is_hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        if (form[i] == '-' ? c != '-' : !is_hex) return false;
    }
    return true;
}

}  // namespace

/// A request from its body to its answer. What its events become is counted by the threads of the topic.
struct WebhookDoor::Request {
    Sender sender;
    std::string traceparent;
    std::string body;
    std::string deleting;  ///< the event that says so
    PostedFiles files;
    std::vector<Item> items;
    std::vector<ConversationId> conversations;  ///< of the items, each once
    std::set<ConversationId> forbidden;
    std::string first_fault;
    std::function<void(HttpReply)> reply;
    std::shared_ptr<void> waits;  ///< among those of the door
    std::array<std::atomic<std::size_t>, outcome_names.names.size()> counts{};
    std::atomic<std::size_t> open = 1;  ///< records that are not settled, and one while they are produced
    bool has_waited = false;            ///< before its first end
    std::function<void()> go_on;        ///< once all that was produced is settled; empty: it was all there is

    void count(Outcome outcome, std::size_t events = 1) {
        counts[static_cast<std::size_t>(outcome)] += events;
    }
    std::size_t counted(Outcome outcome) const { return counts[static_cast<std::size_t>(outcome)]; }

    void add(ConversationId conversation_id, std::string_view json) {
        if (std::ranges::find(conversations, conversation_id) == conversations.end())
            conversations.push_back(conversation_id);
        items.push_back({std::move(conversation_id), json});
    }

    // Each reads the body as that; the answer when it is no such thing.
    std::optional<HttpReply> read(const EventsOf& of) {
        const auto elements = json_elements(body);
        if (!elements) return http_refusal(400, "the body: expected a JSON array of events");
        for (const std::size_t place : own_order(*elements)) add(of.conversation_id, (*elements)[place]);
        return std::nullopt;
    }
    std::optional<HttpReply> read(const ConversationInfo&) {
        thread_local JsonReader reader;
        const auto info = reader.read(body, {"", {{"id"}, {"execution_status"}, {"updated_at"}}});
        const auto id = info ? (*info)["id"].string() : std::nullopt;
        if (!id || id->empty() || id->size() > 255)
            return http_refusal(400, "the body: expected a conversation, a JSON object with an \"id\"");
        const auto conversation = normalise_conversation_id(*id);
        if ((*info)["execution_status"].string() == "deleting") {
            deleting = deletion(conversation, (*info)["updated_at"].string_or_empty());
            add(conversation, deleting);
        } else {
            conversations.push_back(conversation);
        }
        return std::nullopt;
    }
    std::optional<HttpReply> read(const FileBatch&) {
        const auto elements = json_elements(body);
        if (!elements) return http_refusal(400, "the body: expected a JSON array of {method, path, content}");
        for (std::size_t i = 0; i < elements->size(); ++i) add_posted_file(files, (*elements)[i], i);
        for (const PostedEvent& event : files.events) add(event.conversation_id, event.json);
        first_fault = files.first_fault;
        count(Outcome::invalid, files.invalid);
        return std::nullopt;
    }
    std::optional<HttpReply> read(const OneFile& file) {
        if (const auto conversation = conversation_of_file(file.path)) add(*conversation, body);
        return std::nullopt;
    }
    std::optional<HttpReply> read(const BadConversationId&) {
        return std::nullopt;
    }  // answer_head() refuses it

    /// The answer once nothing is under way.
    HttpReply answer() const {
        if (counted(Outcome::failed) > 0) return http_unavailable("Kafka has not acknowledged all events");
        if (counted(Outcome::no_room) > 0)
            return http_unavailable("as many bytes are on their way to Kafka as there may be");
        if (!forbidden.empty())
            return http_refusal(403, "conversation " + forbidden.begin()->text() + " belongs to another key");
        if (counted(Outcome::invalid) > 0) return http_refusal(422, first_fault);
        HttpReply success;
        success.body = "{\"success\":true}\n";
        return success;
    }
    void close_one(const DoorObserver& observer) {
        if (--open > 0) return;
        if (const auto next = std::exchange(go_on, nullptr)) {
            open = 1;
            return next();
        }
        for (std::size_t i = 0; i < counts.size(); ++i)
            if (counts[i] > 0) observer.events(Door::webhook, static_cast<Outcome>(i), counts[i]);
        waits.reset();
        reply(answer());
    }
};

WebhookDoor::WebhookDoor(Topic& topic, ConversationOwners& owners, SenderKeys keys, WebhookRules rules)
    : topic_(topic),
      keys_(std::move(keys)),
      rules_(std::move(rules)),
      records_(rules_.leave_out),
      owners_(std::make_unique<KnownOwners>(owners, keys_)) {}
WebhookDoor::~WebhookDoor() = default;

std::optional<HttpReply> WebhookDoor::answer_head(const HttpHead& head) {
    const auto subject = webhook_subject(head.target);
    if (!subject) return http_refusal(404, "nothing is at this path");
    if (head.method != "POST") {
        HttpReply reply = http_refusal(405, "expected POST");
        reply.headers.emplace_back("Allow", "POST");
        return reply;
    }
    if (keys_.empty()) return http_refusal(403, "webhooks are off: [relay] keys is empty");
    if (!keys_.sender_of(head.key))
        return http_refusal(401, "Authorization: Bearer, or X-Session-API-Key: expected one of [relay] keys");
    if (std::holds_alternative<BadConversationId>(*subject))
        return http_refusal(422, "the path: expected a conversation id of 1 to 255 bytes");
    return std::nullopt;
}

void WebhookDoor::answer(const HttpHead& head, std::string body, std::function<void(HttpReply)> reply) {
    const auto request = std::make_shared<Request>();
    request->sender = keys_.sender_of(head.key).value_or(Sender{});
    if (is_traceparent(head.traceparent)) request->traceparent = head.traceparent;
    request->body = std::move(body);
    request->reply = std::move(reply);
    const auto subject = webhook_subject(head.target).value_or(WebhookSubject{});
    if (const auto refused = std::visit([&](const auto& about) { return request->read(about); }, subject))
        return request->reply(*refused);
    request->waits = waiting_.add(request->items.size());
    check(request);
}

void WebhookDoor::check(const std::shared_ptr<Request>& request) {
    owners_->check(
        request->sender, request->conversations, [this, request](Result<std::set<ConversationId>> checked) {
            rules_.owners_answered(checked ? "" : checked.error().text);
            if (!checked) {
                rules_.observer.events(Door::webhook, Outcome::failed, request->items.size());
                request->waits.reset();
                return request->reply(http_unavailable("whose conversation it is cannot be told now"));
            }
            request->forbidden = std::move(*checked);
            produce(request, 0);
        });
}

std::optional<MadeRecord> WebhookDoor::record_of(Request& request, std::size_t number) const {
    const Item& item = request.items[number];
    if (request.forbidden.contains(item.conversation_id)) {
        request.count(Outcome::forbidden);
        return std::nullopt;
    }
    DoorEvent event;
    event.conversation_id = item.conversation_id;
    event.json = item.json;
    event.traceparent = request.traceparent;
    auto made = records_.make(event, rules_.max_event_bytes());
    if (auto* record = std::get_if<MadeRecord>(&made)) return std::move(*record);
    if (const auto* none = std::get_if<NoEvent>(&made)) {
        if (request.first_fault.empty())
            request.first_fault = "item " + std::to_string(number) + ": " + none->why;
        request.count(Outcome::invalid);
    } else {
        request.count(Outcome::left_out);
    }
    return std::nullopt;
}

bool WebhookDoor::produce(const std::shared_ptr<Request>& request, std::size_t item, MadeRecord record) {
    if (record.is_trimmed) rules_.observer.trimmed(Door::webhook);
    ++request->open;
    CameEvent came{request->items[item].conversation_id, std::move(record.event_id), record.ends_run};
    const auto settled = [this, request, came = std::move(came)](const Result<void>& answer) {
        if (answer) rules_.came(came);
        request->count(answer ? Outcome::acknowledged : Outcome::failed);
        request->close_one(rules_.observer);
    };
    if (topic_.produce(std::move(record.record), settled)) return true;
    --request->open;
    return false;
}

/// What stands before the end is in the topic: a comparison does not bring it once more.
void WebhookDoor::produce_end(const std::shared_ptr<Request>& request, std::size_t item) {
    if (request->counted(Outcome::failed) == 0)
        return rules_.before_end(request->items[item].conversation_id,
                                 [this, request, item] { produce(request, item); });
    // Or is not, and no end overtakes it: the sender sends all of it again.
    request->count(Outcome::failed, request->items.size() - item);
    request->close_one(rules_.observer);
}

void WebhookDoor::produce(const std::shared_ptr<Request>& request, std::size_t from) {
    // Each item is judged by itself: what becomes of one lets no other in.
    for (std::size_t i = from; i < request->items.size(); ++i) {
        auto record = record_of(*request, i);
        if (!record) continue;
        if (record->ends_run && !std::exchange(request->has_waited, true)) {
            request->go_on = [this, request, i] { produce_end(request, i); };
            break;
        }
        if (!produce(request, i, std::move(*record))) {
            // The rest stays out, so that nothing overtakes what had no room.
            request->count(Outcome::no_room, request->items.size() - i);
            break;
        }
    }
    request->close_one(rules_.observer);
}

}  // namespace epilogue::relay
