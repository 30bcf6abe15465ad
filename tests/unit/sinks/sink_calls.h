// A sink called as if it did its I/O itself: each dialogue is held with a transport, and waited for.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sinks/port/sink.h"
#include "sinks/port/transport.h"

namespace epilogue::sink_test {

class SinkCalls {
  public:
    SinkCalls(std::shared_ptr<Sink> sink, Transport transport, std::chrono::milliseconds timeout)
        : sink_(std::move(sink)), transport_(std::move(transport)), timeout_(timeout) {}
    /// `sink` outlives the calls.
    SinkCalls(Sink& sink, Transport transport, std::chrono::milliseconds timeout)
        : SinkCalls(std::shared_ptr<Sink>(std::shared_ptr<Sink>(), &sink), std::move(transport), timeout) {}

    std::string render(const Summary& summary, const DeliveryId& delivery_id) const {
        return sink_->render(summary, delivery_id);
    }
    LookupResult find(const Post& post) const { return run(sink_->find(post), transport_, timeout_); }
    Attempt create(const Post& post) const { return run(sink_->create(post), transport_, timeout_); }
    bool remove(const Post& post, const Receipt& duplicate) const {
        return run(sink_->remove(post, duplicate), transport_, timeout_);
    }
    std::vector<TokenStatus> check_tokens() const {
        std::vector<TokenStatus> reports;
        for (auto& check : sink_->check_tokens())
            reports.push_back(run(std::move(check), transport_, timeout_));
        return reports;
    }
    Quota quota(const Target& target) const { return sink_->quota(target); }
    DuplicateCheck duplicate_check() const { return sink_->duplicate_check(); }

  private:
    std::shared_ptr<Sink> sink_;
    Transport transport_;
    std::chrono::milliseconds timeout_;
};

}  // namespace epilogue::sink_test
