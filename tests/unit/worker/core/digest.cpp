#define BOOST_TEST_MODULE digest
#include "worker/core/digest.h"

#include <boost/test/unit_test.hpp>

#include "base/text.h"

using namespace epilogue;

namespace {

Digest digest_of(const std::vector<Work>& work) {
    Digest digest;
    for (const Work& entry : work) add(digest, entry);
    return digest;
}

/// One of each kind of work, its id or path made from `number`.
std::vector<Work> day_of_work(int number) {
    const std::string id = std::to_string(number);
    return {CommandStarted{"c" + id, "make -j" + id}, CommandEnded{"c" + id, number % 3},
            FileChanged{"src/" + id + ".cpp"}, RequestMade{"https://github.com/o/r/pull/" + id},
            ErrorSeen{"e" + id, "no such tool " + id}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_was_done_is_kept_in_the_order_it_was_told) {
    const Digest digest =
        digest_of({FileChanged{"b.txt"}, CommandStarted{"c1", "ls"}, FileChanged{"a.txt"},
                   CommandStarted{"c2", "pytest -q"}, CommandEnded{"c2", 1},
                   RequestMade{"https://github.com/o/r/pull/7"}, ErrorSeen{"e1", "no tool"}});
    BOOST_TEST(digest.files == (std::vector<std::string>{"b.txt", "a.txt"}));
    BOOST_REQUIRE(digest.commands.size() == 2U);
    BOOST_TEST((digest.commands[0] == Digest::Command{"c1", "ls", false, std::nullopt}));
    BOOST_TEST((digest.commands[1] == Digest::Command{"c2", "pytest -q", true, 1}));
    BOOST_TEST(digest.links == std::vector<std::string>{"https://github.com/o/r/pull/7"});
    BOOST_REQUIRE(digest.errors.size() == 1U);
    BOOST_TEST((digest.errors[0] == Digest::ReportedError{"e1", "no tool"}));
    BOOST_TEST(!digest.cut);
}

BOOST_AUTO_TEST_CASE(adding_anything_twice_changes_nothing) {
    Digest digest;
    for (int day = 0; day < 2 * static_cast<int>(max_digest_entries); ++day)
        for (const Work& work : day_of_work(day)) {
            add(digest, work);
            const Digest once = digest;
            add(digest, work);
            BOOST_TEST((digest == once));
        }
    const Digest whole = digest;
    for (int day = 0; day < 2 * static_cast<int>(max_digest_entries); ++day)
        for (const Work& work : day_of_work(day)) add(digest, work);
    BOOST_TEST((digest == whole));
}

BOOST_AUTO_TEST_CASE(every_list_is_bounded_and_says_that_it_was_cut) {
    Digest digest;
    for (int day = 0; day < static_cast<int>(max_digest_entries); ++day)
        for (const Work& work : day_of_work(day)) add(digest, work);
    BOOST_TEST(!digest.cut);
    for (const Work& work : day_of_work(1000)) {
        Digest more = digest;
        add(more, work);
        BOOST_TEST(more.files.size() == max_digest_entries);
        BOOST_TEST(more.commands.size() == max_digest_entries);
        BOOST_TEST(more.links.size() == max_digest_entries);
        BOOST_TEST(more.errors.size() == max_digest_entries);
        BOOST_TEST(more.cut == !std::holds_alternative<CommandEnded>(work));
    }
}

BOOST_AUTO_TEST_CASE(every_entry_is_bounded_and_cut_between_code_points) {
    const std::string text = std::string(max_digest_text_bytes - 1, 'x') + "\u00fc" + std::string(1000, 'y');
    const Digest digest =
        digest_of({FileChanged{text}, CommandStarted{"c", text}, RequestMade{text}, ErrorSeen{"e", text}});
    const std::string fitted(max_digest_text_bytes - 1, 'x');
    BOOST_TEST(digest.files.at(0) == fitted);
    BOOST_TEST(digest.commands.at(0).text == fitted);
    BOOST_TEST(digest.links.at(0) == fitted);
    BOOST_TEST(digest.errors.at(0).text == fitted);
}

BOOST_AUTO_TEST_CASE(a_file_changed_often_is_one_file) {
    const Digest digest =
        digest_of({FileChanged{"a"}, FileChanged{"b"}, FileChanged{" a "}, FileChanged{""}});
    BOOST_TEST(digest.files == (std::vector<std::string>{"a", "b"}));
}

BOOST_AUTO_TEST_CASE(the_same_command_run_twice_is_two_commands) {
    const Digest digest = digest_of({CommandStarted{"c1", "make"}, CommandEnded{"c1", 2},
                                     CommandStarted{"c2", "make"}, CommandEnded{"c2", 0}});
    BOOST_REQUIRE(digest.commands.size() == 2U);
    BOOST_TEST(digest.commands[0].exit_code.value_or(-1) == 2);
    BOOST_TEST(digest.commands[1].exit_code.value_or(-1) == 0);
}

BOOST_AUTO_TEST_CASE(the_result_of_a_command_that_was_not_seen_is_left_out) {
    BOOST_TEST((digest_of({CommandEnded{"c1", 2}}) == Digest{}));
}

BOOST_AUTO_TEST_CASE(a_long_command_is_judged_by_all_of_it) {
    const Digest digest = digest_of({CommandStarted{"c", "cd " + std::string(400, 'd') + " && pytest"}});
    BOOST_TEST(digest.commands.at(0).is_test);
}

BOOST_AUTO_TEST_CASE(commands_that_run_a_test_suite_are_recognised) {
    for (const char* command : {"pytest",
                                "pytest -q tests/",
                                "py.test -x",
                                "python -m pytest --lf",
                                "python3 -m pytest",
                                "python -m unittest discover",
                                "uv run pytest -q",
                                "poetry run pytest",
                                "tox",
                                "nox -s tests",
                                "ctest --output-on-failure",
                                "go test ./...",
                                "gotestsum --format testname",
                                "cargo test --all",
                                "cargo nextest run",
                                "npm test",
                                "npm run test -- --watch=false",
                                "yarn test",
                                "pnpm test",
                                "npx jest src",
                                "npx vitest run",
                                "mvn test",
                                "mvn verify -q",
                                "gradle test",
                                "./gradlew test --info",
                                "make test",
                                "make check -j4",
                                "bundle exec rspec",
                                "vendor/bin/phpunit; phpunit",
                                "cd /workspace/project && pytest -q",
                                "cd build && cmake .. && ctest",
                                "CI=1 PYTHONPATH=. pytest",
                                "CI=1 uv run python -m pytest",
                                "sudo make check",
                                "time make test",
                                "pytest -q 2>&1 | tail -5",
                                "pytest|tail",
                                "true; pytest",
                                "false || npm test",
                                "git pull\ngo test ./...",
                                "  pytest  "})
        BOOST_TEST(runs_tests(command), command);
}

BOOST_AUTO_TEST_CASE(other_commands_are_not_taken_for_tests) {
    for (const char* command : {"",
                                " ; && ",
                                "ls",
                                "make",
                                "make testing-image",
                                "cat pytest.ini",
                                "pip install pytest",
                                "which pytest",
                                "grep -r pytest .",
                                "echo npm test",
                                "cd tests",
                                "vim tests/test_a.py",
                                "go build ./...",
                                "cargo build",
                                "npm install",
                                "git commit -m tests",
                                "pytestify",
                                "test -f a.txt",
                                "CI=1",
                                "python -m http.server",
                                "mvn package",
                                "toxiproxy-server"})
        BOOST_TEST(!runs_tests(command), command);
}
