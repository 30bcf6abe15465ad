// `epilogue demo --real` as a newcomer runs it: a real agent's own words arrive once, and nothing is left
// behind.
#define BOOST_TEST_MODULE agent_real_demo
#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include <boost/test/unit_test.hpp>
#include <signal.h>

#include "base/ids.h"
#include "base/process/database_server.h"
#include "base/process/programs.h"
#include "tests/agent/real_server.h"
#include "tests/support/demo_process.h"
#include "tests/support/eventually.h"
#include "tests/support/requirements.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;

struct WithMariaDb {
    WithMariaDb() { require_programs(epilogue::process::maria_programs()); }
};
BOOST_TEST_GLOBAL_FIXTURE(WithMariaDb);

/// On a crowded machine an agent server takes minutes to load.
constexpr auto ends_within = 400s;

std::vector<std::string> real_demo() {
    return demo_command({"--real", "--agent-server", real_server_environment(wanted_version())});
}

/// A shell whose terminal has gone takes a moment to end.
void require_nothing_left(const DemoProcess& demo) {
    std::vector<std::string> left;
    try {
        eventually("nothing is left", 10s, [&] { return (left = demo.left_behind()).empty(); });
    } catch (const GaveUp&) {
        for (const std::string& each : left) BOOST_TEST(each == "");
    }
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_real_agents_end_arrives_once_and_an_interrupted_demo_leaves_nothing_behind) {
    // Side by side: what takes time is the start of the servers.
    DemoProcess whole(real_demo());
    DemoProcess interrupted(real_demo());

    eventually("the agent works", ends_within, [&] {
        BOOST_REQUIRE_MESSAGE(interrupted.process().running(),
                              interrupted.out() + interrupted.process().err());
        return contains(interrupted.out(), "> terminal cat total.sh");
    });
    interrupted.process().signal(SIGINT);
    BOOST_TEST(interrupted.ended() == 1);
    BOOST_TEST(contains(interrupted.process().err(), "interrupted"), interrupted.process().err());
    BOOST_TEST(!contains(interrupted.out(), "epilogue-bot commented"), interrupted.out());
    require_nothing_left(interrupted);

    const int status = whole.ended(ends_within);
    const std::string out = whole.out();
    BOOST_TEST(status == 0, out + whole.process().err());
    const DemoTable table = demo_table(out);
    BOOST_TEST(table.conversations == 1);
    BOOST_TEST(table.turns == 1);
    BOOST_TEST(table.posts == 1);
    BOOST_TEST(table.duplicates == 0);
    BOOST_TEST(table.lost == 0);
    BOOST_TEST(count(out, "epilogue-bot commented on C0TOTAL, thread ") == 1U, out);
    // What the agent really did, as it came through the topic, before its post.
    const auto failed = out.find("FAIL: 45");
    const auto passed = out.find("PASS");
    const auto finished = out.find("[finished]");
    const auto posted = out.find("epilogue-bot commented");
    BOOST_TEST((failed < passed && passed < finished && finished != std::string::npos), out);
    BOOST_TEST((passed < posted && posted != std::string::npos), out);
    // A line of the post is broken where it suits the terminal.
    const std::string post = out.substr(std::min(posted, out.size()));
    for (const char* words : {"**Finished**", "The loop in total.sh stopped at 9.", "the total is 55."})
        BOOST_TEST(contains(post, words), post);
    BOOST_TEST(!contains(out, "\x1b"), "an escape code in a file");
    require_nothing_left(whole);
}

BOOST_AUTO_TEST_CASE(kept_running_it_answers_at_the_printed_addresses_until_it_is_interrupted) {
    auto command = real_demo();
    command.emplace_back("--keep");
    DemoProcess demo(command);
    std::smatch found;
    eventually("the commands are printed", ends_within, [&] {
        BOOST_REQUIRE_MESSAGE(demo.process().running(), demo.out() + demo.process().err());
        const std::string out = demo.out();
        return std::regex_search(out, std::regex("conversations run \\S+ --config \\S+\n"));
    });
    const std::string out = demo.out();
    BOOST_REQUIRE(std::regex_search(out, found, std::regex("conversations run (\\S+) --config (\\S+)")));
    const auto status =
        run({{EPILOGUE_BINARY_DIR "/bin/epilogue", "relay", "status", "--json", "--config", found[2].str()}},
            patience);
    BOOST_TEST(status.status == 0, status.err);
    BOOST_TEST(contains(status.out, epilogue::normalise_conversation_id(found[1].str()).text()), status.out);
    demo.process().signal(SIGINT);
    BOOST_TEST(demo.ended() == 0);
    require_nothing_left(demo);
}

BOOST_AUTO_TEST_CASE(without_an_agent_server_it_says_how_to_get_one) {
    const TempDir none;
    DemoProcess demo(demo_command({"--real"}), {{"EPILOGUE_AGENT_SERVERS", none.path()}});
    BOOST_TEST(demo.ended() == 69);
    BOOST_TEST(demo.out() == "");
    for (const char* what :
         {"ops/demo --real", "Python 3.12 or newer", "bin/pip install openhands-agent-server=="})
        BOOST_TEST(contains(demo.process().err(), what), demo.process().err());
    require_nothing_left(demo);
}

BOOST_AUTO_TEST_CASE(an_agent_server_that_ends_at_once_fails_it_with_what_it_said) {
    namespace fs = std::filesystem;
    const TempDir environment;
    fs::create_directories(environment.path() / "bin");
    fs::create_symlink(epilogue::process::find_program("python3"), environment.path() / "bin" / "python");
    const auto program = environment.path() / "bin" / "agent-server";
    std::ofstream(program) << "#!/bin/sh\necho 'no module named openhands' >&2\nexit 3\n";
    fs::permissions(program, fs::perms::owner_all);
    DemoProcess demo(demo_command({"--real", "--agent-server", environment.path()}));
    BOOST_TEST(demo.ended() == 1);
    BOOST_TEST(
        contains(demo.process().err(), "the agent server has ended. It said:\nno module named openhands"),
        demo.process().err());
    require_nothing_left(demo);
}
