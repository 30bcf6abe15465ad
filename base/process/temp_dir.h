// A folder that goes away with its object.
#pragma once

#include <filesystem>

namespace epilogue::process {

/// A new, empty folder under TMPDIR (or /tmp), removed with all it holds by the destructor.
class TempDir {
  public:
    /// Throws std::system_error when no folder can be made.
    TempDir();
    ~TempDir();
    TempDir(TempDir&& other) noexcept;
    TempDir& operator=(TempDir&& other) noexcept;
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;

    /// Absolute.
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace epilogue::process
