// The demo's lines on standard output: plain for a file, with colours and a progress line for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace epilogue::demo {

enum class Paint { bold, dim, good, bad, wait };

/// Not thread-safe. What cannot be written is left out without an error: the demo goes on without a reader.
class Terminal {
  public:
    /// Looks at standard output: whether it is a terminal, how wide that is, and whether NO_COLOR is set.
    Terminal();
    /// Takes the progress line away.
    ~Terminal();
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    /// Writes lines; `text` needs no newline at its end.
    void say(std::string_view text);
    /// The line below all others, in place of the one before; on a terminal only.
    void progress(const std::string& text);
    /// `text` in that paint, or as it is when there are no colours.
    std::string painted(Paint paint, std::string_view text) const;
    /// Columns to write in: at most 100.
    std::size_t width() const { return width_; }

  private:
    void write(std::string_view text) const;

    bool is_terminal_;
    bool colours_;
    std::size_t width_;
    std::string progress_;
};

/// `text` in lines of at most `width` characters, broken at spaces where there are any. Control characters
/// become spaces: what agents say must not move the cursor.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace epilogue::demo
