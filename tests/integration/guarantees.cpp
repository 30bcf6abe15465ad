// What is promised in each window in which it may be open whether a post was made: counted, and compared with
// docs/guarantees.md.
#define BOOST_TEST_MODULE guarantees
#include <iostream>
#include <map>
#include <set>

#include <boost/test/unit_test.hpp>

#include "ops/fake_platform/platform_api.h"
#include "tests/integration/guarantees/report.h"
#include "tests/support/golden.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;

const Database& server() {
    static const Database one;
    return one;
}

/// A person pastes our post beside it, marker and all, and another one whose marker is made up. Both look
/// older than ours.
void forge(WindowTrial& trial) {
    for (auto comment : trial.platform().visible()) {
        if (comment.author != fake_platform::bot_login || comment.id % 3 != 0) continue;
        comment.author = "mallory";
        comment.created_at -= std::chrono::minutes{2};
        comment.updated_at = comment.created_at;
        trial.platform().seed(comment);
        const auto mac = comment.body.find("mac=");
        if (mac != std::string::npos) comment.body.replace(mac, 8, "mac=0000");
        trial.platform().seed(std::move(comment));
    }
}

/// How the ledger names a post.
std::string remote_id_of(const fake_platform::Comment& comment) {
    return comment.platform == "slack" ? fake_platform::slack_ts(comment) : std::to_string(comment.id);
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_page_says_what_is_counted_and_no_cell_is_worse_than_the_bar) {
    constexpr std::size_t runs = 20;
    std::vector<WindowResult> results;
    for (const Window& window : windows()) {
        BOOST_TEST_CONTEXT(window.name << ": " << window.what) {
            WindowResult& one = results.emplace_back(WindowResult{window, {}});
            for (const auto& scores :
                 scores_of(window, server(), "window_" + std::to_string(results.size()), runs)) {
                const Cell& cell = one.cells.emplace_back(cell_of(scores));
                const PlaceKind kind = kinds.at(one.cells.size() - 1);
                BOOST_TEST(cell.runs == runs);
                BOOST_TEST(is_as_good(cell.grade, window.bar.at(one.cells.size() - 1)),
                           name_of(kind) << " is " << cell.grade);
            }
        }
    }
    BOOST_TEST(difference_from_file("docs/guarantees.md", guarantees_page(results)) == "");
}

BOOST_AUTO_TEST_CASE(of_500_answers_lost_on_each_platform_none_leads_to_a_second_post) {
    using Part = std::pair<std::size_t, std::vector<PlaceKind>>;
    const std::vector<Part> parts{{500, {PlaceKind::slack}}, {250, {kinds.begin() + 1, kinds.end()}}};
    std::map<std::string, std::map<std::string, std::size_t>>
        lost;  // by platform and what became of the answer
    for (const auto& [runs, results] : parts) {
        WindowTrial trial(server(), "lost_" + std::to_string(runs), runs, results);
        trial.plan();
        // By the last digit of the delivery's id: a quarter of them hangs.
        trial.platform().rules(
            R"([{"do": "apply_then_hang", "method": "POST", "times": -1, "body": "id(=|\":\")[0-9a-f-]{35}[0-3]"},
                {"do": "apply_then_reset", "method": "POST", "times": -1}])");
        trial.deliver(true);
        trial.platform().rules("[]");
        for (const auto& entry : trial.platform().log())
            if (!entry.made.empty()) ++lost[entry.path.substr(1, entry.path.find('/', 1) - 1)][entry.action];
        forge(trial);
        trial.settle();
        trial.heal();
        const auto scores = trial.scores();
        for (std::size_t i = 0; i < scores.size(); ++i)
            if (grade_of(scores[i]) != 'L' || scores[i].tried != 1)
                BOOST_ERROR(processor_json_of(trial.runs()[i].place)
                            << ": " << grade_of(scores[i]) << " after " << scores[i].tried << " requests");
        std::set<std::string> ours;
        std::size_t theirs = 0;
        for (const auto& comment : trial.platform().visible()) {
            if (comment.author == fake_platform::bot_login)
                ours.insert(comment.platform + remote_id_of(comment));
            if (comment.author == "mallory") ++theirs;
        }
        BOOST_TEST(ours.size() == scores.size());
        BOOST_TEST(theirs > scores.size() / 2);
        BOOST_TEST(trial.remote_ids() == ours, boost::test_tools::per_element());
    }
    for (const auto& [platform, answers] : lost) {
        std::size_t all = 0;
        for (const auto& [what, count] : answers) {
            BOOST_TEST(count >= 60U, platform << ": " << what);
            std::cout << platform << ": " << what << " " << count << std::endl;
            all += count;
        }
        BOOST_TEST(all >= 500U);
    }
    BOOST_TEST(lost.size() == 3U);
}
