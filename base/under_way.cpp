#include "base/under_way.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>

#include <signal.h>

namespace epilogue {
namespace {

constinit thread_local UnderWay of_this_thread{};
std::atomic<bool> stacks_wanted{false};

/// The calling thread's stack for handlers, unless it has one.
class CrashStack {
  public:
    CrashStack() {
        stack_t present{};
        if (::sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;
        memory_ = std::make_unique<std::byte[]>(bytes);
        stack_t stack{};
        stack.ss_sp = memory_.get();
        stack.ss_size = bytes;
        ::sigaltstack(&stack, nullptr);
    }
    ~CrashStack() {
        if (!memory_) return;
        stack_t none{};
        none.ss_flags = SS_DISABLE;
        ::sigaltstack(&none, nullptr);
    }
    CrashStack(const CrashStack&) = delete;
    CrashStack& operator=(const CrashStack&) = delete;

  private:
    static constexpr std::size_t bytes = std::size_t{64} << 10U;
    std::unique_ptr<std::byte[]> memory_;
};

}  // namespace

void FixedText::assign(std::string_view text) {
    size = static_cast<std::uint16_t>(std::min(text.size(), bytes.size()));
    std::copy_n(text.begin(), size, bytes.begin());
}

const UnderWay& under_way() {
    return of_this_thread;
}

WorkingAt::WorkingAt(std::string_view what, std::string_view key, std::string_view more) {
    if (stacks_wanted.load(std::memory_order_relaxed)) {
        thread_local const CrashStack stack;
        static_cast<void>(stack);
    }
    of_this_thread.key.assign(key);
    of_this_thread.more.assign(more);
    of_this_thread.what.assign(what);
}

WorkingAt::~WorkingAt() {
    of_this_thread.what.size = 0;
}

void want_crash_stacks() {
    stacks_wanted = true;
}

}  // namespace epilogue
