// Records that were gone before they were read: whose conversation may lie among them is asked about at once,
// of its agent server, and without one no timeout is told as though the agent were inactive.
#define BOOST_TEST_MODULE gaps
#include <boost/test/unit_test.hpp>
#include <signal.h>

#include "tests/agent/fake_agent_server.h"
#include "tests/integration/told_conversation.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;

constexpr int of_each = 5;

void end(WorkerProcess& worker) {
    worker.process().signal(SIGTERM);
    BOOST_TEST(worker.process().wait(30s).value() == 0);
}

/// Three kinds of conversations, each with a callback on an issue of its own: wholly in the gap, with their
/// second turn there, and with the end of their open turn there.
class GapTrial {
  public:
    explicit GapTrial(const std::string& name, const Settings& more = {})
        : server("1.58.0", "agent-key"),
          rig(name, 2,
              merged({{{"agent_server.url", server.url()}, {"agent_server.session_api_key", "agent-key"}},
                      more})) {
        for (int i = 0; i < 3 * of_each; ++i) conversations.emplace_back(id_of(i + 1));
    }

    bool is_unseen(int i) const { return i < of_each; }
    bool has_ended(int i) const { return i >= of_each && i < 2 * of_each; }
    ConversationScript& at(int i) { return conversations[static_cast<std::size_t>(i)]; }
    std::string last_words(int i) { return "Last words of " + at(i).id() + "."; }
    std::string place(int i) const { return "octo/" + rig.name() + "#" + std::to_string(i + 1); }

    /// What is read before the gap.
    void read_beginnings() {
        auto worker = rig.epilogue().worker();
        for (int i = 0; i < 3 * of_each; ++i) {
            rig.add_github(at(i).id(), "octo/" + rig.name(), i + 1, "every_turn");
            if (is_unseen(i)) continue;
            at(i).user();
            if (has_ended(i)) at(i).asks("First words.").stand_on(server);
            rig.publish(at(i).records());
        }
        eventually("the first turns are reported", [&] { return sent() == of_each; });
        eventually("all is read", [&] { return rig.stored() == rig.ends(); });
        end(worker);
        // What was asked when the callbacks came was given up long since.
        rig.query("DELETE FROM catch_ups");
    }

    /// What is gone before it is read; the servers have it.
    void happen_unread() {
        for (int i = 0; i < 3 * of_each; ++i) {
            const std::size_t known = at(i).log().size();
            if (is_unseen(i) || has_ended(i)) at(i).user();
            at(i).asks(last_words(i));
            const auto records = at(i).records();
            rig.publish({records.begin() + static_cast<std::ptrdiff_t>(known), records.end()});
            at(i).stand_on(server);
        }
    }

    std::int64_t sent() const { return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'"); }

    /// Returns when each conversation is told, once.
    void all_told(WorkerProcess& worker) {
        eventually("each is told", [&] {
            rig.hurry_look_ups();
            return sent() == 4 * of_each;
        });
        BOOST_TEST(rig.number("SELECT COUNT(*) FROM deliveries") == 4 * of_each);
        for (int i = 0; i < 3 * of_each; ++i) {
            std::int64_t told = 0;
            for (const auto& post : rig.platform().visible())
                if (post.path == place(i) && contains(post.body, last_words(i))) ++told;
            BOOST_TEST(told == 1, place(i) << " has its last turn " << told << " times");
        }
        eventually("the gauge says that none is left",
                   [&] { return total(worker.metrics(), "epilogue_gap_callbacks_remaining") == 0; });
        BOOST_TEST(rig.number("SELECT COUNT(*) FROM log_gaps WHERE done=0") == 0);
    }

    FakeAgentServer server;
    const Rig rig;
    std::vector<ConversationScript> conversations;
};

}  // namespace

BOOST_AUTO_TEST_CASE(whose_conversation_may_lie_among_records_that_retention_removed_is_asked_about_at_once) {
    GapTrial trial("retained");
    trial.read_beginnings();
    trial.happen_unread();
    broker_of_this_program().delete_records(trial.rig.name(), trial.rig.ends());
    auto worker = trial.rig.epilogue().start_worker();
    trial.all_told(worker);
    const auto metrics = worker.metrics();
    BOOST_TEST(total(metrics, "epilogue_offset_gap_events_total") > 0);
    BOOST_TEST(
        contains(worker.get("/metrics").body,
                 R"(epilogue_catch_ups_total{result="ended",why="gap"} )" + std::to_string(3 * of_each)));
}

BOOST_AUTO_TEST_CASE(whose_conversation_may_lie_in_a_topic_that_was_made_anew_is_told_through_a_kill) {
    GapTrial trial("anew",
                   {{"worker.lease_s", std::int64_t{10}}, {"worker.http_timeout_s", std::int64_t{4}}});
    trial.read_beginnings();
    trial.happen_unread();
    broker_of_this_program().delete_topic(trial.rig.name());
    broker_of_this_program().create_topic(trial.rig.name(), 2);
    {
        auto killed = trial.rig.epilogue().start_worker();
        eventually("some are told", [&] { return trial.sent() > of_each; });
        killed.process().kill9();
    }
    trial.rig.query("UPDATE catch_ups SET next_try_at=UTC_TIMESTAMP(6)");  // its leases pass
    auto worker = trial.rig.epilogue().start_worker();
    trial.all_told(worker);
}

BOOST_AUTO_TEST_CASE(a_conversation_all_of_whose_events_are_gone_is_told_once_its_server_is_named) {
    const Rig rig("unnamed", 1);
    ConversationScript lost(id_of(1)), read(id_of(2));
    {
        auto worker = rig.epilogue().worker();
        rig.publish(read.user().asks("Read.").records());
        eventually("it has ended",
                   [&] { return rig.number("SELECT COUNT(*) FROM conversations WHERE turn_open=0") == 1; });
        end(worker);
    }
    const auto callback = rig.add_github(lost.id(), "octo/unnamed", 1, "once");
    const auto other = rig.add_github(read.id(), "octo/unnamed", 2, "every_turn");
    rig.publish(lost.user().asks("Who will read this?").records());
    broker_of_this_program().delete_records(rig.name(), rig.ends());
    auto worker = rig.epilogue().start_worker();
    const auto reason_of = [&](std::int64_t id) {
        return rig
            .query("SELECT COALESCE(reason, '') FROM callback_progress WHERE callback_id=" +
                   std::to_string(id))
            .at(0)
            .at(0)
            .value_or("");
    };
    eventually("its callback says that nobody can be asked",
               [&] { return contains(reason_of(callback), "no agent server is known"); });
    BOOST_TEST(contains(reason_of(callback), "partition 0"), reason_of(callback));
    BOOST_TEST(reason_of(other) == "");
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM log_gaps WHERE without_server>0") == 1);

    FakeAgentServer server;
    lost.stand_on(server);
    ::setenv("AGENT_KEY_OF_THE_TEST", "key", 1);
    const auto named = rig.epilogue().run({"conversations", "remember", lost.id(), "--agent-url",
                                           server.url(), "--agent-key", "env:AGENT_KEY_OF_THE_TEST"});
    BOOST_REQUIRE_MESSAGE(named.status == 0, named.err);
    eventually("it is told", [&] {
        return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT' AND callback_id=" +
                          std::to_string(callback)) == 1;
    });
    for (const auto& post : rig.platform().visible())
        BOOST_TEST(contains(post.body, "Who will read this?") == (post.path == "octo/unnamed#1"), post.body);
    BOOST_TEST(reason_of(callback) == "");
}

BOOST_AUTO_TEST_CASE(
    without_a_server_a_silence_that_began_before_a_gap_is_told_as_an_outcome_that_is_not_known) {
    // Of the third conversation nothing was ever read: all that there was is in the gap.
    const Rig rig("no_server", 1, {{"worker.inactivity_timeout_s", std::int64_t{15}}});
    ConversationScript lost(id_of(1)), lively(id_of(2)), unread(id_of(3));
    {
        auto worker = rig.epilogue().worker();
        for (ConversationScript* script : {&lost, &lively}) rig.publish(script->user().records());
        eventually("all is read", [&] { return rig.stored() == rig.ends(); });
        end(worker);
    }
    rig.publish({{.key = lost.id(), .value = lost.asks("Nobody will read this.").log().back()}});
    rig.publish(unread.user().asks("Nor this.").records());
    broker_of_this_program().delete_records(rig.name(), rig.ends());
    const auto known = static_cast<std::ptrdiff_t>(lively.log().size());
    const auto records = lively.status("paused").status("running").records();
    rig.publish({records.begin() + known, records.end()});
    rig.add_github(lost.id(), "octo/no_server", 1, "once");
    rig.add_github(lively.id(), "octo/no_server", 2, "once");
    rig.add_github(unread.id(), "octo/no_server", 3, "once");
    auto worker = rig.epilogue().start_worker();
    eventually("all are told",
               [&] { return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'") == 3; });
    for (const auto& post : rig.platform().visible()) {
        const bool is_lost = post.path != "octo/no_server#2";
        BOOST_TEST(contains(post.body, "**Outcome not known**") == is_lost, post.body);
        BOOST_TEST(contains(post.body, "**No sign of life**") == !is_lost, post.body);
    }
}
