// A real agent server on loopback, with a scripted LLM behind it, for `epilogue demo --real`.
#pragma once

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "agent/error.h"
#include "agent/server.h"
#include "base/process/process.h"
#include "base/process/temp_dir.h"
#include "ops/agent_server/launch.h"

namespace epilogue::demo {

/// Errors are std::runtime_error. Used by one thread.
class RealAgent {
  public:
    /// Starts both processes, which take some seconds to answer. `environment`: of Python, with the agent
    /// server. `webhooks`: where the server posts its events, as OH_WEBHOOKS has it.
    RealAgent(const std::filesystem::path& environment, std::string webhooks);
    /// Ends the server, its agents and the LLM; what they wrote is removed.
    ~RealAgent();
    RealAgent(const RealAgent&) = delete;
    RealAgent& operator=(const RealAgent&) = delete;

    std::string url() const;
    const std::string& session_key() const { return plan_.session_key; }
    /// Where the agents work.
    std::filesystem::path work() const { return plan_.work(); }
    /// Throws when one of them has ended; the error has its last words.
    void require_running();
    /// Whether both answer.
    bool answers() const;
    /// Its version, as it says.
    std::string version() const;
    /// Begins a conversation whose agent follows that script of scripted_llm.py; returns its id. Nothing is
    /// asked of the agent yet.
    std::string create(const std::string& script) const;
    /// What else can be asked of it.
    const std::shared_ptr<const agent::AgentServer>& client() const { return client_; }

  private:
    process::TempDir folder_;
    agent_server::ServerPlan plan_;
    unsigned short llm_port_;
    process::Process llm_;
    process::Process server_;
    std::shared_ptr<const agent::AgentServer> client_;
};

/// The value of a call to an agent server; throws std::runtime_error with its error.
template <class T>
T required(agent::AgentResult<T> result) {
    if (!result) throw std::runtime_error("the agent server: " + result.error().text);
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace epilogue::demo
