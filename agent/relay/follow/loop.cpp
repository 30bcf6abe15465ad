#include "agent/relay/follow/loop.h"

#include <boost/asio/post.hpp>

#include "agent/relay/follow/followed.h"
#include "base/thread_name.h"

namespace epilogue::relay {

Loop::Loop(std::shared_ptr<FollowShared> shared)
    : shared_(std::move(shared)),
      thread_(named_thread("relay follower", [this](const std::stop_token&) { context_.run(); })) {}

Loop::~Loop() {
    stop();
}

void Loop::stop() {
    work_.reset();
    if (thread_.joinable() && thread_.get_id() != std::this_thread::get_id()) thread_.join();
}

void Loop::wait_for_room(const std::shared_ptr<Followed>& who) {
    waiting_.push_back(who);
    if (waiting_.size() > 1) return;
    shared_->topic.when_room([self = weak_from_this()] {
        if (const auto loop = self.lock())
            boost::asio::post(loop->context_, [self] {
                if (const auto there = self.lock()) there->has_room();
            });
    });
}

void Loop::has_room() {
    for (const auto& each : std::exchange(waiting_, {}))
        if (const auto who = each.lock()) who->go_on();
}

}  // namespace epilogue::relay
