// The product's Store over the database of the world, for one process: a pool of sessions, and everything
// that can go wrong between a process and its database. How a transaction is brought to its end is the
// product's own rule (worker/store/commit_protocol.h).
#pragma once

#include "tests/sim/database.h"
#include "tests/sim/process.h"
#include "worker/store/commit_protocol.h"

namespace epilogue::sim {

class SimStore final : public Store, private SessionSource {
  public:
    SimStore(Database& database, Process& process) : database_(database), process_(process) {}
    ~SimStore() override;

    Result<void> transact(const Work& work, const Check& is_done) override;
    Result<void> read_only(const Work& work) override;
    Result<void> end_session(std::int64_t connection_id) override;
    Result<Installation> installation() override;

  private:
    Result<std::unique_ptr<StoreSession>> take() override;
    void give_back(std::unique_ptr<StoreSession> session) override;
    void committed(std::chrono::duration<double>) override {}
    void commit_was_ambiguous() override {}
    void undone(const Error&) override {}

    Database& database_;
    Process& process_;
    std::vector<std::unique_ptr<StoreSession>> idle_;
};

/// Where every schedule is installed.
constexpr const char* installation_id = "6f1c2b1e-3d0a-4c58-9a53-0d8f5d1c7e42";

}  // namespace epilogue::sim
