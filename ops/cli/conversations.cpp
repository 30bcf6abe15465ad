#include "ops/cli/conversations.h"

#include <fstream>
#include <iostream>
#include <iterator>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "agent/render.h"
#include "base/json_text.h"
#include "base/text.h"

namespace epilogue::cli {

std::pair<CLI::App*, std::shared_ptr<AgentCommon>> add_agent_command(CLI::App& parent, const char* name,
                                                                     const char* help, bool with_id) {
    auto* command = parent.add_subcommand(name, help);
    auto options = std::make_shared<AgentCommon>();
    add_config(*command, options->common, true);
    command->add_option("--agent-url", options->url,
                        "The agent server's address (default: [agent_server] url)");
    command->add_option(
        "--agent-key", options->key,
        "Its session key, as env:NAME or file:PATH (default: [agent_server] session_api_key)");
    if (with_id) command->add_option("ID", options->id, "Conversation id")->required();
    return {command, options};
}

std::shared_ptr<const agent::AgentServer> reach_server(const AgentCommon& options, const Config& config,
                                                       std::chrono::milliseconds within) {
    const std::string url = options.url.empty() ? config.agent_server.url : options.url;
    if (url.empty()) throw Exit{usage, "no agent server: expected --agent-url, or [agent_server] url"};
    const auto address = agent::parse_address(url);
    if (!address) throw Exit{usage, "--agent-url: expected http[s]://host[:port][/path]"};
    Secret key = config.agent_server.session_api_key;
    if (!options.key.empty()) {
        key = secret_at("--agent-key", options.key);
    } else if (!options.url.empty() && options.url != config.agent_server.url) {
        key = Secret();  // one server's key must not be sent to another
    }
    auto server = std::make_shared<const agent::AgentServer>(*address, std::move(key));
    static_cast<void>(expect(server->features(within)));
    return server;
}

std::shared_ptr<const agent::AgentServer> reach_server(const AgentCommon& options,
                                                       std::chrono::milliseconds within) {
    return reach_server(options, load(options.common), within);
}

agent::ConversationCalls reach_conversation(const AgentCommon& options) {
    return {reach_server(options), options.id};
}

void fail(const agent::AgentError& error) {
    const bool away = error.kind == agent::AgentError::Kind::unreachable && !error.maybe_done;
    // An overloaded server says itself what it has done.
    const bool doubtful = error.maybe_done && error.kind != agent::AgentError::Kind::overloaded;
    throw Exit{away ? unavailable : failed,
               agent::printable(error.text) + (doubtful ? " (it may have been done nevertheless)" : "")};
}

void print_answer(const char* name, std::string_view text, bool json) {
    if (json)
        fmt::print("{}\n", json_indented(nlohmann::json{{name, std::string(text)}}));
    else
        fmt::print("{}\n", agent::printable(text));
}

std::string utf8_or_refuse(const std::string& text, std::string_view what) {
    if (!is_utf8(text)) throw Exit{usage, std::string(what) + ": expected valid UTF-8"};
    return text;
}

std::string text_or_file(const std::string& text) {
    if (!text.starts_with('@')) return utf8_or_refuse(text, "the text");
    const std::string path = text.substr(1);
    std::ifstream file;
    if (path != "-") {
        file.open(path, std::ios::binary);
        if (!file) throw Exit{usage, path + ": cannot be read"};
    }
    std::istream& input = path == "-" ? std::cin : file;
    return utf8_or_refuse({std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()},
                          path == "-" ? "standard input" : path);
}

void add_conversations(CLI::App& program) {
    auto* parent = program.add_subcommand("conversations", "Conversations on an OpenHands agent server");
    parent->require_subcommand(1);
    add_conversation_views(*parent);
    add_conversation_talk(*parent);
    add_conversation_settings(*parent);
    add_conversation_remember(*parent);
}

}  // namespace epilogue::cli
