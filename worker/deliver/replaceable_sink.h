// A sink that can be replaced while senders use it, by one with other settings (a new token, say). A post
// that has begun goes on with the sink it began with.
#pragma once

#include <memory>
#include <mutex>

#include "worker/deliver/sender_rules.h"

namespace epilogue {

class ReplaceableSink final : public Sink {
  public:
    explicit ReplaceableSink(std::unique_ptr<Sink> first) : current_(std::move(first)) {}

    /// The sink in use: to be kept for the whole of one post.
    std::shared_ptr<Sink> current() const {
        const std::lock_guard lock(mutex_);
        return current_;
    }
    void replace(std::unique_ptr<Sink> next) {
        const std::shared_ptr<Sink> gone = current();  // ended outside the lock
        const std::lock_guard lock(mutex_);
        current_ = std::move(next);
    }

    std::string render(const Summary& summary, const DeliveryId& delivery_id) const override {
        return current()->render(summary, delivery_id);
    }
    LookupResult find(const Post& post) override { return current()->find(post); }
    Attempt create(const Post& post) override { return current()->create(post); }
    bool remove(const Post& post, const Receipt& duplicate) override {
        return current()->remove(post, duplicate);
    }
    Quota quota(const Target& target) const override { return current()->quota(target); }
    std::vector<TokenStatus> check_tokens() override { return current()->check_tokens(); }
    DuplicateCheck duplicate_check() const override { return current()->duplicate_check(); }

  private:
    mutable std::mutex mutex_;
    std::shared_ptr<Sink> current_;
};

/// The same sinks, each replaceable.
Sinks replaceable(Sinks sinks);

/// Puts the sinks of `next` into the places of those that `sinks`, made by replaceable(), have of the same
/// name.
void replace_all(const Sinks& sinks, Sinks next);

/// The sink in use behind `sink`, kept alive by the pointer; one that cannot be replaced is used itself, and
/// its owner keeps it alive.
std::shared_ptr<Sink> current_of(Sink& sink);

}  // namespace epilogue
