#include "ops/embedded_demo/topic_reader.h"

#include <stdexcept>
#include <utility>
#include <variant>

#include "worker/settings.h"

namespace epilogue::demo {
namespace {

using namespace std::chrono_literals;

constexpr auto leaves_within = 2s;

void require(const Result<void>& result) {
    if (!result) throw std::runtime_error("reading the topic: " + result.error().text);
}

}  // namespace

TopicReader::TopicReader(const Config& config)
    : consumer_(kafka_settings(config), config.kafka.topic, "epilogue-demo-screen") {
    require(consumer_.join({[this](const std::vector<int>& partitions) { assigned_ = partitions; },
                            [](const std::vector<int>&, bool) {}}));
}

TopicReader::~TopicReader() {
    consumer_.close(leaves_within);
}

std::optional<agent::RemoteEvent> TopicReader::next(std::chrono::milliseconds wait) {
    const Polled polled = consumer_.poll(wait);
    begin();
    const auto* record = std::get_if<Record>(&polled);
    if (record == nullptr || record->value.data() == nullptr) return std::nullopt;
    ++records_;
    auto event = agent::parse_event(record->value);
    if (!event || !seen_.insert(event->id).second) return std::nullopt;
    return event;
}

/// Seeking is not for the listener: it is called inside poll().
void TopicReader::begin() {
    for (const int partition : std::exchange(assigned_, {})) {
        require(consumer_.seek(partition, NextOffset{0}));
        require(consumer_.resume(partition));
        is_reading_ = true;
    }
}

}  // namespace epilogue::demo
