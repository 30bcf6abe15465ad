#include "agent/relay/follow/request_pool.h"

#include <algorithm>
#include <utility>

#include "base/thread_name.h"

namespace epilogue::relay {

RequestPool::RequestPool(int threads, std::size_t per_server) : per_server_(per_server) {
    for (int i = 0; i < threads; ++i)
        threads_.push_back(named_thread("relay requests", [this](const auto& stop) { run(stop); }));
}

RequestPool::~RequestPool() {
    for (auto& thread : threads_) thread.request_stop();
    threads_.clear();
}

void RequestPool::add(const std::string& server, bool heavy, std::function<void()> ask) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({server, heavy, std::move(ask)});
    changed_.notify_one();
}

bool RequestPool::take(Request& request) {
    const auto found = std::find_if(waiting_.begin(), waiting_.end(), [this](const Request& each) {
        const auto server = under_way_.find(each.server);
        return server == under_way_.end() ||
               (server->second.all < per_server_ && !(each.heavy && server->second.heavy));
    });
    if (found == waiting_.end()) return false;
    request = std::move(*found);
    waiting_.erase(found);
    UnderWay& server = under_way_[request.server];
    ++server.all;
    server.heavy = server.heavy || request.heavy;
    return true;
}

void RequestPool::done(const Request& request) {
    const auto server = under_way_.find(request.server);
    if (request.heavy) server->second.heavy = false;
    if (--server->second.all == 0) under_way_.erase(server);
    changed_.notify_all();
}

void RequestPool::run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
        Request request;
        if (!changed_.wait(lock, stop, [&] { return take(request); })) return;
        lock.unlock();
        request.ask();
        request.ask = nullptr;
        lock.lock();
        done(request);
    }
}

}  // namespace epilogue::relay
