#include "ops/agent_server/launch.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "base/io/http.h"

namespace epilogue::agent_server {
namespace {

using Json = nlohmann::json;

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace

std::filesystem::path usual_environment(const std::string& version) {
    if (const std::string folder = variable("EPILOGUE_AGENT_SERVERS"); !folder.empty())
        return std::filesystem::path(folder) / version;
    const std::string cache = variable("XDG_CACHE_HOME");
    const auto root =
        cache.empty() ? std::filesystem::path(variable("HOME")) / ".cache" : std::filesystem::path(cache);
    return root / "epilogue" / "agent-servers" / version;
}

std::filesystem::path program_in(const std::filesystem::path& environment) {
    return environment / "bin" / "agent-server";
}

process::Command server_command(const ServerPlan& plan) {
    const auto folder = [&plan](const char* name) { return (plan.folder / name).string(); };
    for (const auto& needed : {plan.work(), plan.folder / "home", plan.folder / "tmp", plan.tmux()})
        std::filesystem::create_directories(needed);
    process::Command command{
        .argv = {program_in(plan.environment), "--host", "127.0.0.1", "--port", std::to_string(plan.port)},
        .environment = {{"LITELLM_LOCAL_MODEL_COST_MAP", "True"},
                        {"OH_ENABLE_VSCODE", "0"},
                        {"OH_ENABLE_VNC", "0"},
                        {"OH_PRELOAD_TOOLS", "0"},
                        {"OTEL_SDK_DISABLED", "true"},
                        {"OPENHANDS_SUPPRESS_BANNER", "1"},
                        {"SESSION_API_KEY", plan.session_key},
                        {"OH_SECRET_KEY", "of no secret"},
                        {"OH_CONVERSATIONS_PATH", plan.conversations().string()},
                        {"OH_BASH_EVENTS_DIR", folder("bash")},
                        // Old agents' terminals miss their own prompt when the shell reads a long profile.
                        {"HOME", folder("home")},
                        {"TMPDIR", folder("tmp")},
                        {"TMUX_TMPDIR", plan.tmux().string()},
                        {"OH_WEBHOOKS", plan.webhooks.empty() ? std::nullopt : std::optional(plan.webhooks)},
                        {"TZ", plan.zone}},
        .folder = plan.folder};
    for (const auto& [name, value] : plan.more) command.environment[name] = value;
    return command;
}

process::Command llm_command(const std::filesystem::path& python, const std::filesystem::path& folder,
                             unsigned short port) {
    const auto program = folder / "scripted_llm.py";
    std::ofstream file(program);
    file << scripted_llm();
    if (!file.flush()) throw std::runtime_error("cannot write " + program.string());
    return {.argv = {python, program, std::to_string(port)}};
}

bool answers(const std::string& url) {
    HttpRequest request;
    request.url = url;
    request.timeout = std::chrono::seconds(2);
    return HttpClient().send(request).status == 200;
}

std::string conversation_request(const AgentPlan& plan) {
    const Json terminal = plan.own_terminal ? Json{{"terminal_type", "subprocess"}} : Json::object();
    const Json request{{"agent",
                        {{"kind", "Agent"},
                         {"llm",
                          {{"model", "openai/lab-" + plan.script},
                           {"api_key", "fake"},
                           {"base_url", plan.llm_url},
                           {"usage_id", "agent"},
                           {"num_retries", 0},
                           {"retry_min_wait", 1},
                           {"retry_max_wait", 1},
                           {"timeout", 600}}},
                         {"tools", Json::array({{{"name", "terminal"}, {"params", terminal}},
                                                {{"name", "file_editor"}, {"params", Json::object()}}})}}},
                       {"workspace", {{"kind", "LocalWorkspace"}, {"working_dir", plan.work.string()}}},
                       {"tool_module_qualnames",
                        {{"terminal", "openhands.tools.terminal.definition"},
                         {"file_editor", "openhands.tools.file_editor.definition"}}},
                       {"max_iterations", 100}};
    return request.dump();
}

}  // namespace epilogue::agent_server
