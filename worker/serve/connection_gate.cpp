#include "worker/serve/connection_gate.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <httplib.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/thread_name.h"
#include "worker/serve/callback_api.h"

namespace epilogue {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array<std::string_view, 5> health_paths{"/healthz", "/health", "/alive", "/readyz", "/ready"};

struct Client {
    int socket = -1;
    Clock::time_point until;
    std::string heard;
};

enum class Hearing { goes_on, is_over, has_left };

bool has_head(std::string_view heard) {
    return heard.find("\r\n\r\n") != std::string_view::npos || heard.find("\n\n") != std::string_view::npos;
}

/// Reads what has come.
Hearing hear(Client& client, std::size_t longest) {
    std::array<char, 4096> bytes{};
    while (client.heard.size() < longest) {
        const ssize_t size = ::recv(client.socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) return Hearing::has_left;
        if (size < 0 && errno == EAGAIN) return Hearing::goes_on;
        if (size > 0) client.heard.append(bytes.data(), static_cast<std::size_t>(size));
        if (has_head(client.heard)) break;
    }
    return Hearing::is_over;
}

}  // namespace

RequestKind request_kind(std::string_view head) {
    const auto blank = head.find(' ');
    if (blank == std::string_view::npos) return RequestKind::other;
    std::string_view path = head.substr(blank + 1);
    path = path.substr(0, path.find_first_of(" ?\r\n"));
    if (path.starts_with(CallbackApi::prefix)) return RequestKind::api;
    return std::ranges::find(health_paths, path) != health_paths.end() ? RequestKind::health
                                                                       : RequestKind::other;
}

struct ConnectionGate::Clients {
    Clients(GateRules its_rules, std::function<void(const HeardClient&)> its_serve)
        : rules(its_rules), serve(std::move(its_serve)), bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
    ~Clients() { ::close(bell); }

    void ring() const {
        const std::uint64_t one = 1;
        static_cast<void>(::write(bell, &one, sizeof one) == sizeof one);
    }

    void run(const std::stop_token& stop) {
        // Made here, so that their threads have the name of this one.
        const std::unique_ptr<httplib::ThreadPool> pools[] = {
            pool(rules.health_threads), pool(rules.api_threads), pool(rules.other_threads)};
        while (!stop.stop_requested()) {
            take_new();
            wait();
            for (Client& client : unheard) {
                const Hearing hearing = hear(client, rules.longest_head);
                if (hearing == Hearing::is_over) hand_over(pools, client);
                if (hearing == Hearing::has_left || Clock::now() >= client.until) close_unheard(client);
            }
            std::erase_if(unheard, [](const Client& client) { return client.socket < 0; });
        }
        take_new();
        for (Client& client : unheard) close_unheard(client);
        for (const auto& threads : pools) threads->shutdown();
    }

    static std::unique_ptr<httplib::ThreadPool> pool(int threads) {
        return std::make_unique<httplib::ThreadPool>(static_cast<std::size_t>(threads));
    }

    /// Where there are too many the oldest makes room: it has had the longest time.
    void take_new() {
        const std::lock_guard lock(mutex);
        for (const int socket : arrived) {
            if (!unheard.empty() && unheard.size() + served >= rules.clients) {
                close_unheard(unheard.front());
                unheard.pop_front();
            }
            unheard.push_back({socket, Clock::now() + rules.head_within, {}});
        }
        arrived.clear();
    }

    void wait() {
        std::vector<pollfd> asked{{bell, POLLIN, 0}};
        auto until = Clock::now() + std::chrono::seconds{1};
        for (const Client& client : unheard) {
            asked.push_back({client.socket, POLLIN, 0});
            until = std::min(until, client.until);
        }
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
        ::poll(asked.data(), asked.size(), static_cast<int>(std::max<std::int64_t>(0, left)));
        std::uint64_t rung = 0;
        static_cast<void>(::read(bell, &rung, sizeof rung) == sizeof rung);
    }

    static void close_unheard(Client& client) {
        if (client.socket < 0) return;
        ::close(client.socket);
        client.socket = -1;
    }

    template <class Pools>
    void hand_over(const Pools& pools, Client& client) {
        const auto heard = std::make_shared<HeardClient>(
            HeardClient{std::exchange(client.socket, -1), std::move(client.heard), RequestKind::other});
        heard->kind = request_kind(heard->heard);
        ++served;
        pools[static_cast<std::size_t>(heard->kind)]->enqueue([this, heard] {
            serve(*heard);
            ::shutdown(heard->socket, SHUT_RDWR);
            ::close(heard->socket);
            --served;
        });
    }

    const GateRules rules;
    const std::function<void(const HeardClient&)> serve;
    const int bell;  ///< wakes the thread
    std::mutex mutex;
    std::vector<int> arrived;
    std::deque<Client> unheard;  ///< the gate's thread's, oldest first
    std::atomic<std::size_t> served = 0;
    std::jthread thread;
};

ConnectionGate::ConnectionGate(GateRules rules, std::function<void(const HeardClient&)> serve)
    : clients_(std::make_unique<Clients>(rules, std::move(serve))) {
    clients_->thread =
        named_thread("probe", [clients = clients_.get()](const auto& stop) { clients->run(stop); });
}

ConnectionGate::~ConnectionGate() {
    clients_->thread.request_stop();
    clients_->ring();
    clients_->thread.join();
}

void ConnectionGate::add(int socket) {
    ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
    {
        const std::lock_guard lock(clients_->mutex);
        clients_->arrived.push_back(socket);
    }
    clients_->ring();
}

}  // namespace epilogue
