#include "tests/support/fault_proxy.h"

#include <algorithm>
#include <future>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace epilogue::testing {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t piece = 16384;

tcp::endpoint loopback(unsigned short port) {
    return {asio::ip::address_v4::loopback(), port};
}

/// One client and its connection to the server. Touched by the proxy's thread alone.
struct Pair {
    explicit Pair(tcp::socket accepted) : client(std::move(accepted)), server(client.get_executor()) {}

    tcp::socket client;
    tcp::socket server;
    MysqlRequests requests;
    std::optional<ProxyFault> lose_answer;  ///< of the request under way
    bool is_half_open = false;
};

using SharedPair = std::shared_ptr<Pair>;

void close(tcp::socket& socket, bool reset) {
    error_code ignored;
    if (reset) socket.set_option(asio::socket_base::linger(true, 0), ignored);
    socket.close(ignored);
}

}  // namespace

/// The proxy's thread and everything it works with.
class FaultProxy::Relay {
  public:
    Relay(unsigned short target, Wire wire, KillSession kill_session)
        : target_(loopback(target)),
          wire_(wire),
          kill_session_(std::move(kill_session)),
          acceptor_(io_, loopback(0)),
          port_(acceptor_.local_endpoint().port()),
          changed_(io_, std::chrono::steady_clock::time_point::max()) {
        asio::co_spawn(io_, accept(), asio::detached);
        thread_ = std::thread([this] { io_.run(); });
    }

    ~Relay() {
        io_.stop();
        thread_.join();
    }

    Relay(const Relay&) = delete;
    Relay& operator=(const Relay&) = delete;

    unsigned short port() const { return port_; }

    void plan(const ProxyFault& fault) {
        if (fault.action == ProxyAction::kill_session && !kill_session_)
            throw std::runtime_error("this proxy was not told how to kill a session");
        const std::scoped_lock lock(mutex_);
        plans_.push_back(fault);
    }

    void forget_plans() {
        const std::scoped_lock lock(mutex_);
        plans_.clear();
    }

    void release() {
        const std::scoped_lock lock(mutex_);
        ++released_;
        wake();
    }

    void set(const Network& network) {
        const std::scoped_lock lock(mutex_);
        network_ = network;
        wake();
    }

    std::size_t cut_all(bool reset) {
        std::promise<std::size_t> done;
        asio::post(io_, [&] {
            const auto open = pairs_;
            for (const auto& pair : open) cut(pair, reset);
            done.set_value(open.size());
        });
        return done.get_future().get();
    }

    void half_open_all() {
        std::promise<void> done;
        asio::post(io_, [&] {
            for (const auto& pair : pairs_) pair->is_half_open = true;
            done.set_value();
        });
        done.get_future().get();
    }

    ProxyCounts counts() const {
        const std::scoped_lock lock(mutex_);
        return counts_;
    }

  private:
    template <class Number>
    void count(Number ProxyCounts::*what, std::size_t more = 1) {
        const std::scoped_lock lock(mutex_);
        counts_.*what += more;
    }

    Network network() const {
        const std::scoped_lock lock(mutex_);
        return network_;
    }

    std::size_t released() const {
        const std::scoped_lock lock(mutex_);
        return released_;
    }

    /// What waits for a change checks again.
    void wake() {
        asio::post(io_, [this] { changed_.cancel(); });
    }

    asio::awaitable<void> a_change() {
        error_code ignored;
        co_await changed_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }

    std::optional<ProxyFault> fault_at(const WireRequest& request) {
        const std::scoped_lock lock(mutex_);
        for (auto plan = plans_.begin(); plan != plans_.end(); ++plan) {
            if (plan->at != Request::any && plan->at != request.kind) continue;
            if (request.text.find(plan->containing) == std::string::npos) continue;
            if (plan->after > 0) {
                --plan->after;
                continue;
            }
            const ProxyFault fault = *plan;
            if (--plan->times == 0) plans_.erase(plan);
            return fault;
        }
        return std::nullopt;
    }

    void end(const SharedPair& pair, bool reset) {
        close(pair->client, reset);
        close(pair->server, reset);
        pairs_.erase(pair);
        changed_.cancel();
    }

    void cut(const SharedPair& pair, bool reset) {
        count(&ProxyCounts::cut);
        end(pair, reset);
    }

    asio::awaitable<void> accept() {
        for (;;) {
            auto pair = std::make_shared<Pair>(co_await acceptor_.async_accept(asio::use_awaitable));
            count(&ProxyCounts::connections);
            asio::co_spawn(io_, connect(std::move(pair)), asio::detached);
        }
    }

    asio::awaitable<void> connect(SharedPair pair) {
        pairs_.insert(pair);
        while (network().stalls && pair->client.is_open()) co_await a_change();
        error_code failed;
        if (network().refuses)
            failed = asio::error::connection_refused;
        else
            co_await pair->server.async_connect(target_, asio::redirect_error(asio::use_awaitable, failed));
        if (failed || !pair->client.is_open()) {
            count(&ProxyCounts::refused);
            end(pair, true);
            co_return;
        }
        const tcp::no_delay at_once(true);
        error_code ignored;
        pair->client.set_option(at_once, ignored);
        pair->server.set_option(at_once, ignored);
        asio::co_spawn(io_, to_server(pair), asio::detached);
        asio::co_spawn(io_, to_client(pair), asio::detached);
    }

    asio::awaitable<void> to_server(SharedPair pair) {
        std::vector<char> buffer(piece);
        for (;;) {
            error_code failed;
            const std::size_t size = co_await pair->client.async_read_some(
                asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, failed));
            if (failed) break;
            const std::string bytes(buffer.data(), size);
            std::vector<WireRequest> requests;
            if (wire_ == Wire::mysql)
                requests = pair->requests.from_client(bytes);
            else
                requests.push_back({bytes, Request::other, bytes});
            for (const WireRequest& request : requests)
                if (!co_await pass(pair, request)) co_return;
        }
        error_code ignored;  // the client says no more; what the server still says is passed on
        pair->server.shutdown(tcp::socket::shutdown_send, ignored);
    }

    asio::awaitable<void> to_client(SharedPair pair) {
        std::vector<char> buffer(piece);
        for (;;) {
            error_code failed;
            const std::size_t size = co_await pair->server.async_read_some(
                asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, failed));
            if (failed || !pair->client.is_open()) break;
            if (pair->lose_answer) {
                count(&ProxyCounts::lost_answers);
                cut(pair, pair->lose_answer->reset);
                co_return;
            }
            const std::string bytes(buffer.data(), size);
            if (wire_ == Wire::mysql) pair->requests.from_server(bytes);
            if (!co_await send(pair, pair->client, bytes)) break;
            count(&ProxyCounts::bytes_to_client, size);
        }
        end(pair, false);
    }

    /// False when the connection is at its end.
    asio::awaitable<bool> pass(SharedPair pair, const WireRequest& request) {
        const auto fault = fault_at(request);
        if (!fault) co_return co_await forward(pair, request);
        switch (fault->action) {
            case ProxyAction::lose_request:
                count(&ProxyCounts::lost_requests);
                cut(pair, fault->reset);
                co_return false;
            case ProxyAction::cut_behind:
                co_await forward(pair, request);
                count(&ProxyCounts::cut_behind);
                cut(pair, fault->reset);
                co_return false;
            case ProxyAction::lose_answer:
                pair->lose_answer = fault;
                co_return co_await forward(pair, request);
            case ProxyAction::kill_session:
                if (kill(pair->requests.session())) count(&ProxyCounts::killed_sessions);
                co_return co_await forward(pair, request);
            case ProxyAction::hold:
                co_await hold(pair, begin_hold());
                co_return co_await forward(pair, request);
            case ProxyAction::deliver_late:
                co_await deliver_late(pair, request, *fault);
                co_return false;
        }
        co_return false;
    }

    bool kill(std::int64_t session) const {
        try {
            kill_session_(session);
            return true;
        } catch (const std::exception&) {
            return false;  // it was gone already
        }
    }

    /// Counts a request that is held from now on; returns what hold() waits for the next of.
    std::size_t begin_hold() {
        const std::scoped_lock lock(mutex_);
        ++counts_.held;
        ++counts_.held_now;
        return released_;
    }

    /// Until the release() after `before`, or until the connection to the server is at its end.
    asio::awaitable<void> hold(SharedPair pair, std::size_t before) {
        while (released() == before && pair->server.is_open()) co_await a_change();
        const std::scoped_lock lock(mutex_);
        --counts_.held_now;
    }

    asio::awaitable<void> deliver_late(SharedPair pair, const WireRequest& request, ProxyFault fault) {
        count(&ProxyCounts::cut);
        // Before the client sees that it is cut: the test may call release() as soon as it does.
        const std::size_t before = begin_hold();
        close(pair->client, fault.reset);
        co_await hold(pair, before);
        const bool delivered = co_await forward(pair, request);
        count(delivered ? &ProxyCounts::late : &ProxyCounts::late_lost);
    }

    asio::awaitable<bool> forward(SharedPair pair, const WireRequest& request) {
        const bool sent = co_await send(pair, pair->server, request.bytes);
        if (sent) count(&ProxyCounts::bytes_to_server, request.bytes.size());
        co_return sent;
    }

    /// Writes to a side of the pair as the network is; false when the other end is gone.
    asio::awaitable<bool> send(SharedPair pair, tcp::socket& to, const std::string& bytes) {
        asio::steady_timer timer(io_);
        error_code failed;
        for (std::size_t sent = 0; sent < bytes.size() && !failed;) {
            while ((network().stalls || pair->is_half_open) && to.is_open()) co_await a_change();
            const Network now = network();
            const std::size_t most = now.slice == 0 ? bytes.size() : now.slice;
            const std::size_t size = std::min(most, bytes.size() - sent);
            auto pause = std::chrono::duration_cast<std::chrono::microseconds>(now.delay);
            if (now.bytes_per_second != 0)
                pause += std::chrono::microseconds(std::micro::den * size / now.bytes_per_second);
            if (pause.count() > 0) {
                timer.expires_after(pause);
                co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, failed));
            }
            if (!to.is_open()) co_return false;
            co_await asio::async_write(to, asio::buffer(bytes.data() + sent, size),
                                       asio::redirect_error(asio::use_awaitable, failed));
            sent += size;
        }
        co_return !failed;
    }

    const tcp::endpoint target_;
    const Wire wire_;
    const KillSession kill_session_;
    asio::io_context io_{1};
    tcp::acceptor acceptor_;
    const unsigned short port_;
    asio::steady_timer changed_;  ///< never expires; cancelled to wake those that wait for a change
    std::set<SharedPair> pairs_;  ///< of the proxy's thread alone

    mutable std::mutex mutex_;  ///< guards what follows
    std::list<ProxyFault> plans_;
    Network network_;
    std::size_t released_ = 0;
    ProxyCounts counts_;

    std::thread thread_;  ///< last: uses all of the above
};

FaultProxy::FaultProxy(unsigned short target, Wire wire, KillSession kill_session)
    : relay_(std::make_unique<Relay>(target, wire, std::move(kill_session))) {}

FaultProxy::~FaultProxy() = default;

unsigned short FaultProxy::port() const {
    return relay_->port();
}

void FaultProxy::plan(const ProxyFault& fault) {
    relay_->plan(fault);
}

void FaultProxy::forget_plans() {
    relay_->forget_plans();
}

void FaultProxy::release() {
    relay_->release();
}

void FaultProxy::set(const Network& network) {
    relay_->set(network);
}

void FaultProxy::half_open_all() {
    relay_->half_open_all();
}

std::size_t FaultProxy::cut_all(bool reset) {
    return relay_->cut_all(reset);
}

ProxyCounts FaultProxy::counts() const {
    return relay_->counts();
}

}  // namespace epilogue::testing
