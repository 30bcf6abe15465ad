#include "tests/agent/live_topic.h"

#include "tests/agent/scripted_conversation.h"

namespace epilogue::testing {

LiveTopic::LiveTopic(const Rig& rig, const RealServer& server, const std::string& conversation)
    : producer_(std::make_shared<Producer>(broker_of_this_program().bootstrap())) {
    agent::ConversationOptions options;
    options.callbacks.emplace_back(
        [producer = producer_, topic = rig.name(), conversation](const agent::RemoteEvent& event) {
            producer->produce(topic, {{.key = conversation, .value = event.json}});
        });
    conversation_ =
        expect(agent::RemoteConversation::attach(server.client(), conversation, std::move(options)));
}

}  // namespace epilogue::testing
