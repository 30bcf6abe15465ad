#include "worker/probe.h"

#include <thread>

#include <httplib.h>

#include "base/version.h"

namespace epilogue {

struct Probe::Server {
    httplib::Server http;
    ProbeSources sources;
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
    }
};

Probe::Probe(std::unique_ptr<Server> server) : server_(std::move(server)) {}

Result<std::unique_ptr<Probe>> Probe::listen(const std::string& host, int port, ProbeSources sources) {
    auto server = std::make_unique<Server>();
    server->sources = std::move(sources);
    // SO_REUSEPORT, the library's default, would let two workers share an address without noticing.
    server->http.set_socket_options([](int socket) {
        const int yes = 1;
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    constexpr int threads = 4;
    server->http.new_task_queue = [] { return new httplib::ThreadPool(threads); };
    constexpr int seconds = 5;
    server->http.set_read_timeout(seconds);
    server->http.set_write_timeout(seconds);
    server->http.set_keep_alive_max_count(1);  // an idle scraper must not hold one of the few threads
    server->route();
    server->port = port == 0                               ? server->http.bind_to_any_port(host)
                   : server->http.bind_to_port(host, port) ? port
                                                           : -1;
    if (server->port < 0)
        return fatal("[worker] http_listen: " + host + ":" + std::to_string(port) +
                     " cannot be listened on: is it in use?");
    server->thread = std::jthread([raw = server.get()] { raw->http.listen_after_bind(); });
    while (!server->http.is_running()) std::this_thread::yield();  // stop() before that would be lost
    return std::unique_ptr<Probe>(new Probe(std::move(server)));
}

Probe::~Probe() {
    server_->http.stop();
}

int Probe::port() const {
    return server_->port;
}

}  // namespace epilogue
