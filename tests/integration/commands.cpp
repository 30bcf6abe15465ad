// Commands as a user types them, right and wrong: configuration, tables, what cannot be reached.
#define BOOST_TEST_MODULE commands
#include <chrono>
#include <fstream>
#include <future>
#include <regex>

#include <boost/test/unit_test.hpp>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/ports.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;

/// The executable alone in a folder of its own: no --config, no EPILOGUE_… but those given.
class Shell {
  public:
    Finished operator()(const std::vector<std::string>& args,
                        const std::map<std::string, std::optional<std::string>>& environment = {}) const {
        Command command{.argv = {EPILOGUE_EXECUTABLE}, .environment = environment, .folder = folder_.path()};
        command.argv.insert(command.argv.end(), args.begin(), args.end());
        for (char** entry = environ; *entry != nullptr; ++entry) {
            const std::string variable(*entry);
            if (variable.starts_with("EPILOGUE_"))
                command.environment.emplace(variable.substr(0, variable.find('=')), std::nullopt);
        }
        return run(command, 30s);
    }
    /// Writes a file of the folder; returns its name.
    std::string file(const std::string& name, const std::string& text) const {
        std::ofstream(folder_.path() / name) << text;
        return name;
    }

  private:
    TempDir folder_;
};

/// A port of 127.0.0.1 where connections are taken and never answered.
class SilentServer {
  public:
    SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), port_(free_port()) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port_);
        const bool listens = ::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
                             ::listen(socket_, 100) == 0;
        if (!listens) throw std::runtime_error("no silent server");
    }
    ~SilentServer() { ::close(socket_); }
    SilentServer(const SilentServer&) = delete;
    SilentServer& operator=(const SilentServer&) = delete;

    unsigned short port() const { return port_; }

  private:
    int socket_;
    unsigned short port_;
};

/// Each command, all at once, says that a dependency is unavailable: 69, within 10 s, with the reason.
void check_unavailable(const Epilogue& epilogue, const std::vector<std::vector<std::string>>& all,
                       const std::string& reason) {
    std::vector<std::future<Finished>> running;
    for (const auto& args : all)
        running.push_back(std::async(std::launch::async, [&] { return epilogue.run(args, "", 10s); }));
    for (std::size_t i = 0; i < all.size(); ++i) {
        BOOST_TEST_CONTEXT(all[i].back()) {
            const auto done = running[i].get();
            BOOST_TEST(done.status == 69);
            BOOST_TEST(contains(done.err, reason), done.err);
            BOOST_TEST(done.out.empty(), done.out);
        }
    }
}

const std::vector<std::vector<std::string>> commands{{"migrate"},
                                                     {"keygen"},
                                                     {"worker"},
                                                     {"publish"},
                                                     {"callbacks"},
                                                     {"callbacks", "add"},
                                                     {"callbacks", "list"},
                                                     {"callbacks", "show"},
                                                     {"callbacks", "cancel"},
                                                     {"callbacks", "wake"},
                                                     {"deliveries"},
                                                     {"deliveries", "list"},
                                                     {"deliveries", "show"},
                                                     {"deliveries", "retry"},
                                                     {"deliveries", "resolve"},
                                                     {"dead-letters"},
                                                     {"dead-letters", "list"},
                                                     {"dead-letters", "show"},
                                                     {"dead-letters", "replay"},
                                                     {"offsets", "show"},
                                                     {"preview"},
                                                     {"view"},
                                                     {"demo"},
                                                     {"check"}};

}  // namespace

BOOST_AUTO_TEST_SUITE(usage)

BOOST_AUTO_TEST_CASE(every_command_answers_help_and_version) {
    const Shell epilogue;
    const auto help = epilogue({"--help"});
    BOOST_TEST(help.status == 0);
    const auto version = epilogue({"--version"});
    BOOST_TEST(version.status == 0);
    for (const char* library : {"epilogue ", "librdkafka ", "libcurl/", "MySQL Connector"})
        BOOST_TEST(contains(version.out, library), version.out);
    for (auto command : commands) {
        BOOST_TEST_CONTEXT(command.back()) {
            BOOST_TEST(contains(help.out, "  " + command[0] + " "));
            auto asking = command;
            asking.emplace_back("--help");
            const auto answer = epilogue(asking);
            BOOST_TEST(answer.status == 0);
            BOOST_TEST(contains(answer.out, "Usage: epilogue"));
            BOOST_TEST(answer.err.empty());
            command.emplace_back("--version");
            const auto answered = epilogue(command);
            BOOST_TEST(answered.status == 0);
            BOOST_TEST(answered.out == version.out);
        }
    }
}

BOOST_AUTO_TEST_CASE(the_help_of_callbacks_add_shows_each_processors_form) {
    const Shell epilogue;
    const auto help = epilogue({"callbacks", "add", "--help"}).out;
    for (const char* form : {R"(github  {"repo": "owner/name", "number": 42)", R"(slack   {"channel": "C…")",
                             R"(gitlab  {"project": 4455 or "group/name", "iid": 7)", "log     {}"})
        BOOST_TEST(contains(help, form), help);
}

BOOST_AUTO_TEST_CASE(a_word_that_is_no_command_is_named) {
    const Shell epilogue;
    const auto said = [&](const std::vector<std::string>& args) { return epilogue(args).err; };
    BOOST_TEST(said({"frobnicate"}) == "epilogue: \"frobnicate\" is no command; see epilogue --help\n");
    BOOST_TEST(said({"callbacks", "frobnicate", "7"}) ==
               "epilogue: \"frobnicate\" is no command; see epilogue callbacks --help\n");
    BOOST_TEST(!contains(said({"callbacks", "add", "extra"}), "is no command"));
    BOOST_TEST(!contains(said({}), "is no command"));
}

BOOST_AUTO_TEST_CASE(what_is_no_command_is_wrong_usage) {
    const Shell epilogue;
    const std::vector<std::vector<std::string>> wrong{
        {},
        {"frobnicate"},
        {"callbacks", "frobnicate"},
        {"check", "--wrong"},
        {"check", "extra"},
        {"callbacks"},
        {"callbacks", "show"},
        {"callbacks", "show", "not-a-number"},
        {"callbacks", "add", "--conversation", "c"},
        {"callbacks", "list", "--status", "SLEEPING"},
        {"callbacks", "list", "--limit", "0"},
        {"deliveries", "list", "--state", "LOST"},
        {"deliveries", "retry"},
        {"deliveries", "resolve", "id", "--sent", "u", "--not-sent"},
        {"deliveries", "retry", "id", "--all"},
        {"deliveries", "retry", "id", "--sink", "log"},
        {"deliveries", "retry", "--all", "--sink", "pigeon"},
        {"check", "--set", "kafka.brokers"},
        {"publish", "--file", "."},
        {"publish", "--file", "no-such-file"}};
    for (const auto& args : wrong) {
        const auto done = epilogue(args);
        BOOST_TEST_CONTEXT((args.empty() ? "nothing" : args.back())) {
            BOOST_TEST(done.status == 64);
            BOOST_TEST(!done.err.empty());
            BOOST_TEST(done.out.empty(), done.out);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(configuration)

BOOST_AUTO_TEST_CASE(keygen_prints_a_new_key_that_check_accepts) {
    const Shell epilogue;
    const auto first = epilogue({"keygen"});
    const auto second = epilogue({"keygen"});
    BOOST_TEST(first.status == 0);
    BOOST_TEST(std::regex_match(first.out, std::regex("[0-9a-f]{64}\n")), first.out);
    BOOST_TEST(first.out != second.out);
    epilogue.file("key", first.out);
    epilogue.file("epilogue.toml", "[security]\nkeys = [\"file:key\"]\n[github]\ntoken = \"env:TOKEN\"\n");
    const auto checked = epilogue({"check"}, {{"TOKEN", "t-123"}});
    BOOST_TEST(checked.status == 0, checked.err);
    BOOST_TEST(!contains(checked.out + checked.err, "t-123"));
}

BOOST_AUTO_TEST_CASE(an_error_of_the_configuration_names_file_line_key_and_what_was_expected) {
    const Shell epilogue;
    struct Wrong {
        std::string text;
        std::vector<std::string> named;
    };
    const std::vector<Wrong> wrong{
        {"[kafka]\nbrokers = \"a\"\ntopic =\n", {"wrong.toml:3"}},
        {"[kafka]\nbrokerz = \"a\"\n", {"wrong.toml:2", "brokerz", "unknown"}},
        {"\n[kafkaa]\ntopic = \"t\"\n", {"wrong.toml:2", "kafkaa", "unknown"}},
        {"[worker]\n\nsenders = 0\n", {"wrong.toml:3", "senders", "1 to 1024"}},
        {"[worker]\nsenders = \"many\"\n", {"wrong.toml:2", "senders", "integer"}},
        {"[worker]\ntimeout_storm = \"panic\"\n", {"wrong.toml:2", "timeout_storm", "hold", "post"}},
        {"[worker]\nlease_s = 10\nhttp_timeout_s = 5\n", {"wrong.toml:3", "http_timeout_s", "lease_s"}},
        {"[kafka]\nproperties = {\"enable.auto.commit\" = true}\n", {"wrong.toml:2", "enable.auto"}},
        {"[github]\ntoken = \"env:NOT_THERE\"\n", {"wrong.toml:2", "token", "NOT_THERE"}},
        {"[security]\nkeys = [\"abc123\"]\n", {"wrong.toml:2", "keys", "64"}},
        {"[github]\ntoken = \"ghp_secret\"\n", {"[security] keys", "keygen"}}};
    for (const auto& [text, named] : wrong) {
        BOOST_TEST_CONTEXT(text) {
            const auto done = epilogue({"check", "--config", epilogue.file("wrong.toml", text)});
            BOOST_TEST(done.status == 78);
            for (const auto& part : named) BOOST_TEST(contains(done.err, part), done.err);
            BOOST_TEST(!contains(done.err, "secret"), done.err);
            BOOST_TEST(done.out.empty());
        }
    }
}

BOOST_AUTO_TEST_CASE(all_errors_are_named_at_once_and_what_was_read) {
    const Shell epilogue;
    const auto done = epilogue({"check", "--config",
                                epilogue.file("wrong.toml",
                                              "[kafka]\nbrokerz = \"a\"\n"
                                              "[worker]\nsenders = 0\n"
                                              "[nowhere]\nx = 1\n")},
                               {{"EPILOGUE_WORKER_LEASE_S", "long"}});
    BOOST_TEST(done.status == 78);
    for (const char* part :
         {"brokerz", "senders", "nowhere", "EPILOGUE_WORKER_LEASE_S", "read: ", "/wrong.toml"})
        BOOST_TEST(contains(done.err, part), done.err);
    BOOST_TEST(contains(epilogue({"check"}).out, "no file"));
    epilogue.file("epilogue.toml", "");
    const auto good = epilogue({"check"}, {{"EPILOGUE_KAFKA_GROUP", "g"}});
    BOOST_TEST(contains(good.out, "/epilogue.toml; 1 "), good.out);
}

BOOST_AUTO_TEST_CASE(a_property_that_the_client_refuses_is_78_for_check_publish_and_worker) {
    const auto& server = server_of_this_program();
    server.create_database("refused");
    const auto refused = [&](const std::map<std::string, std::string>& properties,
                             const std::vector<std::string>& named) {
        const Epilogue epilogue(
            merged({settings_for(server, "refused"),
                    {{"kafka.brokers", "127.0.0.1:9"}, {"kafka.properties", properties}}}));
        BOOST_TEST(epilogue.run({"migrate"}).status == 0);
        for (const char* command : {"check", "publish", "worker"}) {
            BOOST_TEST_CONTEXT(command) {
                const auto done = epilogue.run({command});
                BOOST_TEST(done.status == 78);
                for (const auto& part : named) BOOST_TEST(contains(done.err, part), done.err);
                BOOST_TEST(contains(done.err, epilogue.config_file().string()), done.err);
            }
        }
    };
    refused({{"no.such.property", "1"}, {"session.timeout.ms", "soon"}},
            {"no.such.property", "session.timeout.ms"});
    refused({{"security.protocol", "SSL"}, {"ssl.ca.location", "/no/such/ca.pem"}}, {"ssl.ca.location"});
}

BOOST_AUTO_TEST_CASE(a_named_file_must_exist_and_the_default_one_may_be_missing) {
    const Shell epilogue;
    const auto missing = epilogue({"check", "--config", "nowhere.toml"});
    BOOST_TEST(missing.status == 78);
    BOOST_TEST(contains(missing.err, "nowhere.toml"));
    BOOST_TEST(epilogue({"check"}).status == 0);
    epilogue.file("epilogue.toml", "[worker]\nsenders = 0\n");
    BOOST_TEST(epilogue({"check"}).status == 78);
}

BOOST_AUTO_TEST_CASE(the_environment_wins_over_the_file_and_is_checked_like_it) {
    const Shell epilogue;
    epilogue.file("epilogue.toml", "[worker]\nsenders = 0\n");
    BOOST_TEST(epilogue({"check"}, {{"EPILOGUE_WORKER_SENDERS", "3"}}).status == 78);  // the file stays wrong
    epilogue.file("epilogue.toml", "[database]\nport = 1\n");
    const auto wrong = epilogue({"check"}, {{"EPILOGUE_WORKER_SENDERS", "none"}});
    BOOST_TEST(wrong.status == 78);
    BOOST_TEST(contains(wrong.err, "EPILOGUE_WORKER_SENDERS"));
    const auto& server = server_of_this_program();
    server.create_database("by_environment");
    const auto migrated = epilogue({"migrate"}, {{"EPILOGUE_DATABASE_PORT", std::to_string(server.port())},
                                                 {"EPILOGUE_DATABASE_USER", server.user()},
                                                 {"EPILOGUE_DATABASE_PASSWORD", server.password()},
                                                 {"EPILOGUE_DATABASE_NAME", "by_environment"}});
    BOOST_TEST(migrated.status == 0, migrated.err);
}

BOOST_AUTO_TEST_CASE(a_flag_sets_a_key_and_wins_over_file_and_environment) {
    const Shell epilogue;
    epilogue.file("epilogue.toml", "[worker]\nlease_s = 60\nhttp_timeout_s = 20\n");
    const auto check = [&](const std::vector<std::string>& settings) {
        std::vector<std::string> args{"check"};
        for (const auto& setting : settings) args.insert(args.end(), {"--set", setting});
        return epilogue(args, {{"EPILOGUE_WORKER_LEASE_S", "61"}});
    };
    BOOST_TEST(check({}).status == 0);
    const auto contradicted = check({"worker.lease_s=30"});
    BOOST_TEST(contradicted.status == 78);
    BOOST_TEST(contains(contradicted.err, "http_timeout_s"), contradicted.err);
    const auto both = check({"worker.lease_s=30", "worker.http_timeout_s=10"});
    BOOST_TEST(both.status == 0, both.err);
    for (const auto& [setting, said] : std::vector<std::pair<std::string, std::string>>{
             {"worker.leas_s=1", "worker.leas_s: unknown key"},
             {"worker.lease_s=many", "worker.lease_s: expected"},
             {"lease_s=1", "lease_s: unknown key"},
             {"worker.lease_s", "expected SECTION.KEY=VALUE"},
             {"github.token=secret-word", "env:NAME or file:PATH"},
             {"github.token=env:NO_SUCH_NAME", "NO_SUCH_NAME"}}) {
        const auto wrong = check({setting});
        BOOST_TEST(wrong.status == 64, setting);
        BOOST_TEST(contains(wrong.err, said), wrong.err);
        BOOST_TEST(!contains(wrong.err, "secret-word"), wrong.err);
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(dependencies)

BOOST_AUTO_TEST_CASE(migrate_may_run_any_number_of_times_and_from_many_hosts_at_once) {
    const auto& server = server_of_this_program();
    server.create_database("migrated");
    const Epilogue epilogue(settings_for(server, "migrated"));
    const auto before = epilogue.run({"migrate", "--status"});
    BOOST_TEST(before.status == 78);
    BOOST_TEST(contains(before.out, "tables: 0 of "), before.out);
    BOOST_TEST(contains(before.out, "run epilogue migrate"), before.out);
    const auto early = epilogue.run({"callbacks", "list"});
    BOOST_TEST(early.status == 78);
    BOOST_TEST(contains(early.err, "run epilogue migrate"), early.err);

    std::vector<std::future<Finished>> hosts;
    for (int i = 0; i < 4; ++i)
        hosts.push_back(std::async(std::launch::async, [&] { return epilogue.run({"migrate"}); }));
    for (auto& host : hosts) {
        const auto done = host.get();
        BOOST_TEST(done.status == 0, done.err);
    }
    const auto installations = server.query("SELECT installation_id FROM installation", "migrated");
    BOOST_REQUIRE(installations.size() == 1U);
    const auto again = epilogue.run({"migrate"});
    BOOST_TEST(again.status == 0);
    BOOST_TEST(!contains(again.out, "applied"), again.out);
    BOOST_TEST((server.query("SELECT installation_id FROM installation", "migrated") == installations));
    // Every step was cut off before its end, and runs again.
    server.query("DELETE FROM schema_migrations", "migrated");
    const auto repeated = epilogue.run({"migrate"});
    BOOST_TEST(repeated.status == 0, repeated.err);
    // The steps are counted without gaps.
    const auto all = server.query("SELECT COUNT(*) FROM schema_migrations", "migrated").at(0).at(0).value();
    for (int step = 1; step <= std::stoi(all); ++step)
        BOOST_TEST(contains(repeated.out, "step " + std::to_string(step) + " of " + all + " applied: "),
                   repeated.out);
    BOOST_TEST(contains(repeated.out, "tables: " + all + " of " + all + " steps\n"), repeated.out);
    const auto after = epilogue.run({"migrate", "--status"});
    BOOST_TEST(after.status == 0);
    BOOST_TEST(!contains(after.out, "run epilogue migrate"), after.out);
    BOOST_TEST(epilogue.run({"callbacks", "list"}).status == 0);
}

BOOST_AUTO_TEST_CASE(without_a_database_every_command_that_needs_one_ends_with_69) {
    const SilentServer silent;
    const std::vector<std::vector<std::string>> needing{
        {"migrate"},
        {"migrate", "--status"},
        {"callbacks", "list", "--json"},
        {"callbacks", "cancel", "1"},
        {"callbacks", "add", "--conversation", "c", "--processor", "log"},
        {"deliveries", "retry", "d"}};
    for (const std::int64_t port : {std::int64_t{free_port()}, std::int64_t{silent.port()}}) {
        const Epilogue epilogue(merged({{{"database.port", port}}}));
        check_unavailable(epilogue, needing, "database");
    }
    const auto& server = server_of_this_program();
    server.create_database("guarded");
    auto settings = settings_for(server, "guarded");
    settings["database.password"] = "a wrong word";
    const Epilogue stranger(settings);
    check_unavailable(stranger, needing, "denied");
    BOOST_TEST(!contains(stranger.run({"migrate"}).err, "a wrong word"));
}

BOOST_AUTO_TEST_CASE(without_a_broker_publish_ends_with_69_within_ten_seconds) {
    const SilentServer silent;
    for (const auto port : {free_port(), silent.port()}) {
        const std::string address = "127.0.0.1:" + std::to_string(port);
        check_unavailable(Epilogue({{"kafka.brokers", address}}), {{"publish"}}, address);
    }
}

BOOST_AUTO_TEST_SUITE_END()
