#include "worker/deliver/sender_clock.h"

#include <ctime>
#include <random>

namespace epilogue {
namespace {

std::chrono::nanoseconds boottime() {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
}

double random01() {
    thread_local std::mt19937_64 engine{std::random_device{}()};
    return std::uniform_real_distribution<double>{0.0, 1.0}(engine);
}

}  // namespace

SenderClock system_sender_clock() {
    return {boottime, random01};
}

}  // namespace epilogue
