#define BOOST_TEST_MODULE digest
#include "worker/core/digest.h"

#include <boost/test/unit_test.hpp>

using namespace epilogue;
using Result = Digest::Check::Result;

namespace {

Digest digest_of(const std::vector<Work>& work) {
    Digest digest;
    for (const Work& entry : work) add(digest, entry);
    return digest;
}

CommandEnded ran(std::string command, int exit_code, std::string output = "") {
    return {"c", exit_code, std::move(command), std::move(output), ""};
}

std::vector<std::string> paths_of(const Digest& digest) {
    std::vector<std::string> paths;
    for (const auto& file : digest.files) paths.push_back(file.path);
    return paths;
}

/// What still stands, as "subject: text".
std::vector<std::string> standing(const std::vector<Work>& work) {
    std::vector<std::string> told;
    for (const auto& problem : digest_of(work).problems)
        told.push_back(problem.subject + ": " + problem.text);
    return told;
}

/// One of each kind of work, its texts made from `number`.
std::vector<Work> day_of_work(int number) {
    const std::string id = std::to_string(number);
    return {CommandStarted{"c" + id, "pytest t" + id},
            ran("pytest t" + id, number % 3, id + " passed"),
            FileChanged{"src/" + id + ".cpp", FileChange::edited, LineChange{number, 1}},
            BranchMoved{"b" + id, "1a2b3c4", number % 2 == 0},
            RequestMade{"https://github.com/o/r/pull/" + id},
            ran("deploy " + id, 1, "error " + id),
            ErrorSeen{"e" + id, "it broke " + id},
            ToolSucceeded{}};
}

void add_days(Digest& digest, int days) {
    Digest::Order order = 0;
    for (int day = 0; day < days; ++day)
        for (const Work& work : day_of_work(day)) add(digest, work, ++order);
}

}  // namespace

BOOST_AUTO_TEST_CASE(adding_anything_twice_changes_nothing) {
    for (const int days : {5, 30, 200}) {
        Digest digest;
        Digest::Order order = 0;
        for (int day = 0; day < days; ++day)
            for (const Work& work : day_of_work(day)) {
                add(digest, work, ++order);
                const Digest once = digest;
                add(digest, work, order);
                BOOST_TEST((digest == once), day);
            }
        const Digest whole = digest;
        add_days(digest, days);
        BOOST_TEST((digest == whole), days);
    }
}

BOOST_AUTO_TEST_CASE(every_list_is_bounded_and_says_that_it_was_cut) {
    Digest digest;
    add_days(digest, 5);
    BOOST_TEST(!digest.cut);
    add_days(digest, 500);
    BOOST_TEST(digest.cut);
    BOOST_TEST(digest.files.size() == max_digest_files);
    BOOST_TEST(digest.checks.size() == max_digest_entries);
    BOOST_TEST(digest.links.size() == max_digest_entries);
    BOOST_TEST(digest.problems.size() <= max_digest_entries);
    BOOST_TEST(digest.branches.size() <= max_digest_entries);
}

BOOST_AUTO_TEST_CASE(of_many_checks_the_newest_are_kept) {
    Digest digest;
    add_days(digest, 100);
    BOOST_TEST(shown_checks(digest).front().text == "pytest t99");
}

BOOST_AUTO_TEST_CASE(every_text_is_bounded_and_cut_between_code_points) {
    const std::string text = std::string(max_digest_text_bytes - 1, 'x') + "\u00fc" + std::string(1000, 'y');
    const Digest digest = digest_of({FileChanged{text}, RequestMade{text}, ErrorSeen{"e", text}});
    const std::string truncated(max_digest_text_bytes - 1, 'x');
    BOOST_TEST(digest.files.at(0).path == truncated);
    BOOST_TEST(digest.links.at(0) == truncated);
    BOOST_TEST(digest.problems.at(0).text == truncated);
}

BOOST_AUTO_TEST_SUITE(files)

BOOST_AUTO_TEST_CASE(a_file_changed_often_is_one_file_with_all_its_lines) {
    const Digest digest =
        digest_of({FileChanged{"a", FileChange::created, LineChange{10, 0}}, FileChanged{"b"},
                   FileChanged{" a ", FileChange::edited, LineChange{2, 3}}, FileChanged{""}});
    BOOST_TEST(paths_of(digest) == (std::vector<std::string>{"a", "b"}));
    BOOST_TEST(digest.files[0].created);
    BOOST_TEST((digest.files[0].lines == LineChange{12, 3}));
}

BOOST_AUTO_TEST_CASE(one_edit_that_does_not_tell_its_lines_makes_them_unknown) {
    const Digest digest = digest_of({FileChanged{"a", FileChange::edited, LineChange{1, 0}}, FileChanged{"a"},
                                     FileChanged{"a", FileChange::edited, LineChange{1, 0}}});
    BOOST_TEST(!digest.files.at(0).lines.has_value());
}

BOOST_AUTO_TEST_CASE(paths_lose_the_shortest_folder_in_which_commands_ran) {
    Digest digest;
    for (const char* folder : {"/w/repo/src", "/w/repo", "/"})
        add(digest, CommandEnded{"c", 0, "ls", "", folder});
    BOOST_TEST(shortened(digest, "/w/repo/src/a.py") == "src/a.py");
    BOOST_TEST(shortened(digest, "/w/other/a.py") == "/w/other/a.py");
    BOOST_TEST(shortened(Digest{}, "/workspace/project/a.py") == "a.py");
    BOOST_TEST(shortened(Digest{}, "/workspace/app/a.py") == "app/a.py");
    BOOST_TEST(without_folders(digest, "no /w/repo/src/a.py in /w/repo/b") == "no a.py in b");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(checks)

BOOST_AUTO_TEST_CASE(the_last_result_of_a_command_counts_whatever_ran_before) {
    const Digest digest =
        digest_of({ran("pytest", 1, "1 failed"), ran("cd x && pytest 2>&1", 0, "5 passed")});
    BOOST_REQUIRE(digest.checks.size() == 1U);
    BOOST_TEST((digest.checks[0].result == Result::passed));
    BOOST_TEST(digest.checks[0].failed_before);
    BOOST_TEST((digest.checks[0].counts == TestCounts{5, 0, 0, false}));
}

BOOST_AUTO_TEST_CASE(an_older_result_changes_nothing_but_that_it_failed_once) {
    Digest digest;
    add(digest, ran("pytest", 0), 20);
    add(digest, ran("pytest", 1), 10);
    BOOST_TEST((digest.checks.at(0).result == Result::passed));
    BOOST_TEST(digest.checks[0].failed_before);
}

BOOST_AUTO_TEST_CASE(a_run_whose_end_was_not_seen_has_no_result) {
    const auto checks = shown_checks(digest_of({ran("pytest", 0), CommandStarted{"c2", "pytest"}}));
    BOOST_REQUIRE(checks.size() == 1U);
    BOOST_TEST((checks[0].result == Result::unknown));
}

BOOST_AUTO_TEST_CASE(the_same_words_in_another_folder_are_another_check) {
    const auto in = [](std::string folder, int exit_code) {
        return CommandEnded{"c", exit_code, "cd x && npm test", "", std::move(folder)};
    };
    const Digest digest = digest_of({in("/w/web", 1), in("/w/api", 0)});
    BOOST_TEST(shown_checks(digest).size() == 2U);
    BOOST_TEST(has_problems(digest));
    BOOST_TEST(!has_problems(digest_of({in("/w/web", 1), in("/w/api", 0), in("/w/web", 0)})));
}

BOOST_AUTO_TEST_CASE(a_piped_build_has_failed_when_its_output_says_so) {
    const auto result = [](std::string output) {
        return digest_of({ran("make | tail", 0, std::move(output))}).checks.at(0).result;
    };
    BOOST_TEST((result("make: *** [all] Error 2") == Result::failed));
    BOOST_TEST((result("a.cpp:1:1: error: no") == Result::failed));
    BOOST_TEST((result("done") == Result::unknown));
}

BOOST_AUTO_TEST_CASE(the_exit_code_of_a_pipe_is_not_that_of_the_tests) {
    BOOST_TEST((digest_of({ran("pytest | tail", 0, "x")}).checks.at(0).result == Result::unknown));
    BOOST_TEST(
        (digest_of({ran("pytest | tail", 0, "1 failed, 2 passed")}).checks.at(0).result == Result::failed));
    BOOST_TEST((digest_of({ran("pytest | tail", 0, "2 passed")}).checks.at(0).result == Result::passed));
    BOOST_TEST((digest_of({ran("pytest", -1, "1 failed, 4 passed")}).checks.at(0).result == Result::failed));
}

BOOST_AUTO_TEST_CASE(what_is_read_later_of_a_command_that_went_on_is_its_result) {
    const Digest digest = digest_of({CommandStarted{"c1", "pytest"}, ran("pytest", -1, "..."),
                                     ran("", -1, "..."), ran("", 0, "7 passed")});
    BOOST_REQUIRE(digest.checks.size() == 1U);
    BOOST_TEST((digest.checks[0].counts == TestCounts{7, 0, 0, false}));
    BOOST_TEST(digest.unfinished == "");
}

BOOST_AUTO_TEST_CASE(a_later_broader_run_covers_a_narrow_one) {
    const auto checks =
        shown_checks(digest_of({ran("pytest tests/a.py -x", 1), ran("pytest -q", 0, "9 passed")}));
    BOOST_REQUIRE(checks.size() == 1U);
    BOOST_TEST(checks[0].text == "pytest -q");
    BOOST_TEST(checks[0].failed_before);
    BOOST_TEST(shown_checks(digest_of({ran("pytest", 0), ran("pytest tests/a.py", 0)})).size() == 2U);
    BOOST_TEST(shown_checks(digest_of({ran("make test", 1), ran("make", 0)})).size() == 2U);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(problems)

using Texts = std::vector<std::string>;

BOOST_AUTO_TEST_CASE(an_error_stands_until_the_same_succeeds) {
    BOOST_TEST((standing({ran("npm ci", 1, "npm error x")}) == Texts{"npm ci: npm error x"}));
    BOOST_TEST(standing({ran("npm ci", 1, "error"), ran("npm ci --force", 0)}).empty());
    BOOST_TEST((standing({ran("npm ci", 1, "error"), ran("npm ls", 0)}).size() == 1U));
}

BOOST_AUTO_TEST_CASE(a_change_overcomes_what_failed_before_it_unless_that_was_to_leave_the_machine) {
    BOOST_TEST(standing({ran("python a.py", 1, "error"), FileChanged{"a.py"}}).empty());
    BOOST_TEST(
        (standing({ran("git push", 1, "fatal: no"), FileChanged{"a.py"}}) == Texts{"git push: fatal: no"}));
}

BOOST_AUTO_TEST_CASE(looking_for_what_is_not_there_is_no_error) {
    BOOST_TEST(standing({ran("grep -rn x src | head", 1), ran("ls /nowhere", 2, "ls: cannot access"),
                         ran("cd a && git diff --exit-code", 1), ran("sleep 9", 130), ran("make me", -1)})
                   .empty());
}

BOOST_AUTO_TEST_CASE(an_edit_that_failed_stands_until_that_file_is_changed) {
    const ErrorSeen failed{"e1", "No replacement was performed in /w/a.py.", true};
    BOOST_TEST((standing({failed}) == Texts{"/w/a.py: No replacement was performed in /w/a.py."}));
    BOOST_TEST((standing({failed, FileChanged{"/w/b.py"}, ran("cat a.py", 0)}).size() == 1U));
    BOOST_TEST(standing({failed, FileChanged{"/w/a.py"}}).empty());
    BOOST_TEST(standing({failed, ran("sed -i s/x/y/ a.py", 0)}).empty());
}

BOOST_AUTO_TEST_CASE(a_tools_error_stands_until_anything_succeeds_and_an_agents_slip_is_none) {
    const ErrorSeen broke{"e1", "The browser has crashed"};
    BOOST_TEST((standing({broke}).size() == 1U));
    BOOST_TEST(standing({broke, ToolSucceeded{}}).empty());
    BOOST_TEST(standing({broke, ran("ls", 0)}).empty());
    BOOST_TEST(standing({ErrorSeen{"e1", "Tool 'x' not found. Available: []"},
                         ErrorSeen{"e2", "Error validating args {} for tool 'finish'"}})
                   .empty());
}

BOOST_AUTO_TEST_CASE(what_is_read_again_does_not_stand_again) {
    Digest digest;
    const auto told = [&] {
        add(digest, ran("npm ci", 1, "error"), 10);
        add(digest, ran("npm ci", 0), 20);
    };
    told();
    add(digest, ran("npm ci", 1, "error"), 10);
    BOOST_TEST(digest.problems.empty());
}

BOOST_AUTO_TEST_CASE(a_turn_has_problems_when_its_last_tests_or_build_failed_or_an_error_stands) {
    BOOST_TEST(!has_problems(digest_of({})));
    BOOST_TEST(!has_problems(digest_of({ran("pytest", 1), ran("pytest", 0)})));
    BOOST_TEST(has_problems(digest_of({ran("pytest", 0), ran("pytest", 1)})));
    BOOST_TEST(has_problems(digest_of({ran("make", 2), ran("pytest", 0)})));
    BOOST_TEST(has_problems(digest_of({ran("pytest tests/a.py", 1), ran("pytest tests/b.py", 0)})));
    BOOST_TEST(!has_problems(digest_of({ran("pytest", 1), ran("pytest tests/a.py", 0)})));
    BOOST_TEST(has_problems(digest_of({ran("npm ci", 1)})));
    BOOST_TEST(has_problems(digest_of({OutcomeSaid{false}})));
    BOOST_TEST(!has_problems(digest_of({OutcomeSaid{false}, OutcomeSaid{true}})));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE(the_rest)

BOOST_AUTO_TEST_CASE(of_a_branch_the_newest_hash_is_kept) {
    Digest digest;
    add(digest, BranchMoved{"a", "2222222", false}, 20);
    add(digest, BranchMoved{"a", "1111111", false}, 10);
    add(digest, BranchMoved{"a", "", true}, 30);
    BOOST_REQUIRE(digest.branches.size() == 1U);
    BOOST_TEST(digest.branches[0].hash == "2222222");
    BOOST_TEST(digest.branches[0].is_pushed);
}

BOOST_AUTO_TEST_CASE(steps_are_counted_once_and_the_newest_are_kept) {
    Digest digest;
    for (int i = 1; i <= 20; ++i) {
        note_step(digest, "step " + std::to_string(i), i);
        note_step(digest, "step " + std::to_string(i), i);
    }
    note_step(digest, "step 3", 3);
    BOOST_TEST(digest.figures.steps == 20);
    BOOST_TEST(digest.steps.back().text == "step 20");
    BOOST_TEST(digest.steps.size() <= max_digest_entries);
}

BOOST_AUTO_TEST_CASE(all_orders_move_with_the_zone) {
    Digest digest;
    add_days(digest, 3);
    note_step(digest, "ls", 90);
    Digest moved = digest;
    shift(moved, 1000);
    BOOST_TEST(moved.newest == digest.newest + 1000);
    BOOST_TEST(moved.files[0].order == digest.files[0].order + 1000);
    shift(moved, -1000);
    BOOST_TEST((moved == digest));
}

BOOST_AUTO_TEST_CASE(secrets_are_taken_out) {
    const std::string token = "ghp_" + std::string("0123456789abcdefghijABCDEFGHIJ012345");
    const Digest digest = digest_of({FileChanged{token}, ran("deploy " + token, 1, "error " + token),
                                     ran("pytest " + token, 1, "FAILED " + token), TaskRefused{token}});
    BOOST_TEST(digest.files[0].path.find("ghp_") == std::string::npos);
    BOOST_TEST(digest.problems.at(0).subject.find("ghp_") == std::string::npos);
    BOOST_TEST(digest.problems[0].text.find("ghp_") == std::string::npos);
    BOOST_TEST(digest.checks.at(0).text.find("ghp_") == std::string::npos);
    BOOST_TEST(digest.checks[0].error.find("ghp_") == std::string::npos);
    BOOST_TEST(digest.refusal.find("ghp_") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
