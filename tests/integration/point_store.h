// A store that says how far its transactions have come, so that a test can act in another session right
// there.
#pragma once

#include <functional>
#include <string>

#include "worker/store/store.h"

namespace epilogue::testing {

/// What a transaction has just done, in words ("the callbacks are locked"), and the id of its session: 0
/// before its BEGIN and after its COMMIT.
using OnPoint = std::function<void(const std::string& point, std::int64_t session)>;

/// The points around every transaction; those between them are named after its statements.
namespace point {
inline const std::string before_begin = "before BEGIN";
inline const std::string begun = "after BEGIN";
inline const std::string before_commit = "before COMMIT";
inline const std::string committed = "after COMMIT";
}  // namespace point

/// Another store, with `on_point` called at each point of each transact() on its thread. A transaction that
/// is run again says all of it again, `before_begin` excepted. Reads say nothing. As thread-safe as
/// `on_point`.
class PointStore final : public Store {
  public:
    PointStore(Store& store, OnPoint on_point) : store_(store), on_point_(std::move(on_point)) {}

    Result<void> transact(const Work& work, const Check& is_done) override;
    Result<void> read_only(const Work& work) override { return store_.read_only(work); }
    Result<void> end_session(std::int64_t id) override { return store_.end_session(id); }
    Result<Installation> installation() override { return store_.installation(); }

  private:
    Store& store_;
    const OnPoint on_point_;
};

}  // namespace epilogue::testing
