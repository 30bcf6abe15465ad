#include <memory>

#include "agent/address.h"
#include "agent/calls.h"
#include "agent/relay/follow/follower.h"
#include "agent/relay/follow/once_positions.h"
#include "base/stoppable_wait.h"
#include "ops/relay/followers.h"
#include "ops/relay/known_servers.h"
#include "ops/relay/once.h"
#include "ops/relay/once_topic.h"

namespace epilogue {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto nothing_comes = 60s;

Failure failure_of(const agent::AgentError& error) {
    using Kind = agent::AgentError::Kind;
    const bool is_refused = error.kind == Kind::unauthorised || error.kind == Kind::not_found;
    return is_refused ? poisonous(error.text) : retryable(error.text);
}

Result<std::vector<ConversationId>> conversations_of(const agent::AgentServer& server) {
    std::vector<ConversationId> conversations;
    std::string page_id;
    do {
        const auto page = agent::list_conversation_ids(server, 100, page_id, {});
        if (!page) return failure_of(page.error());
        for (const std::string& id : page->ids) conversations.push_back(normalise_conversation_id(id));
        page_id = page->ids.empty() ? "" : page->next_page_id;
    } while (!page_id.empty());
    return conversations;
}

/// That conversation; "": all that the server has.
Result<std::vector<ConversationId>> wanted_of(const agent::AgentServer& server, const std::string& id) {
    if (id.empty()) return conversations_of(server);
    return std::vector<ConversationId>{normalise_conversation_id(id)};
}

relay::FollowRules rules_of_once() {
    auto rules = follow_rules(relay::delivery_timeout);
    rules.until_caught_up = true;
    rules.most = 16;
    rules.claimed_at_once = 16;
    rules.discover_every = 200ms;
    rules.save_every = 200ms;
    return rules;
}

/// Waits until all are over. Errors: retryable, nothing comes any more.
Result<OnceReport> wait_for_end(const relay::OncePositions& positions, const OnceTopic& topic,
                                const OnProgress& on_progress) {
    OnceReport report;
    auto moved_at = Clock::now();
    for (;;) {
        auto now = positions.progress();
        const OnceProgress came{now.conversations, now.over, topic.acknowledged(), now.behind};
        if (came.over != report.came.over || came.events != report.came.events) moved_at = Clock::now();
        report.came = came;
        report.failures = std::move(now.failures);
        on_progress(came);
        if (came.over == came.conversations) return report;
        if (Clock::now() - moved_at > nothing_comes) {
            const std::string broker = topic.last_error();
            return retryable("nothing has come for 60 s: " + (!now.trouble.empty() ? now.trouble
                                                              : broker.empty()
                                                                  ? std::string("the server is silent")
                                                                  : broker));
        }
        wait_or_stop({}, 100ms);
    }
}

}  // namespace

Result<OnceServer> parse_once_server(const std::string& url) {
    constexpr std::string_view conversation = "/api/conversations/";
    const auto at = url.find(conversation);
    OnceServer parsed{url.substr(0, at), at == std::string::npos ? "" : url.substr(at + conversation.size())};
    while (parsed.conversation_id.ends_with('/')) parsed.conversation_id.pop_back();
    const bool has_id =
        !parsed.conversation_id.empty() && parsed.conversation_id.find_first_of("/?#") == std::string::npos;
    if (!agent::parse_address(parsed.url) || (at != std::string::npos && !has_id))
        return poisonous(
            "expected http://HOST:PORT of an agent server, with /api/conversations/ID behind it for one");
    return parsed;
}

Result<OnceReport> relay_server_once(const Config& config, const OnceServer& from, Secret key,
                                     const OnProgress& on_progress) {
    const auto address = agent::parse_address(from.url);
    if (!address) return poisonous("no address of an agent server");
    if (key.empty()) key = known_key(config, from.url);
    const agent::AgentServer server(*address, key);
    if (const auto features = server.features(10s); !features) return failure_of(features.error());
    TRY(const auto topic, OnceTopic::open(config));
    TRY(const auto conversations, wanted_of(server, from.conversation_id));
    const auto positions = std::make_unique<relay::OncePositions>(conversations, from.url, key);
    const auto follower =
        std::make_unique<relay::Follower>(*positions, *topic, topic->record_maker(config), rules_of_once());
    auto report = wait_for_end(*positions, *topic, on_progress);
    follower->stop();
    return report;
}

}  // namespace epilogue
