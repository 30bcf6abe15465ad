// A process that outlives a crash of this one, to write down what the crashed thread worked at. Only a crash
// of the process's own making is told (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT): who is killed from outside
// did not cause it, and neither did what it worked at (docs/decisions/0014).
#pragma once

#include <functional>

#include <sys/types.h>

#include "base/under_way.h"

namespace epilogue::process {

class CrashRecorder {
  public:
    /// Called in the other process: `what` was under way when `signal` came.
    using Record = std::function<void(const UnderWay& what, int signal)>;

    /// Forks, so this process must have no second thread yet. A crash waits until it is recorded, at most 5
    /// s, and then takes its course. Does nothing but to log a warning when there is no process to be had.
    explicit CrashRecorder(const Record& record);
    /// Ends the other process.
    ~CrashRecorder();
    CrashRecorder(const CrashRecorder&) = delete;
    CrashRecorder& operator=(const CrashRecorder&) = delete;

  private:
    pid_t child_ = -1;
};

}  // namespace epilogue::process
