// A real agent server of a given version on loopback, with a scripted LLM behind it.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/server.h"
#include "ops/agent_server/launch.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace epilogue::testing {

/// The version that EPILOGUE_AGENT_SERVER names, `otherwise` when it names none.
std::string wanted_version(std::string_view otherwise = agent_server::usual_version());

/// Where the environment with that version is; it is made first when there is none. Ends the process with 77
/// (ctest: skipped) where no Python is new enough, throws std::runtime_error when it cannot be made.
std::filesystem::path real_server_environment(const std::string& version);

class RealServer {
  public:
    /// Starts it in that time zone, with conversations in a folder of its own, and waits until it answers and
    /// has run one. `webhooks`: OH_WEBHOOKS, a JSON array; "": none. `more`: other variables of its
    /// environment.
    explicit RealServer(const std::string& version, const std::string& zone = "UTC",
                        std::string webhooks = "", std::map<std::string, std::string> more = {});
    ~RealServer();
    RealServer(const RealServer&) = delete;
    RealServer& operator=(const RealServer&) = delete;

    unsigned short port() const { return port_; }
    const std::string& version() const { return version_; }
    /// Its Python environment.
    const std::filesystem::path& environment() const { return environment_; }
    /// A client of it, or of a proxy before it.
    std::shared_ptr<agent::AgentServer> client(std::optional<unsigned short> port = std::nullopt,
                                               const std::string& key = "lab-key") const;
    /// The request that creates a conversation which follows that script of scripted_llm.py; `more` is JSON
    /// to merge.
    std::string request(const std::string& script, const std::string& more = "{}") const;
    /// How many steps of agents the LLM was asked for as this script.
    std::size_t llm_calls(const std::string& script) const;
    /// Where the LLM is, and where the agents work: for clients that are not ours.
    std::string llm_url() const;
    std::filesystem::path work() const { return plan("").work(); }
    /// Where it keeps its conversations.
    std::filesystem::path conversations() const { return plan("").conversations(); }
    /// The text of a message that tells the script where to work.
    std::string task() const;

    /// Kills it with that signal, and waits for its end.
    void end(int signal);
    /// Starts it again on the same data, in that time zone, and waits until it answers and has run a
    /// conversation.
    void start(const std::string& zone = "UTC");
    /// Ends it in good order and starts it again.
    void move_to(const std::string& zone);

  private:
    agent_server::ServerPlan plan(const std::string& zone) const;
    void warm_up() const;

    std::string version_;
    const std::string webhooks_;
    const std::map<std::string, std::string> more_;
    std::filesystem::path environment_;
    TempDir folder_;
    unsigned short port_;
    unsigned short llm_port_;
    std::unique_ptr<Process> llm_;
    std::unique_ptr<Process> server_;
};

}  // namespace epilogue::testing
