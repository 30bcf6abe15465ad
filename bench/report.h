// The figures of one run: printed as they come, and kept for a page of the documentation.
#pragma once

#include <string>
#include <vector>

namespace epilogue::bench {

/// One line of a table. A ratio stands in `value`, what it was made from in `raw`.
struct Figure {
    std::string name;
    std::string value;
    std::string goal;  ///< empty: none is set
    std::string raw;
};

/// Cores, processor, memory and kernel of this machine, and how busy it is now.
std::string this_machine();

/// Not thread-safe.
class Report {
  public:
    /// The figures that follow belong under this title; `about` says how they were made.
    void begin(const std::string& title, const std::string& about);
    void add(const Figure& figure);

    /// All of it as Markdown. `command` is what made it, `machine` what it ran on.
    std::string page(const std::string& command, const std::string& machine) const;

  private:
    struct Section {
        std::string title;
        std::string about;
        std::vector<Figure> figures;
    };
    std::vector<Section> sections_;
};

}  // namespace epilogue::bench
