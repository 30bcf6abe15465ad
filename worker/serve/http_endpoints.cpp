#include "worker/serve/http_endpoints.h"

#include <optional>
#include <thread>

#include <httplib.h>

#include "base/thread_name.h"
#include "base/version.h"
#include "worker/serve/callback_api.h"
#include "worker/serve/connection_gate.h"
#include "worker/serve/heard_stream.h"
#include "worker/serve/openapi_text.h"

namespace epilogue {
namespace {

constexpr std::chrono::seconds body_within{10};
/// How long a client may be silent while it sends or takes bytes.
constexpr std::chrono::seconds patience{5};
constexpr std::chrono::seconds patience_with_probes{2};

/// Hands each connection on at once: the gate has the threads.
class AtOnce final : public httplib::TaskQueue {
  public:
    void enqueue(std::function<void()> task) override { task(); }
    void shutdown() override {}
};

/// The library's server, behind the gate.
class GatedServer final : public httplib::Server {
  public:
    /// Opens the gate; before it listens.
    void open(const GateRules& rules) {
        new_task_queue = [] { return new AtOnce; };
        gate_.emplace(rules, [this](const HeardClient& client) {
            HeardStream stream(client, client.kind == RequestKind::health ? patience_with_probes : patience);
            bool is_closed = false;
            process_request(stream, true, is_closed, nullptr);
        });
    }
    /// Ends what open() began; when it does not listen any more.
    void close() { gate_.reset(); }

  private:
    bool process_and_close_socket(socket_t socket) override {
        gate_->add(socket);
        return true;
    }

    std::optional<ConnectionGate> gate_;
};

ApiRequest api_request(const httplib::Request& request) {
    ApiRequest api;
    api.method = request.method;
    api.path = request.path;
    api.parameters = request.params;
    api.api_key = request.get_header_value("X-Session-API-Key");
    api.content_type = request.get_header_value("Content-Type");
    if (request.has_header("Idempotency-Key"))
        api.idempotency_key = request.get_header_value("Idempotency-Key");
    return api;
}

void give(const ApiAnswer& answer, httplib::Response& response) {
    response.status = answer.status;
    for (const auto& [name, value] : answer.headers) response.set_header(name, value);
    response.set_content(answer.body, "application/json");
}

enum class BodyRead { whole, too_large, too_slow };

/// Reads the body, chunked or not, unpacked or not: never more of it than the API takes.
BodyRead read_body(const httplib::ContentReader& reader, std::string& body) {
    const auto deadline = std::chrono::steady_clock::now() + body_within;
    BodyRead so_far = BodyRead::whole;
    reader([&](const char* bytes, std::size_t size) {
        if (body.size() + size > CallbackApi::max_body_bytes)
            so_far = BodyRead::too_large;
        else if (std::chrono::steady_clock::now() > deadline)
            so_far = BodyRead::too_slow;
        else
            body.append(bytes, size);
        return so_far == BodyRead::whole;
    });
    return so_far;
}

}  // namespace

struct HttpEndpoints::Server {
    GatedServer http;
    EndpointSources sources;
    int port = 0;
    std::jthread thread;

    void route() {
        constexpr const char* text = "text/plain; charset=utf-8";
        http.Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
            response.set_content(sources.metrics(), "text/plain; version=0.0.4; charset=utf-8");
        });
        const auto health = [this](const httplib::Request&, httplib::Response& response) {
            const bool turning = sources.turning();
            response.status = turning ? 200 : 503;
            response.set_content(turning ? "ok\n" : "the loop does not turn\n", text);
        };
        const auto ready = [this](const httplib::Request&, httplib::Response& response) {
            const std::string missing = sources.missing();
            response.status = missing.empty() ? 200 : 503;
            response.set_content(missing.empty() ? "ready\n" + sources.history() : missing, text);
        };
        for (const char* path : {"/healthz", "/health", "/alive"}) http.Get(path, health);
        for (const char* path : {"/readyz", "/ready"}) http.Get(path, ready);
        http.Get("/server_info", [](const httplib::Request&, httplib::Response& response) {
            response.set_content(std::string(R"({"name":"epilogue","version":")") + version + "\"}\n",
                                 "application/json");
        });
        http.Get("/openapi.json", [](const httplib::Request&, httplib::Response& response) {
            response.set_content(openapi_document.data(), openapi_document.size(), "application/json");
        });
        if (sources.api != nullptr) route_api();
    }

    /// Only a POST to the API has a body that is read; every other request is answered before its body, so
    /// that no client fills the memory with one.
    void route_api() {
        http.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
            using Handler = httplib::Server::HandlerResponse;
            const bool reads = request.method == "GET" || request.method == "HEAD";
            if (!request.path.starts_with(CallbackApi::prefix)) {
                if (reads) return Handler::Unhandled;
                response.status = 405;
                response.set_header("Allow", "GET, HEAD");
                return Handler::Handled;
            }
            if (request.method == "POST") return Handler::Unhandled;
            const ApiRequest asked = api_request(request);
            const auto refused = sources.api->refusal(asked);
            give(refused ? *refused : sources.api->answer(asked), response);
            return Handler::Handled;
        });
        http.Post("/api/.*", [this](const httplib::Request& request, httplib::Response& response,
                                    const httplib::ContentReader& reader) {
            ApiRequest asked = api_request(request);
            const auto refused = sources.api->refusal(asked);
            // Also the body of a refused request: else the connection is reset before the client has read
            // why.
            const BodyRead body = read_body(reader, asked.body);
            if (refused)
                give(*refused, response);
            else if (body == BodyRead::too_large)
                give(api_error(413, "the body: expected at most " +
                                        std::to_string(CallbackApi::max_body_bytes) + " bytes"),
                     response);
            else if (body == BodyRead::too_slow)
                give(api_error(408, "the body did not come in time"), response);
            else
                give(sources.api->answer(asked), response);
        });
    }
};

HttpEndpoints::HttpEndpoints(std::unique_ptr<Server> server) : server_(std::move(server)) {}

Result<std::unique_ptr<HttpEndpoints>> HttpEndpoints::listen(const std::string& host, int port,
                                                             EndpointSources sources) {
    auto server = std::make_unique<Server>();
    server->sources = std::move(sources);
    // SO_REUSEPORT, the library's default, would let two workers share an address without noticing.
    server->http.set_socket_options([](int socket) {
        const int yes = 1;
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    GateRules rules;
    const bool serves_api = server->sources.api != nullptr && server->sources.api->is_on();
    constexpr int to_refuse = 4;  // who comes when as many are under way as may be is told so
    if (serves_api) rules.api_threads = CallbackApi::max_at_once + to_refuse;
    server->http.open(rules);
    server->route();
    server->port = port == 0                               ? server->http.bind_to_any_port(host)
                   : server->http.bind_to_port(host, port) ? port
                                                           : -1;
    if (server->port < 0)
        return fatal("[worker] http_listen: " + host + ":" + std::to_string(port) +
                     " cannot be listened on: is it in use?");
    server->thread =
        named_thread("probe", [raw = server.get()](const auto&) { raw->http.listen_after_bind(); });
    while (!server->http.is_running()) std::this_thread::yield();  // stop() before that would be lost
    return std::unique_ptr<HttpEndpoints>(new HttpEndpoints(std::move(server)));
}

HttpEndpoints::~HttpEndpoints() {
    server_->http.stop();
    server_->thread.join();
    server_->http.close();
}

int HttpEndpoints::port() const {
    return server_->port;
}

}  // namespace epilogue
