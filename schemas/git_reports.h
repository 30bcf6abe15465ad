// What `git commit` and `git push` say that they did.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace epilogue {

struct GitReport {
    std::string branch;
    std::string hash;  ///< short; empty: git did not say it (a push of a new branch)
    bool is_pushed = false;
    bool operator==(const GitReport&) const = default;
};

/// The commits made and branches pushed by a shell command, by what it printed: "[fix/clock 1a2b3c4]
/// message", "   1a2b3c4..5d6e7f8  fix/clock -> fix/clock". Tags, refusals and commits on no branch are none.
std::vector<GitReport> git_reports(std::string_view command, std::string_view output);

}  // namespace epilogue
