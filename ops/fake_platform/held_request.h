// Where a held request waits: until somebody opens the gate or the client leaves.
#pragma once

#include <atomic>

namespace epilogue::standin {

class Gate {
  public:
    enum class Passed { answering, dropped, client_left };

    /// Throws std::runtime_error when the process has no descriptor left.
    Gate();
    ~Gate();
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;

    /// Lets the waiting request answer, or with `drop` end without an answer. The first call counts.
    void open(bool drop);

    /// Blocks until open() was called or the client at the socket `peer` (-1: none) closed its side.
    Passed wait(int peer) const;

  private:
    int event_;
    std::atomic<bool> opened_ = false;
    std::atomic<bool> drop_ = false;
};

}  // namespace epilogue::standin
