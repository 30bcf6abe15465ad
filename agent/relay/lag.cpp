#include "agent/relay/lag.h"

#include <algorithm>

namespace epilogue::relay {

void Lag::note(std::int64_t in_server, std::int64_t in_topic, Time now) {
    if (in_topic < in_topic_) known_.clear();  // another log
    in_topic_ = in_topic;
    while (!known_.empty() && known_.front().count <= in_topic) known_.pop_front();
    // A server that was asked again may have fewer.
    while (!known_.empty() && known_.back().count > in_server) {
        if (known_.size() == 1 || known_[known_.size() - 2].count >= in_server)
            known_.pop_back();
        else
            known_.back().count = in_server;
    }
    if (in_server <= std::max(in_topic, known_.empty() ? 0 : known_.back().count)) return;
    if (known_.size() == most)
        known_.back().count = in_server;  // as if they were known as long as those before them
    else
        known_.push_back({in_server, now});
}

std::optional<Lag::Time> Lag::since() const {
    if (known_.empty()) return std::nullopt;
    return known_.front().since;
}

std::chrono::milliseconds Lag::at(Time now) const {
    return std::chrono::floor<std::chrono::milliseconds>(now - since().value_or(now));
}

}  // namespace epilogue::relay
