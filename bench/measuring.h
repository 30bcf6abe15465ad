// What measurements are made with: one session to the database, and a beat.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/io/mysql.h"
#include "bench/bench_servers.h"

namespace epilogue::bench {

using Clock = std::chrono::steady_clock;

/// One session for all questions of a measurement.
class Tables {
  public:
    Tables(const BenchServers& servers, const std::string& database) {
        auto opened = MysqlSession::open(servers.server().settings(database));
        if (!opened) throw std::runtime_error(opened.error().text);
        session_ = std::move(*opened);
    }

    std::vector<SqlRow> rows(const std::string& sql) {
        auto rows = session_->query(sql);
        if (!rows) throw std::runtime_error(rows.error().text);
        return std::move(*rows);
    }
    /// The one number that a query answers; NULL is 0.
    double number(const std::string& sql) { return std::stod(rows(sql).at(0).at(0).value_or("0")); }
    std::size_t count(const std::string& sql) { return static_cast<std::size_t>(number(sql)); }

  private:
    std::unique_ptr<MysqlSession> session_;
};

/// Wakes at regular times.
class Beat {
  public:
    explicit Beat(Clock::duration every) : every_(every) {}
    void wait() {
        std::unique_lock lock(mutex_);
        next_ += every_;
        never_.wait_until(lock, next_, [] { return false; });
    }

  private:
    const Clock::duration every_;
    Clock::time_point next_ = Clock::now();
    std::mutex mutex_;
    std::condition_variable never_;
};

}  // namespace epilogue::bench
