// Compiled into every suite. Where ctest says that a suite starts no thread (EPILOGUE_TEST_THREADS=none) it
// can start none: ThreadSanitizer is not run on such suites, so what they say of themselves has to be true.
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

// All its suites start threads, and its own pthread_create must be the first.
#ifndef EPILOGUE_THREAD_SANITIZER

namespace {

constexpr std::string_view refusal =
    "This suite starts a thread: say THREADS in its unit_test(...), so that ThreadSanitizer runs on it.\n";

bool allowed() {
    const char* const threads = std::getenv("EPILOGUE_TEST_THREADS");
    return threads == nullptr || std::string_view(threads) != "none";
}

}  // namespace

/// AddressSanitizer's own, where it is linked in: it has to hear of each thread. Its name is the sanitizer's.
extern "C" int ___interceptor_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)
    __attribute__((weak));

/// Stands before the C library's. EAGAIN, as pthread_create(3) has it, where no thread may be started.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* with) {
    if (!allowed()) {
        static_cast<void>(!::write(STDERR_FILENO, refusal.data(), refusal.size()));
        return EAGAIN;
    }
    if (___interceptor_pthread_create != nullptr)
        return ___interceptor_pthread_create(thread, attributes, run, with);
    using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    static const auto next = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
    return next(thread, attributes, run, with);
}

#endif
