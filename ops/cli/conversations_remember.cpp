// epilogue conversations remember
#include <CLI/CLI.hpp>

#include "ops/cli/conversations.h"
#include "worker/agents/agent_endpoint.h"

namespace epilogue::cli {

EndpointMemory::EndpointMemory(const agent::AgentServer& server, std::string_view conversation,
                               const Config& config)
    : endpoint_(expect(endpoint_to_keep(conversation, server.address().url(), server.session_key(), config))),
      store_(open_store(config)) {}

void EndpointMemory::keep() const {
    expect(keep_endpoint(*store_, endpoint_));
}

void add_conversation_remember(CLI::App& parent) {
    auto [command, common] = add_agent_command(
        parent, "remember",
        "Tell workers which server the conversation is on; the key is kept sealed with [security] keys");
    command->callback([options = common] {
        const Config config = load(options->common);
        const auto server = reach_server(*options, config);
        const EndpointMemory memory(*server, options->id, config);
        // An id with a mistake in it would be remembered for ever.
        static_cast<void>(expect(agent::ConversationCalls(server, options->id).info()));
        memory.keep();
    });
}

}  // namespace epilogue::cli
