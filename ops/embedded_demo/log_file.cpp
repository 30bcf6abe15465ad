#include "ops/embedded_demo/log_file.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace epilogue::demo {

LogFile::LogFile(const std::filesystem::path& file)
    : before_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) {
    std::fflush(stderr);
    const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (opened < 0) throw std::system_error(errno, std::generic_category(), file.string());
    ::dup2(opened, STDERR_FILENO);
    ::close(opened);
}

LogFile::~LogFile() {
    std::fflush(stderr);
    if (before_ < 0) return;  // there was none
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
}

}  // namespace epilogue::demo
