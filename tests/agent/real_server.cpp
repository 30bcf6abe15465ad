#include "tests/agent/real_server.h"

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include "agent/calls.h"
#include "base/io/http.h"
#include "base/process/ports.h"
#include "base/text.h"
#include "tests/support/eventually.h"
#include "tests/support/requirements.h"

namespace epilogue::testing {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

constexpr int skipped = 77;
constexpr auto install_patience = 15min;
const std::filesystem::path here = EPILOGUE_SOURCE_DIR "/tests/agent";

bool answers(const std::string& url) {
    HttpRequest request;
    request.url = url;
    request.timeout = 2s;
    return HttpClient().send(request).status == 200;
}

std::string local_url(unsigned short port, const std::string& path) {
    return "http://127.0.0.1:" + std::to_string(port) + path;
}

}  // namespace

std::filesystem::path real_server_environment(const std::string& version) {
    const Finished made = run({{here / "fetch-agent-server", version}}, install_patience);
    if (made.status == skipped) {
        std::cerr << made.err << std::endl;
        std::exit(skipped);
    }
    if (made.status != 0) throw std::runtime_error("no agent server " + version + ": " + made.err);
    return std::string(trimmed(made.out));
}

RealServer::RealServer(const std::string& version, const std::string& zone, std::string webhooks)
    : version_(version),
      webhooks_(std::move(webhooks)),
      environment_(real_server_environment(version)),
      port_(process::free_port()),
      llm_port_(process::free_port()) {
    require_programs({"tmux", "python3"});
    std::filesystem::create_directories(work());
    std::filesystem::create_directories(folder_.path() / "home");
    std::filesystem::create_directories(folder_.path() / "tmux");
    llm_ = std::make_unique<Process>(Command{{"python3", here / "fake_llm.py", std::to_string(llm_port_)}});
    eventually("the LLM", [&] { return answers(local_url(llm_port_, "/v1/models")); });
    start(zone);
}

/// Old servers make their tools' classes during the first conversation: requests meanwhile fail, and two
/// conversations that begin together break each other for good.
void RealServer::warm_up() const {
    const auto server = client();
    const auto info = agent::create_conversation(*server, request("finish"));
    if (!info) throw std::runtime_error("no first conversation: " + info.error().text);
    const agent::ConversationCalls first(server, Json::parse(*info).at("id").get<std::string>());
    if (const auto sent = first.send_message(task(), true); !sent)
        throw std::runtime_error("no first message: " + sent.error().text);
    eventually("the first conversation's end", 300s, [&] {
        const auto now = first.info();
        return now && Json::parse(*now).at("execution_status") == "finished";
    });
}

RealServer::~RealServer() {
    server_.reset();
    // The agents' terminals outlive the server.
    std::error_code ignored;
    for (const auto& socket :
         std::filesystem::recursive_directory_iterator(folder_.path() / "tmux", ignored)) {
        if (!socket.is_socket(ignored)) continue;
        try {
            static_cast<void>(run({{"tmux", "-S", socket.path(), "kill-server"}}, 10s));
        } catch (const std::exception& fault) {
            std::cerr << fault.what() << std::endl;
        }
    }
}

void RealServer::start(const std::string& zone) {
    const auto folder = [this](const char* name) { return (folder_.path() / name).string(); };
    server_ = std::make_unique<Process>(Command{
        {environment_ / "bin" / "agent-server", "--host", "127.0.0.1", "--port", std::to_string(port_)},
        {{"LITELLM_LOCAL_MODEL_COST_MAP", "True"},
         {"OH_ENABLE_VSCODE", "0"},
         {"OH_ENABLE_VNC", "0"},
         {"OH_PRELOAD_TOOLS", "0"},
         {"OTEL_SDK_DISABLED", "true"},
         {"OPENHANDS_SUPPRESS_BANNER", "1"},
         {"SESSION_API_KEY", "lab-key"},
         {"OH_SECRET_KEY", "lab-secret-key-for-tests"},
         {"OH_CONVERSATIONS_PATH", conversations().string()},
         {"OH_BASH_EVENTS_DIR", folder("bash")},
         // Old agents' terminals miss their own prompt when the shell reads a long profile.
         {"HOME", folder("home")},
         {"TMUX_TMPDIR", folder("tmux")},
         {"OH_WEBHOOKS", webhooks_.empty() ? std::nullopt : std::optional(webhooks_)},
         {"TZ", zone}},
        folder_.path()});
    eventually("agent server " + version_, 300s, [&] {
        if (!server_->running())
            throw std::runtime_error("the agent server has ended: " + server_->err() + server_->out());
        return answers(local_url(port_, "/health"));
    });
    warm_up();
}

void RealServer::move_to(const std::string& zone) {
    end(SIGTERM);
    start(zone);
}

void RealServer::end(int signal) {
    server_->signal(signal);
    if (!server_->wait(patience)) throw std::runtime_error("the agent server does not end");
}

std::shared_ptr<agent::AgentServer> RealServer::client(std::optional<unsigned short> port,
                                                       const std::string& key) const {
    return std::make_shared<agent::AgentServer>(
        agent::parse_address(local_url(port.value_or(port_), "")).value(), Secret(key));
}

std::string RealServer::llm_url() const {
    return local_url(llm_port_, "/v1");
}

std::size_t RealServer::llm_calls(const std::string& script) const {
    HttpRequest request;
    request.url = llm_url();
    const HttpAnswer answer = HttpClient().send(request);
    if (answer.status != 200) throw std::runtime_error("the LLM does not answer: " + answer.cause);
    return Json::parse(answer.body).at("steps").value("lab-" + script, std::size_t{0});
}

std::string RealServer::request(const std::string& script, const std::string& more) const {
    Json request{{"agent",
                  {{"kind", "Agent"},
                   {"llm",
                    {{"model", "openai/lab-" + script},
                     {"api_key", "fake"},
                     {"base_url", llm_url()},
                     {"usage_id", "agent"},
                     {"num_retries", 0},
                     {"retry_min_wait", 1},
                     {"retry_max_wait", 1},
                     {"timeout", 600}}},
                   {"tools", Json::array({{{"name", "terminal"}, {"params", Json::object()}},
                                          {{"name", "file_editor"}, {"params", Json::object()}}})}}},
                 {"workspace", {{"kind", "LocalWorkspace"}, {"working_dir", work().string()}}},
                 {"tool_module_qualnames",
                  {{"terminal", "openhands.tools.terminal.definition"},
                   {"file_editor", "openhands.tools.file_editor.definition"}}},
                 {"max_iterations", 100}};
    request.merge_patch(Json::parse(more));
    return request.dump();
}

std::string RealServer::task() const {
    return "Please do the lab task. workdir=" + work().string();
}

}  // namespace epilogue::testing
