#include "sinks/port/dialogue.h"

namespace epilogue {

HttpRequest* Exchange::request() {
    if (request_ == nullptr && suspended_) go_on();
    return request_;
}

void Exchange::answer(HttpAnswer answer) {
    answer_ = std::move(answer);
    request_ = nullptr;
    go_on();
}

void Exchange::go_on() {
    // Set again by what runs now: when it asks.
    std::exchange(suspended_, nullptr).resume();
}

}  // namespace epilogue
