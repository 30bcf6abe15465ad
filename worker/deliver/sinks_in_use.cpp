#include "worker/deliver/sinks_in_use.h"

#include <utility>

namespace epilogue {

std::shared_ptr<Sink> SinksInUse::find(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = sinks_.find(name);
    return found == sinks_.end() ? nullptr : found->second;
}

void SinksInUse::replace(std::map<std::string, std::unique_ptr<Sink>> sinks) {
    std::vector<std::shared_ptr<Sink>> gone;  // they end outside the lock
    const std::lock_guard lock(mutex_);
    for (auto& [name, sink] : sinks) gone.push_back(std::exchange(sinks_[name], std::move(sink)));
}

std::vector<std::string> SinksInUse::names() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, sink] : sinks_) names.push_back(name);
    return names;
}

}  // namespace epilogue
