// Counts what a platform shows against what has to be told. It knows nothing of Epilogue's own books: a post
// is recognised by where it stands and what it says.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "ops/embedded_demo/scenario.h"

namespace epilogue::embedded {

/// A comment of ours as the platform shows it.
struct Post {
    std::string place;  ///< its name, as name_of() says it
    std::string text;
};

/// What a post tells.
struct Told {
    const Story* story = nullptr;  ///< nullptr: nobody asked for a post there
    std::optional<std::size_t> turn;
    bool again = false;  ///< that turn was told before
};

/// Not thread-safe. Keeps a reference to the stories.
class Audit {
  public:
    explicit Audit(const std::vector<Story>& stories);

    /// Takes the next post, oldest first: the turn that it tells and that no post told so far.
    Told add(const Post& post);

    std::size_t turns() const;
    std::size_t posts() const { return posts_; }
    std::size_t told() const;
    /// A line for each turn that no post tells, and for each post too many: "owner/name#7: Finished".
    std::vector<std::string> lost() const;
    const std::vector<std::string>& duplicates() const { return duplicates_; }
    /// Posts that tell nothing of what was expected at their place.
    const std::vector<std::string>& strangers() const { return strangers_; }
    /// Each expected turn is told exactly once, and nothing else is.
    bool is_good() const { return told() == turns() && duplicates_.empty() && strangers_.empty(); }

  private:
    struct Line {
        const Story* story = nullptr;
        std::size_t turn = 0;
        bool told = false;
    };

    std::vector<Line> lines_;
    std::vector<std::string> duplicates_;
    std::vector<std::string> strangers_;
    std::size_t posts_ = 0;
};

}  // namespace epilogue::embedded
