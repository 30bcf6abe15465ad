// How a real OpenHands agent server is started on loopback, with a scripted LLM behind it: what
// `epilogue demo --real` and the tests on real servers share. ops/agent_server/fetch makes the Python
// environments.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/process/process.h"

namespace epilogue::agent_server {

/// The release that is run unless another one is asked for.
std::string_view usual_version();
/// The LLM's program, in Python: the text of scripted_llm.py.
std::string_view scripted_llm();

/// Where `fetch` puts the environment of that version. It may not be there.
std::filesystem::path usual_environment(const std::string& version);
/// The server's program in an environment.
std::filesystem::path program_in(const std::filesystem::path& environment);

/// One server.
struct ServerPlan {
    std::filesystem::path environment;  ///< of Python
    std::filesystem::path folder;       ///< in it is everything that the server and its agents write
    unsigned short port = 0;            ///< of 127.0.0.1
    std::string session_key;
    std::string webhooks{};  ///< OH_WEBHOOKS, a JSON array; "": none
    std::string zone = "UTC";
    std::map<std::string, std::string> more{};  ///< other variables of its environment; they win

    /// Where it keeps its conversations, and where its agents work.
    std::filesystem::path conversations() const { return folder / "conversations"; }
    std::filesystem::path work() const { return folder / "work"; }
    /// Where the agents' terminals are reached, when they are tmux's.
    std::filesystem::path tmux() const { return folder / "tmux"; }
};

/// The command that starts it. Makes the folders that it needs first.
process::Command server_command(const ServerPlan& plan);
/// The command that starts the LLM on that port of 127.0.0.1, with that Python. Its program is written to
/// `folder` first; throws std::runtime_error when it cannot be.
process::Command llm_command(const std::filesystem::path& python, const std::filesystem::path& folder,
                             unsigned short port);

/// Whether a GET of that URL is answered with 200 within two seconds.
bool answers(const std::string& url);

/// What is asked of the agent of a conversation.
struct AgentPlan {
    std::string script;          ///< of scripted_llm.py
    std::string llm_url;         ///< ends with /v1
    std::filesystem::path work;  ///< where it works
    bool own_terminal = false;   ///< the server keeps the agent's terminal itself, without tmux (from 1.58)
};
/// The request that creates the conversation, JSON.
std::string conversation_request(const AgentPlan& plan);

}  // namespace epilogue::agent_server
