// Runs that a stop hook sends on, on a real agent server: EPILOGUE_AGENT_SERVER says which version.
#define BOOST_TEST_MODULE agent_stop_hooks
#include <algorithm>
#include <future>

#include <boost/test/unit_test.hpp>

#include "tests/agent/hooks.h"
#include "tests/agent/scripted_conversation.h"

using namespace epilogue;
using namespace epilogue::agent;
using namespace epilogue::testing;

namespace {

/// What is wrong with a run under such a hook; "" when it ended once, and with all its events.
std::string wrong_with(const RealServer& server, int seconds) {
    try {
        const SlowHook hook(server, "hook-" + std::to_string(seconds), seconds);
        ScriptedConversation scripted(server, "finish", hook.request());
        const RunEnd end = scripted.send().run();
        const EventList events = scripted->events();
        const auto said = [&](StopVerdict verdict) {
            return std::count_if(events.begin(), events.end(),
                                 [&](const EventRef& event) { return event->stop == verdict; });
        };
        std::string wrong = scripted.difference();
        if (end.status != "finished") wrong += "ended as " + end.status + "; ";
        if (said(StopVerdict::denied) != 1) wrong += "the hook's denial is missing; ";
        // The end is told before the hook's own event is, by some releases.
        if (said(StopVerdict::allowed) > 1) wrong += "let pass twice; ";
        return wrong;
    } catch (const std::exception& fault) {
        return fault.what();
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_run_that_its_stop_hook_sends_on_ends_only_once) {
    const RealServer server(wanted_version("1.22.1"));
    std::vector<std::pair<int, std::future<std::string>>> runs;
    for (const int seconds : {0, 1, 4, 8})
        runs.emplace_back(seconds, std::async(std::launch::async,
                                              [&server, seconds] { return wrong_with(server, seconds); }));
    for (auto& [seconds, run] : runs) {
        const std::string wrong = run.get();
        BOOST_TEST(wrong == "", std::to_string(seconds) + " s: " + wrong);
    }
}
