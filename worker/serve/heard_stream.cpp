#include "worker/serve/heard_stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>

namespace epilogue {

HeardStream::HeardStream(const HeardClient& client, std::chrono::milliseconds patience)
    : client_(client), patience_(patience) {}

bool HeardStream::wait(short events, std::chrono::milliseconds at_most) const {
    pollfd asked{client_.socket, events, 0};
    return ::poll(&asked, 1, static_cast<int>(at_most.count())) == 1;
}

bool HeardStream::is_readable() const {
    return taken_ < client_.heard.size() || wait(POLLIN, patience_);
}

bool HeardStream::is_writable() const {
    return wait(POLLOUT, patience_);
}

ssize_t HeardStream::read(char* bytes, size_t size) {
    if (const std::size_t left = client_.heard.size() - taken_; left > 0) {
        const std::size_t count = std::min(left, size);
        std::memcpy(bytes, client_.heard.data() + taken_, count);
        taken_ += count;
        return static_cast<ssize_t>(count);
    }
    while (true) {
        const ssize_t got = ::recv(client_.socket, bytes, size, MSG_DONTWAIT);
        if (got >= 0 || (errno != EAGAIN && errno != EINTR)) return got;
        if (!wait(POLLIN, patience_)) return -1;
    }
}

/// All of it, or an error: the library takes less for the end of the client.
ssize_t HeardStream::write(const char* bytes, size_t size) {
    using Clock = std::chrono::steady_clock;
    std::size_t sent = 0;
    while (sent < size) {
        const ssize_t took = ::send(client_.socket, bytes + sent, size - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (took >= 0) {
            sent += static_cast<std::size_t>(took);
            continue;
        }
        if (errno != EAGAIN && errno != EINTR) return -1;
        const auto begun = Clock::now();
        const bool has_room = patience_ > spent_writing_ && wait(POLLOUT, patience_ - spent_writing_);
        spent_writing_ += std::chrono::ceil<std::chrono::milliseconds>(Clock::now() - begun);
        if (!has_room) return -1;
    }
    return static_cast<ssize_t>(sent);
}

void HeardStream::get_remote_ip_and_port(std::string& ip, int& port) const {
    ip.clear();  // nothing of ours asks
    port = 0;
}

void HeardStream::get_local_ip_and_port(std::string& ip, int& port) const {
    ip.clear();
    port = 0;
}

}  // namespace epilogue
