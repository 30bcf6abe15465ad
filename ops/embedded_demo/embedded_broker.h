// An embedded Kafka broker: librdkafka's mock cluster, in this process and in memory. For the demo only: it
// keeps about 4 MB a partition, and a group's first members wait 3 s.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace epilogue::demo {

/// Listens on a port of 127.0.0.1 that the system chooses; other processes may connect. Thread-safe.
class EmbeddedBroker {
  public:
    /// Starts it with one empty topic. Errors: librdkafka's.
    static Result<std::unique_ptr<EmbeddedBroker>> start(const std::string& topic, int partitions);
    ~EmbeddedBroker();
    EmbeddedBroker(const EmbeddedBroker&) = delete;
    EmbeddedBroker& operator=(const EmbeddedBroker&) = delete;

    /// "127.0.0.1:PORT".
    std::string address() const;

  private:
    struct Handles;
    explicit EmbeddedBroker(std::unique_ptr<Handles> handles);
    std::unique_ptr<Handles> handles_;
};

}  // namespace epilogue::demo
