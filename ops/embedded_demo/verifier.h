// Compares the posts that a platform shows with the turns that had to be reported. It does not read
// Epilogue's own tables: a post is recognised by its place and its text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "ops/embedded_demo/scenario.h"

namespace epilogue::demo {

/// A comment of ours as the platform shows it.
struct Post {
    std::string place;  ///< its name, as name_of() says it
    std::string text;
};

/// The turn that a post reports.
struct Match {
    const Scenario* scenario = nullptr;  ///< nullptr: no callback asked for a post there
    std::optional<std::size_t> turn;
    bool again = false;  ///< an earlier post has reported that turn
};

/// Not thread-safe. Keeps a reference to the scenarios.
class Verifier {
  public:
    explicit Verifier(const std::vector<Scenario>& scenarios);

    /// Takes the next post, oldest first; returns the turn that it reports and that no post has reported so
    /// far.
    Match add(const Post& post);

    std::size_t turns() const;
    std::size_t posts() const { return posts_; }
    std::size_t reported() const;
    /// A line for each turn that no post reports, and for each post too many: "owner/name#7: Finished".
    std::vector<std::string> lost() const;
    const std::vector<std::string>& duplicates() const { return duplicates_; }
    /// Posts that report none of the turns expected at their place.
    const std::vector<std::string>& unexpected() const { return unexpected_; }
    /// Each expected turn is reported exactly once, and nothing else is.
    bool is_good() const { return reported() == turns() && duplicates_.empty() && unexpected_.empty(); }

  private:
    struct Line {
        const Scenario* scenario = nullptr;
        std::size_t turn = 0;
        bool reported = false;
    };

    std::vector<Line> lines_;
    std::vector<std::string> duplicates_;
    std::vector<std::string> unexpected_;
    std::size_t posts_ = 0;
};

}  // namespace epilogue::demo
