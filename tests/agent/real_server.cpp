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
constexpr const char* fetch = EPILOGUE_SOURCE_DIR "/ops/agent_server/fetch";

std::string local_url(unsigned short port, const std::string& path) {
    return "http://127.0.0.1:" + std::to_string(port) + path;
}

}  // namespace

std::string wanted_version(std::string_view otherwise) {
    const char* const wanted = std::getenv("EPILOGUE_AGENT_SERVER");
    return wanted == nullptr ? std::string(otherwise) : wanted;
}

std::filesystem::path real_server_environment(const std::string& version) {
    const Finished made = run({{fetch, version}}, install_patience);
    if (made.status == skipped) {
        std::cerr << made.err << std::endl;
        std::exit(skipped);
    }
    if (made.status != 0) throw std::runtime_error("no agent server " + version + ": " + made.err);
    return std::string(trimmed(made.out));
}

RealServer::RealServer(const std::string& version, const std::string& zone, std::string webhooks,
                       std::map<std::string, std::string> more)
    : version_(version),
      webhooks_(std::move(webhooks)),
      more_(std::move(more)),
      environment_(real_server_environment(version)),
      port_(process::free_port()),
      llm_port_(process::free_port()) {
    require_programs({"tmux", "python3"});
    llm_ = std::make_unique<Process>(agent_server::llm_command("python3", folder_.path(), llm_port_));
    eventually("the LLM", [&] { return agent_server::answers(local_url(llm_port_, "/v1/models")); });
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
    for (const auto& socket : std::filesystem::recursive_directory_iterator(plan("").tmux(), ignored)) {
        if (!socket.is_socket(ignored)) continue;
        try {
            static_cast<void>(run({{"tmux", "-S", socket.path(), "kill-server"}}, 10s));
        } catch (const std::exception& fault) {
            std::cerr << fault.what() << std::endl;
        }
    }
}

agent_server::ServerPlan RealServer::plan(const std::string& zone) const {
    return {environment_, folder_.path(), port_, "lab-key", webhooks_, zone, more_};
}

void RealServer::start(const std::string& zone) {
    server_ = std::make_unique<Process>(agent_server::server_command(plan(zone)));
    eventually("agent server " + version_, 300s, [&] {
        if (!server_->running())
            throw std::runtime_error("the agent server has ended: " + server_->err() + server_->out());
        return agent_server::answers(local_url(port_, "/health"));
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
    Json request = Json::parse(agent_server::conversation_request({script, llm_url(), work()}));
    request.merge_patch(Json::parse(more));
    return request.dump();
}

std::string RealServer::task() const {
    return "Please do the lab task. workdir=" + work().string();
}

}  // namespace epilogue::testing
