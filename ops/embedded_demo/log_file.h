// Standard error of this process, led into a file while the demo writes to the terminal.
#pragma once

#include <filesystem>

namespace epilogue::demo {

/// From construction to destruction everything written to standard error goes to the file.
class LogFile {
  public:
    /// Creates the file. Throws std::system_error when it cannot.
    explicit LogFile(const std::filesystem::path& file);
    ~LogFile();
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;

  private:
    int before_;  ///< where standard error led to
};

}  // namespace epilogue::demo
