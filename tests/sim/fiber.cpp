// ucontext makes a stack and enters it; from then on _setjmp and _longjmp switch, which ask nothing of the
// kernel. The check of glibc's longjmp takes that for an error, so it is off here.
#undef _FORTIFY_SOURCE
#include "tests/sim/fiber.h"

#include <array>
#include <csetjmp>
#include <utility>
#include <vector>

#include <ucontext.h>

namespace epilogue::sim {
namespace {

constexpr std::size_t stack_bytes = std::size_t{256} << 10U;
using Stack = std::array<char, stack_bytes>;

Fiber* current = nullptr;

/// Stacks are used again: most workers live for a few virtual seconds.
std::vector<std::unique_ptr<Stack>>& spare_stacks() {
    static std::vector<std::unique_ptr<Stack>> spare;
    return spare;
}

std::unique_ptr<Stack> take_stack() {
    auto& spare = spare_stacks();
    if (spare.empty()) return std::unique_ptr<Stack>(new Stack);  // not filled with zeros
    auto stack = std::move(spare.back());
    spare.pop_back();
    return stack;
}

}  // namespace

struct Fiber::Context {
    ucontext_t start{};
    ucontext_t first_caller{};
    std::jmp_buf own{};
    std::jmp_buf caller{};
    bool entered = false;
    std::unique_ptr<Stack> stack = take_stack();
};

Fiber::Fiber() : context_(std::make_unique<Context>()) {
    getcontext(&context_->start);
    context_->start.uc_stack.ss_sp = context_->stack->data();
    context_->start.uc_stack.ss_size = stack_bytes;
    makecontext(&context_->start, &Fiber::enter, 0);
}

Fiber::~Fiber() {
    kill();
    spare_stacks().push_back(std::move(context_->stack));
}

void Fiber::assign(std::function<void()> body) {
    body_ = std::move(body);
    over_ = false;
}

void Fiber::resume() {
    if (over_) return;
    Fiber* const before = std::exchange(current, this);
    if (_setjmp(context_->caller) == 0) {
        if (std::exchange(context_->entered, true))
            _longjmp(context_->own, 1);
        else
            swapcontext(&context_->first_caller, &context_->start);
    }
    current = before;
}

void Fiber::kill() {
    if (over_) return;
    dying_ = true;
    resume();
    dying_ = false;
}

void Fiber::yield() {
    Fiber& self = *current;
    self.leave();
    if (self.dying_) throw Crash{};
}

Fiber* Fiber::running() {
    return current;
}

void Fiber::enter() {
    current->loop();
}

/// Never returns: a fiber that is over is given something else to do, or its stack goes back.
void Fiber::loop() {
    while (true) {
        try {
            if (!dying_) body_();
        } catch (const Crash&) {
            // What the body held is released; the process is gone.
        }
        body_ = nullptr;
        over_ = true;
        leave();
    }
}

void Fiber::leave() {
    if (_setjmp(context_->own) == 0) _longjmp(context_->caller, 1);
}

}  // namespace epilogue::sim
