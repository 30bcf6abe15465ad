// What the relay's doors take, beside a small relay in Python.
#pragma once

#include <cstddef>
#include <string>

#include "bench/bench_servers.h"

namespace epilogue::bench {

enum class RelayKind { ours, python };

/// A following relay, from the making of an event on its server to its reading from the topic.
struct Following {
    double read = 0;  ///< events
    double p50_s = 0;
    double p99_s = 0;
    double highest_s = 0;
    double late_s = 0;  ///< the server's own longest delay: what is measured with cannot be better
    Cost cost;          ///< of the relay
};
/// A topic of that name is made. Errors are std::runtime_error.
Following follow(const BenchServers& servers, RelayKind kind, const std::string& topic,
                 std::size_t conversations, std::size_t per_s, std::size_t seconds);

/// A webhook door whose senders post as fast as they are answered, five events at a time.
struct Posting {
    double events_per_s = 0;
    double p99_s = 0;  ///< of an answer
    Cost cost;         ///< of the relay
};
Posting post(const BenchServers& servers, RelayKind kind, const std::string& topic, std::size_t conversations,
             std::size_t seconds);

}  // namespace epilogue::bench
