// What the suites about logging share: what was written to standard error.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include "base/text.h"

namespace epilogue::testing {

/// What `write` leaves on standard error, line by line.
inline std::vector<std::string> lines_of(const std::function<void()>& write) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
    const int kept = ::dup(STDERR_FILENO);
    ::dup2(::fileno(file.get()), STDERR_FILENO);
    write();
    ::dup2(kept, STDERR_FILENO);
    ::close(kept);
    std::rewind(file.get());
    std::string all(std::size_t{1} << 20U, '\0');
    all.resize(std::fread(all.data(), 1, all.size(), file.get()));
    return split(all, '\n');
}

}  // namespace epilogue::testing
