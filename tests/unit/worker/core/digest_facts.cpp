#define BOOST_TEST_MODULE digest_facts
#include "worker/core/digest_facts.h"

#include <boost/test/unit_test.hpp>

using namespace epilogue;

namespace {

TurnEnd turn_with(const std::vector<Work>& work, Verdict verdict = Verdict::finished) {
    TurnEnd turn;
    turn.turn_key = TurnKey("t1");
    turn.verdict = verdict;
    for (const Work& entry : work) add(turn.digest, entry);
    return turn;
}

std::string facts_for(const std::vector<Work>& work, Verdict verdict = Verdict::finished) {
    return facts_of(turn_with(work, verdict), {});
}

CommandEnded ran(std::string command, int exit_code, std::string output = "", std::string folder = "") {
    return {"c", exit_code, std::move(command), std::move(output), std::move(folder)};
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_turn_in_which_nothing_happened_has_no_facts) {
    BOOST_TEST(facts_for({}) == "");
    BOOST_TEST(facts_for({ran("ls", 0), ran("grep x y", 1), ToolSucceeded{}}) == "");
}

BOOST_AUTO_TEST_CASE(created_edited_and_deleted_files_are_told_apart_with_their_lines) {
    BOOST_TEST(
        facts_for({ran("ls", 0, "", "/w"), FileChanged{"/w/a.py", FileChange::edited, LineChange{3, 1}},
                   FileChanged{"/w/b.py", FileChange::created, LineChange{9, 0}},
                   FileChanged{"/w/c.py", FileChange::deleted}, FileChanged{"/other/d.py"}}) ==
        "- Changed: `a.py` (+3 −1), `b.py` (new, +9), `c.py` (deleted), `/other/d.py`");
}

BOOST_AUTO_TEST_CASE(a_file_made_and_deleted_again_is_none) {
    BOOST_TEST(facts_for({FileChanged{"t.py", FileChange::created},
                          FileChanged{"t.py", FileChange::deleted}}) == "");
}

BOOST_AUTO_TEST_CASE(more_than_eight_files_are_told_by_folder) {
    std::vector<Work> work;
    for (int i = 0; i < 6; ++i)
        work.emplace_back(FileChanged{"src/a" + std::to_string(i), FileChange::edited, LineChange{2, 1}});
    for (int i = 0; i < 3; ++i)
        work.emplace_back(FileChanged{"tests/b" + std::to_string(i), FileChange::created, LineChange{5, 0}});
    work.emplace_back(FileChanged{"README.md", FileChange::deleted});
    BOOST_TEST(facts_for(work) ==
               "- Changed 10 files (3 new, 6 edited, 1 deleted, +27 −6): `src/` 6, `tests/` 3, `./` 1");
}

BOOST_AUTO_TEST_CASE(
    lines_of_many_files_are_told_only_where_all_are_known_and_without_those_of_deleted_ones) {
    std::vector<Work> work;
    for (int i = 0; i < 9; ++i)
        work.emplace_back(FileChanged{"src/a" + std::to_string(i), FileChange::edited, LineChange{2, 1}});
    work.emplace_back(FileChanged{"src/b", FileChange::edited, LineChange{40, 30}});
    work.emplace_back(FileChanged{"src/b", FileChange::deleted, LineChange{0, 70}});
    BOOST_TEST(facts_for(work) == "- Changed 10 files (9 edited, 1 deleted, +18 −9): `src/` 10");
    work.emplace_back(FileChanged{"src/c", FileChange::edited});
    BOOST_TEST(facts_for(work) == "- Changed 11 files (10 edited, 1 deleted): `src/` 11");
}

BOOST_AUTO_TEST_CASE(lines_of_more_files_than_are_kept_are_not_told) {
    std::vector<Work> work;
    for (int i = 0; i < 150; ++i)
        work.emplace_back(FileChanged{"src/a" + std::to_string(i), FileChange::edited, LineChange{1, 0}});
    BOOST_TEST(has(facts_for(work), "- Changed 100+ files (100 edited): `src/` 100"));
}

BOOST_AUTO_TEST_CASE(more_files_than_are_kept_are_told_as_at_least) {
    std::vector<Work> work;
    for (int i = 0; i < 150; ++i) work.emplace_back(FileChanged{"src/a" + std::to_string(i)});
    BOOST_TEST(has(facts_for(work), "- Changed 100+ files (100 edited): `src/` 100"));
}

BOOST_AUTO_TEST_CASE(each_check_has_one_line_with_its_last_result) {
    BOOST_TEST(
        facts_for({ran("pytest -q", 1, "1 failed, 4 passed"), ran("make", 0), ran("pytest -q", 0, "5 passed"),
                   ran("ctest | tail", 0, "nothing to see"), ran("cargo test", 101)}) ==
        "- Tests: `cargo test` failed (exit code 101)\n"
        "- Tests: `ctest` no result seen\n"
        "- Tests: `pytest -q` 5 passed (fixed: failed before)\n"
        "- Build: `make` passed\n"
        "- Next: have the agent go on with what fails, or look at it before you use the result.");
}

BOOST_AUTO_TEST_CASE(a_failing_check_says_why_where_its_output_does) {
    const std::string facts =
        facts_for({ran("pytest", 1, "FAILED tests/a.py::test_b - assert 1 == 2\n1 failed, 4 passed in 1s")});
    BOOST_TEST(has(facts, "- Tests: `pytest` 1 failed, 4 passed\n"), facts);
    BOOST_TEST(has(facts, "- Problem: `pytest`: `FAILED tests/a.py::test_b - assert 1 == 2`\n"), facts);
}

BOOST_AUTO_TEST_CASE(at_most_three_problems_the_newest_are_told) {
    std::vector<Work> work;
    for (int i = 0; i < 5; ++i)
        work.emplace_back(ran("tool" + std::to_string(i), 1, "error " + std::to_string(i)));
    const std::string facts = facts_for(work);
    BOOST_TEST(
        has(facts,
            "- Problem: `tool4`: `error 4`\n- Problem: `tool3`: `error 3`\n- Problem: `tool2`: `error 2`\n"),
        facts);
    BOOST_TEST(!has(facts, "tool1"), facts);
}

BOOST_AUTO_TEST_CASE(commits_and_pushes_name_branch_and_hash) {
    BOOST_TEST(facts_for({BranchMoved{"a", "1111111", false}}) ==
               "- Committed: `1111111` on `a`, not pushed");
    BOOST_TEST(facts_for({BranchMoved{"a", "1111111", false}, BranchMoved{"a", "2222222", false},
                          BranchMoved{"a", "", true}}) == "- Committed and pushed: `2222222` on `a`");
    BOOST_TEST(facts_for({BranchMoved{"a", "", true}, BranchMoved{"b", "3333333", true}}) ==
               "- Pushed: `a`\n- Pushed: `3333333` on `b`");
}

BOOST_AUTO_TEST_CASE(next_steps_go_by_the_verdict) {
    const std::vector<std::pair<Verdict, std::string>> steps{
        {Verdict::error, "tell the agent to go on; if it fails again"},
        {Verdict::stuck, "tell the agent what to do differently"},
        {Verdict::timeout, "open the conversation and see"}};
    for (const auto& [verdict, step] : steps) {
        const std::string facts = facts_for({}, verdict);
        BOOST_TEST(has(facts, "- Next: " + step), facts);
    }
    for (const Verdict verdict : {Verdict::finished, Verdict::awaiting_user_input, Verdict::stopped})
        BOOST_TEST(!has(facts_for({}, verdict), "- Next:"));
}

BOOST_AUTO_TEST_CASE(next_steps_in_the_agents_words_are_not_repeated) {
    const TurnEnd turn = turn_with({ran("pytest", 1)});
    BOOST_TEST(has(facts_of(turn, {.words = "Done."}), "- Next:"));
    BOOST_TEST(!has(facts_of(turn, {.words = "Done.\n\nNext steps: fix it"}), "- Next:"));
}

BOOST_AUTO_TEST_CASE(a_stuck_turn_names_what_was_repeated) {
    TurnEnd turn = turn_with({}, Verdict::stuck);
    for (int i = 0; i < 4; ++i) note_step(turn.digest, i % 2 == 0 ? "ls" : "cat `x`", i + 1);
    BOOST_TEST(has(facts_of(turn, {}), "- Repeated without getting further: `ls`, `cat 'x'`\n"));
    TurnEnd silent = turn_with({}, Verdict::stuck);
    note_step(silent.digest, "", 1);
    BOOST_TEST(has(facts_of(silent, {}), "gave no usable answer"));
    BOOST_TEST(!has(facts_for({}, Verdict::stuck), "gave no usable answer"));
}

BOOST_AUTO_TEST_CASE(a_refused_task_has_its_reason_and_a_broken_off_one_its_last_step) {
    BOOST_TEST(facts_for({TaskRefused{"no access"}}, Verdict::rejected) ==
               "The agent refused the task.\n\n- Reason: `no access`");
    TurnEnd turn = turn_with({}, Verdict::stopped);
    note_step(turn.digest, "sleep 100", 1);
    BOOST_TEST(facts_of(turn, {}) ==
               "The conversation was stopped before the agent was done.\n\n- Last step seen: `sleep 100`");
}

BOOST_AUTO_TEST_CASE(figures_are_told_when_they_are_wanted) {
    TurnEnd turn = turn_with({});
    turn.digest.figures = {14, std::nullopt, UsageTold{1234567, 12000, 345}, 252};
    BOOST_TEST(facts_of(turn, {}) == "");
    BOOST_TEST(facts_of(turn, {.figures = true}) ==
               "- Took 4 min 12 s, 14 steps, 12000 tokens in, 345 out, $1.23");
    turn.digest.figures = {1, std::nullopt, UsageTold{}, 7260};
    BOOST_TEST(facts_of(turn, {.figures = true}) == "- Took 2 h 1 min, 1 step");
    turn.digest.figures = {};
    BOOST_TEST(facts_of(turn, {.figures = true}) == "");
}

BOOST_AUTO_TEST_CASE(the_facts_of_the_fullest_digest_are_bounded) {
    std::vector<Work> work;
    for (int i = 0; i < 200; ++i) {
        const std::string text = std::to_string(i) + std::string(1000, 'x');
        work.emplace_back(FileChanged{text + "/f"});
        work.emplace_back(ran("pytest " + text, 1, "error " + text));
        work.emplace_back(ran("run" + text, 1, "error " + text));
        work.emplace_back(BranchMoved{text, "1111111", false});
        work.emplace_back(RequestMade{"https://x/" + text});
    }
    for (const Verdict verdict : all_verdicts())
        BOOST_TEST(facts_for(work, verdict).size() <= max_facts_bytes);
}

BOOST_AUTO_TEST_CASE(the_gist_is_a_few_words) {
    BOOST_TEST(gist_of(turn_with({}), Language::english) == "");
    const TurnEnd turn = turn_with({FileChanged{"a"}, ran("pytest", 0), RequestMade{"https://x/pull/1"}});
    BOOST_TEST(gist_of(turn, Language::english) == "1 file changed, tests pass, pull request made");
    BOOST_TEST(gist_of(turn_with({FileChanged{"a"}, FileChanged{"b"}, ran("pytest", 1)}), Language::german) ==
               "2 Dateien geändert, Tests schlagen fehl");
}
