// How tasks of a LeasedQueue share its threads by the agent server that they ask: so that one that hangs does
// not hold up what others would answer.
#pragma once

#include "base/leased_queue.h"
#include "base/result.h"

namespace epilogue {

/// At most so many of `threads` ask one server.
constexpr std::size_t room_of_one_server(int threads) {
    return threads < 2 ? 1 : static_cast<std::size_t>(threads) / 2;
}

/// Finds the server of a task that was begun without one, by `server_of`, and counts the task there. False
/// when there is no room: the task was put back. After an error, which is that of `server_of`, the caller
/// calls done().
template <class Task, class ServerOf>
Result<bool> join_server(LeasedQueue<Task>& queue, Task& task, const ServerOf& server_of) {
    if (task.server) return true;
    TRY(task.server, server_of(task.key()));
    return queue.join(task);
}

}  // namespace epilogue
