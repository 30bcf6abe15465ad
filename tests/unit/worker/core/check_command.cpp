#define BOOST_TEST_MODULE check_command
#include "worker/core/check_command.h"

#include <boost/test/unit_test.hpp>

using namespace epilogue;

namespace {

std::string text_in(std::string_view command) {
    const auto check = check_in(command);
    return check ? check->text : "none";
}

}  // namespace

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
                                "npm run test:unit",
                                "yarn test",
                                "pnpm test",
                                "npx jest src",
                                "npx vitest run",
                                "mvn test",
                                "mvn -q verify",
                                "gradle test",
                                "./gradlew test --info",
                                "make test",
                                "make -C build check",
                                "make check -j4",
                                "bundle exec rspec",
                                "vendor/bin/phpunit",
                                "node_modules/.bin/jest",
                                "timeout 60 pytest",
                                "dotnet test",
                                "cd /workspace/project && pytest -q",
                                "cd build && cmake .. && ctest",
                                "CI=1 PYTHONPATH=. pytest",
                                "CI=1 uv run python -m pytest",
                                "sudo make check",
                                "time make test",
                                "cmake --build build && ctest"}) {
        const auto check = check_in(command);
        BOOST_REQUIRE_MESSAGE(check.has_value(), command);
        BOOST_TEST((check->kind == CheckKind::test), command);
    }
}

BOOST_AUTO_TEST_CASE(commands_that_build_are_recognised) {
    for (const char* command :
         {"make", "make -j4", "make all", "ninja -C build", "cmake --build build", "cargo build",
          "cargo clippy", "go build ./...", "go vet ./...", "npm run build", "npx tsc --noEmit",
          "mvn package", "./gradlew build", "docker build -t x .", "cd a && make"}) {
        const auto check = check_in(command);
        BOOST_REQUIRE_MESSAGE(check.has_value(), command);
        BOOST_TEST((check->kind == CheckKind::build), command);
    }
}

BOOST_AUTO_TEST_CASE(other_commands_are_neither) {
    for (const char* command :
         {"", "ls", "cat pytest.ini", "grep -rn 'go test' .", "echo pytest", "pip install pytest", "pytestx",
          "makefoo", "make clean", "make install", "pytest --version", "pytest --collect-only",
          "git commit -m 'make test'", "ps aux | make", "cat > t.sh <<EOF\npytest\nEOF", "npm install",
          "vim Makefile"})
        BOOST_TEST(!check_in(command).has_value(), command);
}

BOOST_AUTO_TEST_CASE(the_same_run_has_the_same_text_whatever_stands_around_it) {
    for (const char* command : {"pytest -q", "cd /w && pytest -q", "CI=1 pytest -q 2>&1 | tail -20",
                                "pytest -q > log", "source venv/bin/activate; pytest -q"})
        BOOST_TEST(text_in(command) == "pytest -q", command);
    BOOST_TEST(text_in("cmake --build b && ctest -j4 | tail") == "cmake --build b && ctest -j4");
}

BOOST_AUTO_TEST_CASE(the_exit_code_tells_when_it_is_that_of_the_run) {
    for (const char* command :
         {"pytest", "cd a && pytest", "pytest; ", "pytest && git add -A", "set -o pipefail; pytest | tail"})
        BOOST_TEST(check_in(command)->exit_tells, command);
    for (const char* command : {"pytest | tail", "pytest || true", "pytest; echo done", "pytest &"})
        BOOST_TEST(!check_in(command)->exit_tells, command);
}
