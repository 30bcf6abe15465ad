// Signals to a running worker that do not end it: SIGHUP reads the configuration again, SIGUSR1 does nothing.
// To a relay neither does anything.
#define BOOST_TEST_MODULE reload
#include <fstream>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "tests/support/eventually.h"
#include "tests/support/ports.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;

void write_settings(const Rig& rig, const Settings& more) {
    std::ofstream(rig.epilogue().config_file(), std::ios::trunc) << toml_of(merged({rig.settings(), more}));
}

/// From now on the platform takes this token alone.
void accept_only(const Rig& rig, const std::string& token) {
    rig.platform().control("POST", "/tokens", {{"tokens", {token}}}, 10s);
}

void wait_said(WorkerProcess& worker, const std::string& text) {
    eventually("the log says " + text, [&] { return contains(worker.process().err(), text); });
}

/// Publishes a conversation of one turn and waits until it is posted.
void check_posts(const Rig& rig, const std::string& conversation) {
    const auto before = rig.platform().visible().size();
    rig.add_github(conversation, "o/" + conversation, 1, "once");
    rig.publish(V0Conversation(conversation).user("Go.").agent_finishes("Done.").records());
    eventually(conversation + " is told", [&] { return rig.platform().visible().size() == before + 1; });
}

}  // namespace

BOOST_AUTO_TEST_CASE(sighup_takes_a_new_token_and_a_new_log_level_and_ends_nothing) {
    const Rig rig("sighup", 1);
    auto worker = rig.epilogue().worker();
    check_posts(rig, "before");
    const std::string token = "another-" + std::string("token");
    accept_only(rig, token);
    write_settings(rig, {{"github.token", token}, {"log.level", "debug"}, {"github.budget", "5/s"}});
    worker.process().signal(SIGHUP);
    wait_said(worker, "the configuration was read again");
    check_posts(rig, "after");
    eventually("both are sent",
               [&] { return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'") == 2; });
    BOOST_TEST(!contains(worker.process().err(), token));
    BOOST_TEST(worker.process().running());
    BOOST_TEST(worker.process().stop(30s) == 0);
}

BOOST_AUTO_TEST_CASE(a_wrong_file_keeps_the_settings_as_they_are_and_says_what_is_wrong) {
    const Rig rig("sighup_wrong", 1);
    auto worker = rig.epilogue().worker();
    std::ofstream(rig.epilogue().config_file(), std::ios::trunc) << "[github]\ntokenn = \"x\"\n";
    worker.process().signal(SIGHUP);
    wait_said(worker, "the settings stay as they are");
    BOOST_TEST(contains(worker.process().err(), "tokenn"));
    write_settings(rig, {});  // for the commands
    check_posts(rig, "still");
    BOOST_TEST(worker.process().stop(30s) == 0);
}

BOOST_AUTO_TEST_CASE(a_change_that_a_running_worker_cannot_take_is_named) {
    const Rig rig("sighup_restart", 1);
    auto worker = rig.epilogue().worker();
    write_settings(rig, {{"worker.settle_ms", 3000}, {"retention.bodies_days", 3}});
    worker.process().signal(SIGHUP);
    wait_said(worker, "need a restart");
    BOOST_TEST(contains(worker.process().err(), "[worker], [retention]"));
    worker.wait_ready(30s);
    BOOST_TEST(worker.process().running());
}

BOOST_AUTO_TEST_CASE(a_secrets_file_that_changes_is_noticed_without_a_signal) {
    const TempDir folder;
    const auto file = folder.path() / "github.token";
    std::ofstream(file) << "the-first\n";
    const Rig rig("secret_file", 1, {{"github.token", "file:" + file.string()}});
    accept_only(rig, "the-first");
    auto worker = rig.epilogue().worker();
    check_posts(rig, "first");
    accept_only(rig, "the-second");
    std::ofstream(file, std::ios::trunc) << "the-second\n";
    wait_said(worker, "a secret's file has changed");
    check_posts(rig, "second");
    BOOST_TEST(!contains(worker.process().err(), "the-second"));
}

BOOST_AUTO_TEST_CASE(a_new_api_key_is_taken_and_the_old_one_refused) {
    const Rig rig("sighup_key", 1, {{"worker.api_key", "old-key"}});
    auto worker = rig.epilogue().worker();
    const auto status_with = [&](const std::string& key) {
        epilogue::HttpRequest request;
        request.url = worker.url("/api/callbacks");
        request.headers = {"X-Session-API-Key: " + key};
        return epilogue::HttpClient().send(request).status;
    };
    BOOST_TEST(status_with("old-key") == 200);
    write_settings(rig, {{"worker.api_key", "new-key"}});
    worker.process().signal(SIGHUP);
    wait_said(worker, "the configuration was read again");
    BOOST_TEST(status_with("old-key") == 401);
    BOOST_TEST(status_with("new-key") == 200);
}

BOOST_AUTO_TEST_CASE(sigusr1_is_ignored) {
    const Rig rig("sigusr1", 1);
    auto worker = rig.epilogue().worker();
    worker.process().signal(SIGUSR1);
    check_posts(rig, "ignored");
    BOOST_TEST(worker.process().running());
    BOOST_TEST(worker.process().stop(30s) == 0);
}

BOOST_AUTO_TEST_CASE(a_relay_says_that_it_ignores_sighup_and_sigusr1_and_goes_on) {
    const Rig rig("relay_signals", 1);
    const auto port = free_port();
    WorkerProcess relay(
        rig.epilogue().start({"relay"}, {{"EPILOGUE_RELAY_HTTP_LISTEN", "127.0.0.1:" + std::to_string(port)},
                                         {"EPILOGUE_RELAY_KEYS", "key"}}),
        port);
    relay.wait_ready(patience);
    relay.process().signal(SIGHUP);
    wait_said(relay, "SIGHUP is ignored");
    relay.process().signal(SIGUSR1);
    wait_said(relay, "SIGUSR1 is ignored");
    BOOST_TEST(relay.get("/readyz").status == 200);
    BOOST_TEST(relay.process().stop(30s) == 0);
}
