#define BOOST_TEST_MODULE shell_command
#include "schemas/shell_command.h"

#include <boost/test/unit_test.hpp>

using namespace epilogue;

namespace {

/// "a [&&] b [|] c []"
std::string written(std::string_view command) {
    std::string text;
    for (const SimpleCommand& part : chain_of(command))
        text += (text.empty() ? "" : " ") + part.text + " [" + part.after + "]";
    return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_chain_is_parted_where_a_shell_parts_it) {
    BOOST_TEST(written("cd a && make -j4; ctest | tail -3 || true") ==
               "cd a [&&] make -j4 [;] ctest [|] tail -3 [||] true []");
    BOOST_TEST(written("one\ntwo\n\nthree &") == "one [;] two [;] three [&]");
    BOOST_TEST(written("") == "");
    BOOST_TEST(written(" ; && ") == "");
}

BOOST_AUTO_TEST_CASE(quotes_and_redirections_part_nothing) {
    BOOST_TEST(written("git commit -m 'a && b; c' && git push") ==
               "git commit -m 'a && b; c' [&&] git push []");
    BOOST_TEST(written("echo \"a \\\" | b\" | wc") == "echo \"a \\\" | b\" [|] wc []");
    BOOST_TEST(written("pytest 2>&1 | tail") == "pytest 2>&1 [|] tail []");
    BOOST_TEST(written("make &> log && cat log") == "make &> log [&&] cat log []");
    BOOST_TEST(written("echo 'open") == "echo 'open []");
    BOOST_TEST(written("echo a\\;b") == "echo a\\;b []");
}

BOOST_AUTO_TEST_CASE(the_text_of_a_here_document_is_no_command) {
    BOOST_TEST(written("cat > f <<'EOF'\nmake test\nEOF\nmake") == "cat > f <<'EOF' [;] make []");
    BOOST_TEST(written("cat <<END\nno end") == "cat <<END [;]");
}

BOOST_AUTO_TEST_CASE(words_lose_their_quotes_and_bare_ones_their_options) {
    const auto words = words_of("  FOO=1 sudo git -C dir \"push\" --force 'origin' ");
    BOOST_TEST(words.size() == 8U);
    BOOST_TEST((bare_words(words) == ShellWords{"git", "push", "origin"}));
    BOOST_TEST(bare_words(words_of("A=1")).empty());
}

BOOST_AUTO_TEST_CASE(a_plain_command_has_neither_assignments_nor_redirections) {
    BOOST_TEST(plain_command("CI=1 X=\"y\" pytest -q 2>&1") == "pytest -q");
    BOOST_TEST(plain_command("ctest > log") == "ctest");
    BOOST_TEST(plain_command("ctest &> log") == "ctest");
    BOOST_TEST(plain_command("echo 'a > b'") == "echo 'a > b'");
    BOOST_TEST(plain_command("CI=1") == "CI=1");
}
