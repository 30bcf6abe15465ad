#include "base/process/ports.h"

#include <cstddef>
#include <fstream>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace epilogue::process {
namespace {

constexpr int lowest_port = 10240;

/// The first port the kernel may give to an outgoing connection.
int first_ephemeral_port() {
    int first = 32768;
    std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first;
    return first > lowest_port + 1000 ? first : 65536;
}

bool can_listen_on(unsigned short port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return false;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const void* const raw = &address;
    const bool free = ::bind(socket, static_cast<const sockaddr*>(raw), sizeof address) == 0;
    ::close(socket);
    return free;
}

/// Takes the port for this process among all that call free_port(), until the process ends: by a socket whose
/// abstract name has the port in it (unix(7)), which lives as long as the process, in the same network
/// namespace as the port. False when another process has it.
bool reserve(unsigned short port) {
    const std::string name = "epilogue-port-" + std::to_string(port);
    const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return false;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    const void* const raw = &address;
    if (::bind(socket, static_cast<const sockaddr*>(raw), length) == 0) return true;
    ::close(socket);
    return false;
}

}  // namespace

unsigned short free_port() {
    static std::mutex mutex;
    static std::mt19937 random(std::random_device{}());
    const std::scoped_lock lock(mutex);
    std::uniform_int_distribution<int> candidates(lowest_port, first_ephemeral_port() - 1);
    for (int tries = 0; tries < 1000; ++tries) {
        const auto port = static_cast<unsigned short>(candidates(random));
        if (can_listen_on(port) && reserve(port)) return port;
    }
    throw std::runtime_error("no free port on 127.0.0.1");
}

}  // namespace epilogue::process
