#include "ops/fake_platform/held_request.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <stdexcept>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace epilogue::fake_platform {

// A condition variable cannot watch a socket, a descriptor can: poll(2) sees both the release and the
// client that was killed.
HeldRequest::HeldRequest() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (event_ < 0) throw std::runtime_error("eventfd: no descriptor left");
}

HeldRequest::~HeldRequest() {
    ::close(event_);
}

void HeldRequest::release(bool drop) {
    if (released_.exchange(true)) return;
    drop_ = drop;
    ::eventfd_write(event_, 1);
}

HeldRequest::Outcome HeldRequest::wait(int peer) const {
    std::array<pollfd, 2> watched{{{event_, POLLIN, 0}, {peer, POLLRDHUP, 0}}};
    for (;;) {
        const int ready = ::poll(watched.data(), watched.size(), -1);
        if (ready < 0 && errno != EINTR) return Outcome::drop;
        if (ready <= 0) continue;
        if (watched[0].revents != 0) return drop_ ? Outcome::drop : Outcome::answer;
        if (watched[1].revents != 0) return Outcome::client_left;
    }
}

}  // namespace epilogue::fake_platform
