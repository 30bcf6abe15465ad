#include "tests/integration/guarantees/report.h"

#include <algorithm>

#include <fmt/format.h>

namespace epilogue::testing {
namespace {

constexpr const char* introduction = R"(# What is guaranteed, window by window

Made by `integration_guarantees` from what it has counted, and compared with what it counts in each test run;
written anew by `EPILOGUE_UPDATE_GOLDEN=1 ctest --preset dev -R '^integration_guarantees$'`. Nothing here is written by hand.

A *window* is a moment in which a crash, a lost answer or somebody else can leave it open whether a post was made. In each cell {} posts go through it:
the product's own batch, store, sender and sinks, over a real database and a stand-in for the platforms that knows no idempotency keys.
What is counted are the requests that reached the stand-in and the posts that it shows. A sender dies in the test's own process, at a named step, and never comes back;
that whole processes may be killed is shown by `integration_kill` and `chaos`. Leases, delays and due times are not waited for: the rows are made older.

| | what became of each post, at worst |
| --- | --- |
| **1** | one post, by the ledger alone |
| **L** | one post, by looking for it on the platform |
| **H** | one post in the end: a second one was visible until the check for twins, a minute later |
| **R** | made once more, because a person had removed it; never two at once |
| **M** | one post at most, parked with its reason until an operator says what became of it |
| **2** | two posts stay |

)";

constexpr const char* limits = R"(
What no client can do: between the last look at the lease and the kernel's send there is always room for a pause (W6);
who looks on a platform whose lists lag longer than all look-ups (W7) sees nothing. Both end as **H**. What stays open, as **2**:
a platform that doubles a request by itself (W8) and a failover that loses the last commits within a minute (W11), on Slack alone,
where posts are checked for twins only after an answer was lost: Slack may allow one look-up a minute, for all channels together.

A post that is more than a minute overdue is looked for before it is sent, though nothing says that it was: a database that was set back (W11) has forgotten what was posted since.

## The counts

Requests that could make a post → posts made − posts removed by Epilogue = posts visible in the end, of all runs of the cell;
in brackets how many of one run were visible at the same time, when there were two.

)";

std::string row(const std::vector<std::string>& cells) {
    std::string text = "|";
    for (const auto& cell : cells) text += " " + cell + " |";
    return text + "\n";
}

std::string head() {
    std::vector<std::string> names{"", "what happens"};
    for (const PlaceKind kind : kinds) names.emplace_back(name_of(kind));
    return row(names) + row(std::vector<std::string>(names.size(), "---"));
}

std::string counts_of(const Cell& cell) {
    return fmt::format("{} → {}{} = {}{}", cell.tried, cell.made,
                       cell.removed > 0 ? fmt::format(" − {}", cell.removed) : "", cell.visible,
                       cell.most > 1 ? fmt::format(" ({})", cell.most) : "");
}

template <class Text>
std::string table(const std::vector<WindowResult>& results, Text text) {
    std::string lines = head();
    for (const auto& [window, cells] : results) {
        std::vector<std::string> line{window.name, window.what};
        for (const Cell& cell : cells) line.push_back(text(cell));
        lines += row(line);
    }
    return lines;
}

}  // namespace

Cell cell_of(const std::vector<Score>& scores) {
    Cell cell;
    cell.runs = scores.size();
    std::size_t worst = 0;
    for (const Score& score : scores) {
        worst = std::max(worst, grades.find(grade_of(score)));
        cell.tried += score.tried;
        cell.made += score.made;
        cell.removed += score.removed;
        cell.visible += score.visible;
        cell.most = std::max(cell.most, score.most);
    }
    if (worst < grades.size()) cell.grade = grades[worst];
    return cell;
}

bool is_as_good(char grade, char bar) {
    return grades.find(grade) <= grades.find(bar);
}

std::string guarantees_page(const std::vector<WindowResult>& results) {
    const std::size_t runs = results.empty() ? 0 : results.front().cells.front().runs;
    return fmt::format(fmt::runtime(introduction), runs) +
           table(results, [](const Cell& cell) { return std::string(1, cell.grade); }) + limits +
           table(results, counts_of);
}

}  // namespace epilogue::testing
