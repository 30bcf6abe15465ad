// The few threads on which servers are asked, so that none of them is asked for too much at once.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace epilogue::relay {

/// Thread-safe.
class RequestPool {
  public:
    /// At most `per_server` requests of one server are under way, and of these one `heavy` one.
    RequestPool(int threads, std::size_t per_server);
    /// Forgets what was not begun, and waits for what was.
    ~RequestPool();
    RequestPool(const RequestPool&) = delete;
    RequestPool& operator=(const RequestPool&) = delete;

    /// Calls `ask` on one of the threads, when it is that server's turn. `heavy`: it has a server read a log
    /// from its one end.
    void add(const std::string& server, bool heavy, std::function<void()> ask);

  private:
    struct Request {
        std::string server;
        bool heavy = false;
        std::function<void()> ask;
    };
    struct UnderWay {
        std::size_t all = 0;
        bool heavy = false;
    };

    void run(const std::stop_token& stop);
    bool take(Request& request);
    void done(const Request& request);

    const std::size_t per_server_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<Request> waiting_;
    std::map<std::string, UnderWay> under_way_;
    std::vector<std::jthread> threads_;
};

}  // namespace epilogue::relay
