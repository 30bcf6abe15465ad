// `epilogue demo` as a newcomer runs it: what it shows, what its count is worth, and that it leaves nothing.
#define BOOST_TEST_MODULE demo
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>
#include <signal.h>
#include <unistd.h>

#include "base/process/database_server.h"
#include "base/process/programs.h"
#include "tests/support/demo_process.h"
#include "tests/support/eventually.h"
#include "tests/support/process.h"
#include "tests/support/requirements.h"
#include "tests/support/temp_dir.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;

const std::string executable = EPILOGUE_BINARY_DIR "/bin/epilogue";
constexpr auto one_minute = 60s;

struct WithMariaDb {
    WithMariaDb() { require_programs(epilogue::process::maria_programs()); }
};
BOOST_TEST_GLOBAL_FIXTURE(WithMariaDb);

/// The demo on a terminal.
std::vector<std::string> on_a_terminal() {
    return {"script", "--quiet", "--return", "--command", "'" + executable + "' demo", "/dev/null"};
}

void require_nothing_left(const DemoProcess& demo) {
    for (const std::string& left : demo.left_behind()) BOOST_TEST(left == "");
}

/// A machine as `ops/demo` and `bench/run` see it from an account without rights: some packages are missing,
/// and there is no sudo. Of the programs there are those that the script needs to find that out.
class UnprivilegedMachine {
  public:
    explicit UnprivilegedMachine(const std::vector<std::string>& missing) {
        namespace fs = std::filesystem;
        fs::permissions(folder_.path(), fs::perms::all);  // also for the account without rights
        fs::create_directories(folder_.path() / "bin");
        fs::create_directories(folder_.path() / "ops");
        for (const char* part : {"demo", "setup", "packages", "agent_server"})
            fs::copy(fs::path(EPILOGUE_SOURCE_DIR) / "ops" / part, folder_.path() / "ops" / part,
                     fs::copy_options::recursive);
        fs::create_directories(folder_.path() / "bench");
        fs::copy(fs::path(EPILOGUE_SOURCE_DIR) / "bench" / "run", folder_.path() / "bench" / "run");
        for (const char* program : {"awk", "bash", "cmp", "dirname", "env", "flock", "mkdir", "rm", "sed"})
            fs::create_symlink(epilogue::process::find_program(program), folder_.path() / "bin" / program);
        std::string names;
        for (const std::string& name : missing) names += (names.empty() ? "" : "|") + name;
        script("dpkg-query", "case $3 in " + names + ") exit 1 ;; esac\nprintf installed");
        for (const char* fetched : {"librdkafka", "secret-rules"}) {
            fs::create_directories(folder_.path() / "ops" / fetched);
            write_script(folder_.path() / "ops" / fetched / "fetch", "exit 0");
        }
        script("apt-get", ": >\"" + (folder_.path() / "apt-was-run").string() + "\"");
    }

    Finished run_demo(const std::vector<std::string>& options = {}) const {
        return run_script("ops/demo", options);
    }
    Finished run_script(const std::string& name, const std::vector<std::string>& options = {}) const {
        Command command{.argv = {(folder_.path() / name).string()},
                        .environment = {{"PATH", (folder_.path() / "bin").string()},
                                        {"PYENV_ROOT", folder_.path().string()},
                                        {"EPILOGUE_AGENT_SERVERS", (folder_.path() / "servers").string()}}};
        constexpr const char* no_account = "65534";
        if (::geteuid() == 0)
            command.argv = {epilogue::process::find_program("setpriv").string(),
                            "--reuid",
                            no_account,
                            "--regid",
                            no_account,
                            "--clear-groups",
                            command.argv.front()};
        command.argv.insert(command.argv.end(), options.begin(), options.end());
        return run(command, one_minute);
    }
    bool was_apt_run() const { return std::filesystem::exists(folder_.path() / "apt-was-run"); }

  private:
    void script(const std::string& name, const std::string& text) const {
        write_script(folder_.path() / "bin" / name, text);
    }
    static void write_script(const std::filesystem::path& file, const std::string& text) {
        std::ofstream(file) << "#!" << epilogue::process::find_program("sh").string() << "\n" << text << "\n";
        std::filesystem::permissions(file, std::filesystem::perms::all);
    }

    TempDir folder_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(each_post_is_shown_once_and_nothing_is_left_behind) {
    DemoProcess demo(on_a_terminal(), {{"NO_COLOR", "1"}, {"TERM", "xterm"}});
    BOOST_TEST(demo.ended() == 0);
    const std::string out = demo.out();
    const DemoTable table = demo_table(out);
    BOOST_TEST(table.conversations >= 10);
    BOOST_TEST(table.turns > table.conversations);
    BOOST_TEST(table.posts == table.turns);
    BOOST_TEST(table.duplicates == 0);
    BOOST_TEST(table.lost == 0);
    for (const char* where : {"acme/notes#12 (GitHub; ", "acme/notes!16, thread ", "C0WEB, thread ",
                              "C0I18N (Slack; ", "acme/build#5 (GitLab; ", "acme/notes!15, thread "})
        BOOST_TEST(contains(out, std::string("commented on ") + where), where);
    BOOST_TEST(contains(out, "events published"), "a progress line");
    BOOST_TEST(contains(out, "The comment is there, so it is not posted again."));
    BOOST_TEST(!contains(out, "\x1b"), "an escape code in spite of NO_COLOR");
    require_nothing_left(demo);
}

BOOST_AUTO_TEST_CASE(a_lost_and_a_doubled_post_fail_it_and_are_named) {
    DemoProcess lost(demo_command({"--suppress-one"}));
    DemoProcess doubled(demo_command({"--double-one"}));

    BOOST_TEST(lost.ended() == 1);
    const DemoTable of_lost = demo_table(lost.out());
    BOOST_TEST(of_lost.lost == 1);
    BOOST_TEST(of_lost.duplicates == 0);
    BOOST_TEST(of_lost.posts == of_lost.turns - 1);
    BOOST_TEST(contains(lost.out(), "lost: acme/api#31: Ended with an error: LLMRateLimitError\n"),
               lost.out());
    BOOST_TEST(!contains(lost.out(), "\x1b"), "an escape code in a file");
    BOOST_TEST(!contains(lost.out(), "\r"), "a progress line in a file");

    BOOST_TEST(doubled.ended() == 1);
    const DemoTable of_doubled = demo_table(doubled.out());
    BOOST_TEST(of_doubled.lost == 0);
    BOOST_TEST(of_doubled.duplicates == 1);
    BOOST_TEST(of_doubled.posts == of_doubled.turns + 1);
    BOOST_TEST(contains(doubled.out(), "duplicate: acme/clock#9: Finished\n"), doubled.out());

    require_nothing_left(lost);
    require_nothing_left(doubled);
}

BOOST_AUTO_TEST_CASE(kept_running_it_answers_at_the_printed_addresses_until_it_is_interrupted) {
    DemoProcess demo(demo_command({"--keep"}));
    std::smatch found;
    const auto out = eventually("the addresses are printed", one_minute, [&]() -> std::optional<std::string> {
        BOOST_REQUIRE_MESSAGE(demo.process().running(), demo.out());
        const std::string text = demo.out();
        return contains(text, "deliveries list --config") && text.ends_with('\n') ? std::optional(text)
                                                                                  : std::nullopt;
    });
    BOOST_REQUIRE(std::regex_search(*out, found, std::regex("callbacks list --config (\\S+)")));
    const auto listed =
        run({{executable, "deliveries", "list", "--json", "--config", found[1].str()}}, one_minute);
    BOOST_TEST(listed.status == 0, listed.err);
    BOOST_TEST(contains(listed.out, "github:acme/notes#12"));
    BOOST_REQUIRE(std::regex_search(*out, found, std::regex("log +(\\S+)")));
    BOOST_TEST(std::filesystem::exists(found[1].str()));

    demo.process().signal(SIGINT);
    BOOST_TEST(demo.ended() == 0);
    require_nothing_left(demo);
}

BOOST_AUTO_TEST_CASE(interrupted_in_the_middle_it_fails_and_leaves_nothing_behind) {
    DemoProcess demo(demo_command());
    eventually("a post is shown", one_minute, [&] { return contains(demo.out(), "commented on"); });
    demo.process().signal(SIGTERM);
    BOOST_TEST(demo.ended() == 1);
    require_nothing_left(demo);
}

BOOST_AUTO_TEST_CASE(without_mariadb_it_says_what_to_install) {
    const TempDir no_programs;
    DemoProcess demo(demo_command(), {{"PATH", no_programs.path()}});
    BOOST_TEST(demo.ended() == 69);
    BOOST_TEST(demo.out() == "");
    BOOST_TEST(contains(demo.process().err(), "apt-get install mariadb-server-core mariadb-client-core"));
    require_nothing_left(demo);
}

BOOST_AUTO_TEST_CASE(without_root_and_sudo_the_script_prints_the_one_line_that_installs_what_is_missing) {
    const UnprivilegedMachine machine({"cmake", "mariadb-server-core"});
    const Finished ended = machine.run_demo();
    BOOST_TEST(ended.status == 69);
    BOOST_TEST(contains(ended.out, "cmake mariadb-server-core\n"), ended.out);
    BOOST_TEST(contains(ended.err,
                        "\n  apt-get update -q && apt-get -o DPkg::Lock::Timeout=300 install -y "
                        "--no-install-recommends cmake mariadb-server-core\n"),
               ended.err);
    BOOST_TEST(!machine.was_apt_run());
}

BOOST_AUTO_TEST_CASE(the_benchmark_installs_what_is_missing_or_says_how_to) {
    const UnprivilegedMachine machine({"maven", "mariadb-server-core"});
    const Finished ended = machine.run_script("bench/run");
    BOOST_TEST(ended.status == 69);
    BOOST_TEST(contains(ended.err, "--no-install-recommends mariadb-server-core maven\n"), ended.err);
    BOOST_TEST(!machine.was_apt_run());
}

BOOST_AUTO_TEST_CASE(without_root_and_sudo_the_script_names_what_a_real_agent_takes_too) {
    const UnprivilegedMachine machine({"mariadb-server-core", "python3-venv"});
    const Finished ended = machine.run_demo({"--real"});
    BOOST_TEST(ended.status == 69);
    BOOST_TEST(contains(ended.out, "(build demo real): mariadb-server-core python3-venv\n"), ended.out);
    BOOST_TEST(contains(ended.err, "--no-install-recommends mariadb-server-core python3-venv\n"), ended.err);
    BOOST_TEST(!machine.was_apt_run());
}

BOOST_AUTO_TEST_CASE(where_no_python_is_new_enough_the_script_says_what_to_install) {
    const UnprivilegedMachine machine({"no-package-at-all"});
    const Finished ended = machine.run_demo({"--real"});
    BOOST_TEST(ended.status == 69, ended.out + ended.err);
    BOOST_TEST(contains(ended.err, "the agent server takes Python from 3.12 on"), ended.err);
    BOOST_TEST(contains(ended.err, "ops/demo: no agent server could be had"), ended.err);
}
