#include "base/process/crash_recorder.h"

#include <array>
#include <atomic>
#include <cerrno>

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io/log.h"

namespace epilogue::process {
namespace {

constexpr std::array<int, 5> crashes{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int longest_wait_ms = 5000;

/// What the handler sends: one packet.
struct Message {
    UnderWay what;
    int signal = 0;
};

std::atomic<int> recorder_socket{-1};
static_assert(std::atomic<int>::is_always_lock_free);

/// Only what POSIX allows in a handler. Some other thread may hold any lock, and this one, too.
extern "C" void on_crash(int signal) {
    const UnderWay& what = under_way();
    const int socket = recorder_socket.load();
    if (what.what.size != 0 && socket >= 0) {
        const Message message{what, signal};
        pollfd recorded{socket, POLLIN, 0};
        if (::send(socket, &message, sizeof message, MSG_NOSIGNAL) > 0) ::poll(&recorded, 1, longest_wait_ms);
    }
    ::signal(signal, SIG_DFL);
    ::raise(signal);  // delivered when this returns
}

void set_handlers(void (*handler)(int), int flags) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    ::sigemptyset(&action.sa_mask);
    for (const int signal : crashes) ::sigaction(signal, &action, nullptr);
}

/// The other process's life: until the first one is gone.
[[noreturn]] void record_all(int socket, const CrashRecorder::Record& record) {
    ::prctl(PR_SET_NAME, "crash recorder");
    for (const int ending : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) ::signal(ending, SIG_IGN);
    Message message;
    for (;;) {
        const ssize_t size = ::recv(socket, &message, sizeof message, 0);
        if (size < 0 && errno == EINTR) continue;
        if (size != static_cast<ssize_t>(sizeof message)) ::_exit(0);
        record(message.what, message.signal);
        static_cast<void>(::send(socket, "", 1, MSG_NOSIGNAL));
    }
}

}  // namespace

CrashRecorder::CrashRecorder(const Record& record) {
    std::array<int, 2> sockets{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
        log_warn("crashes are not recorded: no socket");
        return;
    }
    child_ = ::fork();
    if (child_ == 0) {
        ::close(sockets[0]);
        record_all(sockets[1], record);
    }
    ::close(sockets[1]);
    if (child_ < 0) {
        ::close(sockets[0]);
        log_warn("crashes are not recorded: no process");
        return;
    }
    recorder_socket = sockets[0];
    want_crash_stacks();
    set_handlers(on_crash, SA_ONSTACK);
}

CrashRecorder::~CrashRecorder() {
    if (child_ < 0) return;
    set_handlers(SIG_DFL, 0);
    ::close(recorder_socket.exchange(-1));
    ::waitpid(child_, nullptr, 0);
}

}  // namespace epilogue::process
