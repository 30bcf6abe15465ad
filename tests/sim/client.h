// An operator who registers callbacks and resolves parked deliveries: tries again until it is done, with the
// same idempotency key, whatever happens to him in between.
#pragma once

#include <functional>
#include <memory>

#include "tests/sim/store.h"

namespace epilogue::sim {

class Client {
  public:
    /// One try; true when it is done.
    using Job = std::function<bool(Store&)>;

    Client(Schedule& schedule, Database& database) : schedule_(schedule), database_(database) {}
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    void begin(Job job);
    bool is_done() const { return done_; }

  private:
    void try_again();

    Schedule& schedule_;
    Database& database_;
    Job job_;
    std::shared_ptr<Process> process_;
    std::unique_ptr<SimStore> store_;
    bool done_ = false;
};

}  // namespace epilogue::sim
