#include "tests/support/unready.h"

#include <stdexcept>

#include "tests/support/eventually.h"
#include "tests/support/text.h"

namespace epilogue::testing {

void wait_unready(WorkerProcess& worker, const std::string& reason) {
    std::string said;
    try {
        eventually("the worker is unready because of " + reason, [&] {
            if (!worker.process().running()) throw std::runtime_error("it ended: " + worker.process().err());
            const auto answer = worker.get("/readyz");
            said = answer.body;
            return answer.status == 503 && contains(answer.body, reason);
        });
    } catch (const GaveUp& late) {
        throw std::runtime_error(std::string(late.what()) + "; it says: " + said);
    }
    const auto alive = worker.get("/healthz");
    if (alive.status != 200) throw std::runtime_error("/healthz: " + alive.cause + alive.body);
}

}  // namespace epilogue::testing
