#include "worker/agents/summarisers.h"

#include <utility>
#include <vector>

#include "worker/agents/server_room.h"
#include "worker/store/summary_rows.h"

namespace epilogue {
namespace {

constexpr std::size_t sweep_rows = 500;
constexpr std::chrono::seconds sweep_every{1};

}  // namespace

Summarisers::Summarisers(Store& store, FinalMessageSource& final_messages, Summariser& summariser,
                         int threads, std::function<void(const std::string&)> trouble)
    : store_(store),
      final_messages_(final_messages),
      summariser_(summariser),
      trouble_(std::move(trouble)),
      queue_({.threads = threads,
              .thread_name = "summariser",
              .sweeper_name = "summary sweeper",
              .sweep_every = sweep_every,
              .max_per_group = room_of_one_server(threads)}) {}

void Summarisers::start() {
    queue_.start([this](const Task& task, const std::stop_token& stop) { work_at(task, stop); },
                 [this] { sweep_once(); });
}

void Summarisers::work_at(Task task, const std::stop_token& stop) {
    const auto joined = join_server(
        queue_, task, [this](const TurnId& turn) { return final_messages_.server_of(turn.conversation_id); });
    if (!joined) {
        trouble_(joined.error().text);
        queue_.done(task);
        return;
    }
    if (!*joined) return;
    const auto done = summariser_.work_at(task.turn, stop);
    trouble_(done ? "" : done.error().text);
    queue_.done(task);
}

void Summarisers::sweep_once() {
    if (!queue_.begin_sweep()) return;
    std::vector<TurnId> turns;
    const auto looked = store_.read_only([&](Transaction& transaction) -> Result<void> {
        TRY(turns, transaction.summaries().owed(sweep_rows));
        return {};
    });
    trouble_(looked ? "" : looked.error().text);
    for (const TurnId& turn : turns) add(turn);
}

}  // namespace epilogue
