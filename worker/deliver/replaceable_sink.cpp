#include "worker/deliver/replaceable_sink.h"

#include <utility>

namespace epilogue {

Sinks replaceable(Sinks sinks) {
    for (auto& [name, sink] : sinks) sink = std::make_unique<ReplaceableSink>(std::move(sink));
    return sinks;
}

void replace_all(const Sinks& sinks, Sinks next) {
    for (auto& [name, sink] : next) {
        const auto place = sinks.find(name);
        auto* replaceable =
            place == sinks.end() ? nullptr : dynamic_cast<ReplaceableSink*>(place->second.get());
        if (replaceable != nullptr) replaceable->replace(std::move(sink));
    }
}

std::shared_ptr<Sink> current_of(Sink& sink) {
    auto* replaceable = dynamic_cast<ReplaceableSink*>(&sink);
    return replaceable != nullptr ? replaceable->current()
                                  : std::shared_ptr<Sink>(std::shared_ptr<Sink>(), &sink);
}

}  // namespace epilogue
