#include "ops/embedded_demo/real_agent.h"

#include <chrono>
#include <fstream>
#include <string_view>

#include <nlohmann/json.hpp>

#include "agent/address.h"
#include "agent/calls.h"
#include "base/bounded_json.h"
#include "base/ids.h"
#include "base/io/log.h"
#include "base/process/ports.h"
#include "base/text.h"

namespace epilogue::demo {
namespace {

using namespace std::chrono_literals;

/// No step of the demo needs more; the first conversation of a server loads its tools.
constexpr agent::Deadlines deadlines{.reach = 10s, .call = 60s, .llm = 60s};
constexpr auto ends_within = 5s;

std::string local_url(unsigned short port) {
    return "http://127.0.0.1:" + std::to_string(port);
}

void require_running(process::Process& process, std::string_view name) {
    if (process.running()) return;
    constexpr std::size_t shown = 1500;
    const std::string said = process.out() + process.err();
    throw std::runtime_error(
        std::string(name) + " has ended. It said:\n" +
        std::string(trimmed(said.size() <= shown ? said : said.substr(said.size() - shown))));
}

}  // namespace

RealAgent::RealAgent(const std::filesystem::path& environment, std::string webhooks)
    : plan_{.environment = environment,
            .folder = folder_.path(),
            .port = process::free_port(),
            .session_key = random_uuid(),
            .webhooks = std::move(webhooks)},
      llm_port_(process::free_port()),
      llm_(agent_server::llm_command(environment / "bin" / "python", folder_.path(), llm_port_)),
      server_(agent_server::server_command(plan_)),
      client_(std::make_shared<agent::AgentServer>(agent::parse_address(url()).value(),
                                                   Secret(plan_.session_key), deadlines)) {
    // Its escape codes would stand in the agent's observations.
    std::ofstream(plan_.folder / "home" / ".inputrc") << "set enable-bracketed-paste off\n";
}

RealAgent::~RealAgent() {
    try {
        // In good order it ends the agents' terminals, too.
        server_.stop(ends_within);
    } catch (const std::exception& fault) {
        log_warn("the agent server was killed", {{"why", fault.what()}});
    }
}

std::string RealAgent::url() const {
    return local_url(plan_.port);
}

void RealAgent::require_running() {
    demo::require_running(llm_, "the scripted LLM");
    demo::require_running(server_, "the agent server");
}

bool RealAgent::answers() const {
    return agent_server::answers(local_url(llm_port_) + "/v1/models") &&
           agent_server::answers(url() + "/health");
}

std::string RealAgent::version() const {
    return required(client_->features()).version;
}

std::string RealAgent::create(const std::string& script) const {
    const std::string info = required(agent::create_conversation(
        *client_, agent_server::conversation_request(
                      {script, local_url(llm_port_) + "/v1", work(), /*own_terminal=*/true})));
    const auto json = parse_json(info);
    if (!json.is_object() || !json.contains("id") || !json["id"].is_string())
        throw std::runtime_error("the agent server tells no id of the conversation: " + info);
    return json["id"].get<std::string>();
}

}  // namespace epilogue::demo
