// What the commands of `epilogue conversations` share: the server they speak to, and how its errors are said.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "agent/calls.h"
#include "ops/cli/command.h"

namespace epilogue::cli {

/// The options that all of them have.
struct AgentCommon {
    Common common;
    std::string url;  ///< --agent-url; empty: [agent_server] url
    std::string key;  ///< --agent-key; empty: [agent_server] session_api_key
    std::string id;   ///< of the conversation
};

/// Adds the command `name` with those options, and, `with_id`, the conversation's id, to `parent`.
std::pair<CLI::App*, std::shared_ptr<AgentCommon>> add_agent_command(CLI::App& parent, const char* name,
                                                                     const char* help, bool with_id = true);

/// The server that the options or the configuration name, reached `within` that time (0: as long as calls
/// take); throws Exit 64 or 69.
std::shared_ptr<const agent::AgentServer> reach_server(const AgentCommon& options, const Config& config,
                                                       std::chrono::milliseconds within = {});
std::shared_ptr<const agent::AgentServer> reach_server(const AgentCommon& options,
                                                       std::chrono::milliseconds within = {});

/// The calls of the conversation that the options name.
agent::ConversationCalls reach_conversation(const AgentCommon& options);

/// What workers and callbacks know of a conversation's server: its address and the sealed key. Throws Exit
/// when it is made, before anything is done, where the key cannot be sealed or the database cannot be used.
class EndpointMemory {
  public:
    EndpointMemory(const agent::AgentServer& server, std::string_view conversation, const Config& config);
    /// Throws Exit.
    void keep() const;

  private:
    AgentEndpoint endpoint_;
    std::unique_ptr<MysqlStore> store_;
};

/// Throws Exit for an error: 69 when the server cannot be reached, else 1.
[[noreturn]] void fail(const agent::AgentError& error);
template <class T>
T expect(agent::AgentResult<T> result) {
    if (!result) fail(result.error());
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// Prints text of a server for a person, or, with `json`, {name: text}.
void print_answer(const char* name, std::string_view text, bool json);
/// `text`, which the user gave as `what`; throws Exit 64 where it is not valid UTF-8.
std::string utf8_or_refuse(const std::string& text, std::string_view what);
/// What `text` stands for when it begins with "@": the file's content ("@-": standard input). Throws Exit 64,
/// also where that is not valid UTF-8.
std::string text_or_file(const std::string& text);

// Groups of commands; each adds its own to `epilogue conversations`.
void add_conversation_views(CLI::App& parent);
void add_conversation_talk(CLI::App& parent);
void add_conversation_settings(CLI::App& parent);
void add_conversation_remember(CLI::App& parent);

}  // namespace epilogue::cli
