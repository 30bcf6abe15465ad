// Where a held request waits: until it is released or its client closes the connection.
#pragma once

#include <atomic>

namespace epilogue::fake_platform {

class HeldRequest {
  public:
    enum class Outcome { answer, drop, client_left };

    /// Throws std::runtime_error when the process has no descriptor left.
    HeldRequest();
    ~HeldRequest();
    HeldRequest(const HeldRequest&) = delete;
    HeldRequest& operator=(const HeldRequest&) = delete;

    /// Lets the waiting request answer, or with `drop` end without an answer. The first call counts.
    void release(bool drop);

    /// Blocks until release() was called or the client at the socket `peer` (-1: none) closed its side.
    Outcome wait(int peer) const;

  private:
    int event_;
    std::atomic<bool> released_ = false;
    std::atomic<bool> drop_ = false;
};

}  // namespace epilogue::fake_platform
