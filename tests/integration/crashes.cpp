// A row that ends each worker which handles it is given up by the third, with its reason; what other threads
// of those workers were at is not counted.
#define BOOST_TEST_MODULE crashes
#include <filesystem>
#include <fstream>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/agent/fake_agent_server.h"
#include "tests/agent/held_requests.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;
using Json = nlohmann::json;

std::string first_line_of(const std::filesystem::path& file) {
    std::string line;
    std::ifstream stream(file);
    std::getline(stream, line);
    return line;
}

/// A thread of that name that waits for something other than for work; 0: there is none now.
pid_t busy_thread(pid_t process, const std::string& name) {
    const std::string waits_for_work = std::to_string(SYS_futex) + " ";
    const std::filesystem::path tasks = "/proc/" + std::to_string(process) + "/task";
    for (const auto& task : std::filesystem::directory_iterator(tasks)) {
        const std::string call = first_line_of(task.path() / "syscall");
        if (first_line_of(task.path() / "comm") == name && call != "running" &&
            !call.starts_with(waits_for_work))
            return static_cast<pid_t>(std::stol(task.path().filename()));
    }
    return 0;
}

/// What the kernel does to a thread that runs over the end of its stack.
void crash(WorkerProcess& worker, const std::string& thread) {
    const pid_t pid = worker.process().pid();
    pid_t busy = 0;
    eventually("a thread is at work: " + thread, [&] { return (busy = busy_thread(pid, thread)) != 0; });
    BOOST_REQUIRE(::syscall(SYS_tgkill, pid, busy, SIGSEGV) == 0);
    const auto ended = worker.process().wait(std::chrono::seconds(20));
    BOOST_TEST((ended == -SIGSEGV));
}

/// No request is given up, and no lease ends, before the test says so.
const Settings patient{{"worker.senders", 2}, {"worker.http_timeout_s", 60}, {"worker.lease_s", 150}};

}  // namespace

BOOST_AUTO_TEST_CASE(a_delivery_that_ended_two_workers_is_parked_by_the_third_and_a_retry_lets_it_go_once) {
    const Rig rig("crashes", 1, patient);
    V0Conversation conversation("crashing");
    conversation.user("Go.").agent_finishes("Done.");
    rig.add_github(conversation.id(), "octo/crash", 1, "once");
    rig.add_callback({"--conversation", conversation.id(), "--processor", "gitlab", "--processor-json",
                      Json{{"project", "a/b"}, {"iid", 1}, {"kind", "issue"}}.dump()});
    const auto hang = [&](const std::string& path) {
        rig.platform().rules({{{"do", "apply_then_hang"}, {"path", path}, {"times", -1}}});
    };
    hang("^/git(hub|lab)/.*(comments|notes)");
    rig.publish(conversation.records());
    {
        auto first = rig.epilogue().worker();
        rig.platform().wait_held(2, std::chrono::seconds(30));
        crash(first, "sender");
    }
    BOOST_TEST(rig.number("SELECT SUM(crashes) FROM deliveries") == 1);
    const auto row = rig.query("SELECT delivery_id, sink FROM deliveries WHERE crashes=1").at(0);
    const std::string id = row.at(0).value();
    rig.platform().release();
    hang("^/" + row.at(1).value() + "/.*(comments|notes)");
    const std::string lease_passes = "UPDATE deliveries SET lease_until=UTC_TIMESTAMP(6)";
    rig.query(lease_passes);
    {
        auto second = rig.epilogue().worker();
        rig.platform().wait_held(1, std::chrono::seconds(30));
        eventually("the other one is found", [&] {
            rig.hurry_look_ups();
            return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT' AND crashes=0") == 1;
        });
        crash(second, "sender");
    }
    BOOST_TEST(rig.number("SELECT SUM(crashes) FROM deliveries") == 2);
    rig.platform().rules(Json::array());
    rig.platform().release();
    rig.query(lease_passes);
    auto third = rig.epilogue().worker();
    eventually("it is parked",
               [&] { return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='PARKED'") == 1; });
    const auto shown = rig.epilogue().run({"deliveries", "show", id});
    BOOST_TEST(contains(shown.out, "its handling ended two workers"), shown.out);

    BOOST_TEST(rig.epilogue().run({"deliveries", "retry", id}).status == 0);
    eventually("it is found where the first worker left it", [&] {
        rig.hurry_look_ups();
        return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'") == 2;
    });
    BOOST_TEST(rig.platform().visible().size() == 2U);
    BOOST_TEST(third.process().stop(std::chrono::seconds(30)) == 0);
}

BOOST_AUTO_TEST_CASE(a_summary_that_ended_two_workers_is_frozen_from_the_log_by_the_third) {
    FakeAgentServer agents;
    Settings settings = patient;
    settings["worker.settle_ms"] = 100;
    settings["agent_server.url"] = agents.url();
    settings["agent_server.session_api_key"] = "key";
    settings["summary.deadline_s"] = 600;
    const Rig rig("crashes_summary", 1, settings);
    const std::string id = "crashing-words";
    const std::vector<std::string> log{message_event("u1", 1, "user", "go on"),
                                       status_event("s1", 2, "running"), finish_event("f1", 3, "All done."),
                                       status_event("s2", 4, "finished")};
    agents.add(id, log, "finished");
    rig.add_github(id, "octo/words", 1, "once");
    std::vector<Record> records;
    for (const std::string& event : log) records.push_back({.key = id, .value = event});
    rig.publish(records);
    for (int i = 1; i <= 2; ++i) {
        const HeldRequests held;
        agents.on("GET /agent_final_response", held.handler());
        auto worker = rig.epilogue().worker();
        held.wait_held();
        crash(worker, "summariser");
        BOOST_TEST(rig.number("SELECT SUM(crashes) FROM summaries") == i);
        rig.query("UPDATE summaries SET lease_until=UTC_TIMESTAMP(6)");
    }
    auto third = rig.epilogue().worker();
    eventually("it is posted", [&] { return rig.platform().visible().size() == 1; });
    BOOST_TEST(contains(rig.platform().visible().at(0).body, "All done."));
    BOOST_TEST(contains(third.process().err(), "asking for a conversation's last words ended two workers"));
}

BOOST_AUTO_TEST_CASE(a_catch_up_that_ended_two_workers_is_given_up_by_the_third) {
    FakeAgentServer agents;
    Settings settings = patient;
    settings["agent_server.url"] = agents.url();
    settings["agent_server.session_api_key"] = "key";
    const Rig rig("crashes_catch_up", 1, settings);
    const std::string id = "00000000000000000000000000000007";
    agents.add(id, {}, "finished");
    rig.add_github(id, "octo/unseen", 1, "once");
    for (int i = 1; i <= 2; ++i) {
        const HeldRequests held;
        agents.on("GET /events/search", held.handler());
        auto worker = rig.epilogue().worker();
        held.wait_held();
        crash(worker, "catch-up");
        BOOST_TEST(rig.number("SELECT SUM(crashes) FROM catch_ups") == i);
        rig.query("UPDATE catch_ups SET next_try_at=UTC_TIMESTAMP(6)");
    }
    auto third = rig.epilogue().worker();
    eventually("it is given up", [&] { return rig.number("SELECT COUNT(*) FROM catch_ups") == 0; });
    BOOST_TEST(contains(third.process().err(), "reading its log ended two workers"));
}
