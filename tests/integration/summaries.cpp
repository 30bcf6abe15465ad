// The last words of a turn, asked of its agent server before they are posted; and a server that does not say
// them, which costs a post no more than its deadline.
#define BOOST_TEST_MODULE summaries
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "tests/agent/fake_agent_server.h"
#include "tests/agent/held_requests.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;
namespace fake_platform = epilogue::fake_platform;

/// One turn of a conversation, as its server has it and as it comes through the topic.
class Turn {
  public:
    /// `words`: of the finish; none: it could not be parsed.
    Turn(const std::string& name, const std::optional<std::string>& words)
        : id_(name),
          log_({message_event(name + "-u1", 1, "user", "go on"), status_event(name + "-s1", 2, "running"),
                finish_event(name + "-f1", 3, words), status_event(name + "-s2", 4, "finished")}) {}

    const std::string& id() const { return id_; }
    const std::vector<std::string>& log() const { return log_; }
    std::vector<Record> records() const {
        std::vector<Record> records;
        for (const std::string& event : log_) records.push_back({.key = id_, .value = event});
        return records;
    }

  private:
    std::string id_;
    std::vector<std::string> log_;
};

Settings asking(const FakeAgentServer& agents, std::int64_t deadline_s) {
    return {{"agent_server.url", agents.url()},
            {"agent_server.session_api_key", "key"},
            {"summary.deadline_s", deadline_s},
            {"worker.settle_ms", 100}};
}

void answer_final(FakeAgentServer& agents, const std::string& words) {
    agents.on("GET /agent_final_response", [words](const auto&) {
        return fake_platform::json_reply(200, nlohmann::json{{"response", words}}.dump());
    });
}

/// What it was asked for last words; a catch-up, which a slow machine may have time for, asks other things.
std::vector<std::string> questions(const FakeAgentServer& agents) {
    std::vector<std::string> questions = agents.seen();
    std::erase_if(questions, [](const auto& line) { return !contains(line, "/agent_final_response"); });
    return questions;
}

std::string body_at(const Rig& rig, const std::string& path) {
    for (const VisibleComment& comment : rig.platform().visible())
        if (comment.path == path) return comment.body;
    return "";
}

void wait_for_posts(const Rig& rig, std::size_t count) {
    eventually(std::to_string(count) + " posts are SENT", [&] {
        return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'") ==
               static_cast<std::int64_t>(count);
    });
    BOOST_TEST(rig.platform().counts().at("visible") == count);
}

void wait_for_summary(const WorkerProcess& worker, const std::string& result) {
    eventually("one summary is counted as " + result, [&] {
        return total(worker.metrics(), "epilogue_summaries_total", {"result=\"" + result + "\""}) == 1;
    });
}

const std::string owed = "SELECT COUNT(*) FROM summaries WHERE state='OWED'";

}  // namespace

BOOST_AUTO_TEST_CASE(a_finish_that_nobody_could_parse_is_posted_in_the_servers_words_by_every_callback) {
    const std::string secret = "ghp_0123456789abcdef0123456789abcdef0123";
    FakeAgentServer agents;
    answer_final(agents, "The whole answer, with " + secret + " in it.");
    const Turn turn("unparsable", std::nullopt);
    agents.add(turn.id(), turn.log(), "finished");
    const Rig rig("summaries_words", 1, asking(agents, 600));
    rig.add_github(turn.id(), "o/words", 1, "once");
    rig.add_github(turn.id(), "o/words", 2, "once");
    const auto worker = rig.epilogue().worker();
    rig.publish(turn.records());
    wait_for_posts(rig, 2);
    wait_for_summary(worker, "confirmed");

    // One that comes later shows the same.
    rig.add_github(turn.id(), "o/words", 3, "once");
    wait_for_posts(rig, 3);
    for (const char* path : {"o/words#1", "o/words#2", "o/words#3"}) {
        const std::string body = body_at(rig, path);
        BOOST_TEST(contains(body, "The whole answer, with "), body);
        BOOST_TEST(!contains(body, secret));
    }
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM summaries WHERE body LIKE '%" + secret + "%'") == 0);
}

BOOST_AUTO_TEST_CASE(a_conversation_that_runs_again_is_posted_in_its_logs_words) {
    FakeAgentServer agents;
    answer_final(agents, "something else");
    const Turn turn("runs", "All done.");
    agents.add(turn.id(), turn.log(), "running");
    const Rig rig("summaries_runs", 1, asking(agents, 600));
    rig.add_github(turn.id(), "o/runs", 1, "once");
    V0Conversation old("v0-runs");  // V0 has no agent servers
    old.user("Go on.").agent_finishes("Done long ago.");
    rig.add_github(old.id(), "o/runs", 2, "once");
    const auto worker = rig.epilogue().worker();
    rig.publish(turn.records());
    rig.publish(old.records());
    wait_for_posts(rig, 2);
    BOOST_TEST(contains(body_at(rig, "o/runs#1"), "All done."));
    BOOST_TEST(contains(body_at(rig, "o/runs#2"), "Done long ago."));
    wait_for_summary(worker, "not_confirmed");
    wait_for_summary(worker, "made");
    for (const std::string& line : questions(agents)) BOOST_TEST(!contains(line, old.id()));
}

BOOST_AUTO_TEST_CASE(a_server_that_hangs_holds_up_the_posts_of_its_own_conversations_alone) {
    FakeAgentServer hanging;
    FakeAgentServer agents("1.58.0", "");
    answer_final(agents, "said by another server");
    const HeldRequests requests;
    const std::string question = "GET /agent_final_response";  // which a catch-up does not ask
    hanging.on(question, requests.handler());
    const auto asked = [&] { return hanging.bodies(question).size(); };
    Settings settings = asking(hanging, 600);
    settings["worker.http_timeout_s"] = 280;  // none of its questions is over before the test
    settings["worker.lease_s"] = 600;
    const Rig rig("summaries_hang", 1, settings);
    constexpr int held = 12;
    std::vector<Record> records;
    for (int i = 0; i < held; ++i) {
        const Turn turn(std::to_string(i) + "hangs", "All done.");
        hanging.add(turn.id(), turn.log(), "finished");
        rig.add_github(turn.id(), "o/hangs", i + 1, "once");
        for (Record& record : turn.records()) records.push_back(std::move(record));
    }
    const Turn other("answers", std::nullopt);
    agents.add(other.id(), other.log(), "finished");
    rig.query("INSERT INTO agent_endpoints (conversation_id, url) VALUES ('" + other.id() + "', '" +
              agents.url() + "')");
    rig.add_github(other.id(), "o/answers", 1, "once");
    const auto worker = rig.epilogue().worker();
    rig.publish(records);
    eventually("the hanging server is asked by as many as may", [&] { return asked() >= 4; });
    rig.publish(other.records());
    wait_for_posts(rig, 1);
    BOOST_TEST(contains(body_at(rig, "o/answers#1"), "said by another server"));
    BOOST_TEST(rig.number(owed) == held);
    BOOST_TEST(asked() == 4U);
}

BOOST_AUTO_TEST_CASE(at_its_deadline_a_post_goes_out_in_the_logs_words) {
    FakeAgentServer hanging;
    const HeldRequests requests;
    hanging.on("GET late", requests.handler());
    const Turn turn("late", "All done.");
    const Rig rig("summaries_late", 1, asking(hanging, 2));
    rig.add_github(turn.id(), "o/late", 1, "once");
    const auto worker = rig.epilogue().worker();
    rig.publish(turn.records());
    wait_for_posts(rig, 1);
    BOOST_TEST(contains(body_at(rig, "o/late#1"), "All done."));
    wait_for_summary(worker, "late");
    // It was not overdue: it was not looked for before it was sent.
    BOOST_TEST(rig.platform().counts().at("lookups") == 0U);
}

BOOST_AUTO_TEST_CASE(a_callback_that_comes_while_the_server_is_asked_waits_no_longer_than_those_before_it) {
    FakeAgentServer hanging;
    const HeldRequests requests;
    hanging.on("GET shared", requests.handler());
    const Turn turn("shared", "All done.");
    const Rig rig("summaries_shared", 1, asking(hanging, 600));
    rig.add_github(turn.id(), "o/shared", 1, "once");
    const auto worker = rig.epilogue().worker();
    rig.publish(turn.records());
    // Before that, a summary so old would be frozen without a question, and both posts be due.
    eventually("a summariser has it",
               [&] { return rig.number(owed + " AND lease_until>UTC_TIMESTAMP(6)") == 1; });
    rig.query("UPDATE summaries SET created_at=created_at-INTERVAL 1000 SECOND");
    rig.add_github(turn.id(), "o/shared", 2, "once");
    wait_for_posts(rig, 1);
    BOOST_TEST(contains(body_at(rig, "o/shared#2"), "All done."));
}

BOOST_AUTO_TEST_CASE(a_worker_killed_while_it_asks_leaves_the_question_to_the_next) {
    FakeAgentServer agents;
    const Turn turn("killed", "A half of it.");
    agents.add(turn.id(), turn.log(), "finished");
    const HeldRequests requests;
    agents.on("GET /agent_final_response", requests.handler());
    const Rig rig("summaries_kill", 1, asking(agents, 600));
    const auto callback = rig.add_github(turn.id(), "o/killed", 1, "once");
    {
        auto worker = rig.epilogue().worker();
        rig.publish(turn.records());
        eventually("the server is asked",
                   [&] { return !agents.bodies("GET /agent_final_response").empty(); });
        worker.process().kill9();
    }
    BOOST_TEST(rig.number(owed) == 1);
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM deliveries WHERE state='PLANNED'") == 1);
    // What would be posted now are the log's words.
    const auto shown = rig.epilogue().run({"preview", std::to_string(callback)});
    BOOST_TEST(contains(shown.out, "A half of it."), shown.out + shown.err);
    BOOST_TEST(contains(shown.out, "still asked for the last words"));

    answer_final(agents, "All of it.");
    requests.release();
    // The lease of who is dead passes.
    rig.query("UPDATE summaries SET lease_until=UTC_TIMESTAMP(6)");
    const auto worker = rig.epilogue().worker();
    wait_for_posts(rig, 1);
    BOOST_TEST(contains(body_at(rig, "o/killed#1"), "All of it."));
    BOOST_TEST(rig.platform().counts().at("attempts") == 1U);
}

BOOST_AUTO_TEST_CASE(who_wants_facts_alone_asks_nobody) {
    FakeAgentServer agents;
    const Turn turn("facts", "All done.");
    agents.add(turn.id(), turn.log(), "finished");
    Settings settings = asking(agents, 600);
    settings["summary.sources"] = std::vector<std::string>{"digest"};
    const Rig rig("summaries_facts", 1, settings);
    rig.add_github(turn.id(), "o/facts", 1, "once");
    const auto worker = rig.epilogue().worker();
    rig.publish(turn.records());
    wait_for_posts(rig, 1);
    BOOST_TEST(!contains(body_at(rig, "o/facts#1"), "All done."));
    BOOST_TEST(questions(agents).empty());
    wait_for_summary(worker, "made");
}
