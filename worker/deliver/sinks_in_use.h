// The sinks that deliveries are made with, by name. They can be replaced while senders use them, by sinks
// with other settings (a new token, say): a delivery that has begun goes on with the sink it began with.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sinks/port/sink.h"

namespace epilogue {

/// Thread-safe.
class SinksInUse {
  public:
    SinksInUse() = default;
    explicit SinksInUse(std::map<std::string, std::unique_ptr<Sink>> sinks) { replace(std::move(sinks)); }
    SinksInUse(const SinksInUse&) = delete;
    SinksInUse& operator=(const SinksInUse&) = delete;

    /// To be kept for as long as a dialogue of it goes on; null when there is none of that name.
    std::shared_ptr<Sink> find(const std::string& name) const;
    /// From now on these; those of other names stay.
    void replace(std::map<std::string, std::unique_ptr<Sink>> sinks);
    std::vector<std::string> names() const;

  private:
    mutable std::mutex mutex_;
    std::map<std::string, std::shared_ptr<Sink>> sinks_;
};

}  // namespace epilogue
