// epilogue-fake-platform: prints {"port": N} on one line, then serves until SIGTERM or SIGINT.
#include <charconv>
#include <csignal>
#include <exception>
#include <iostream>
#include <optional>
#include <string_view>

#include "ops/fake_platform/fake_platform_server.h"

namespace {

/// The port of "[--port N]"; nullopt when the arguments are others.
std::optional<unsigned short> port_of(int argc, char** argv) {
    if (argc == 1) return 0;
    if (argc != 3 || std::string_view(argv[1]) != "--port") return std::nullopt;
    const std::string_view text(argv[2]);
    unsigned short port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return port;
}

}  // namespace

int main(int argc, char** argv) {
    const std::optional<unsigned short> port = port_of(argc, argv);
    if (!port) {
        std::cerr << "usage: epilogue-fake-platform [--port N]   (0, the default, takes a free one)\n";
        return 64;  // EX_USAGE
    }

    // Blocked before any thread starts, so that only sigwait sees them.
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    try {
        const epilogue::FakePlatformServer server(*port);
        std::cout << "{\"port\": " << server.port() << "}" << std::endl;
        int received = 0;
        sigwait(&signals, &received);
        return 0;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 69;  // EX_UNAVAILABLE
    }
}
