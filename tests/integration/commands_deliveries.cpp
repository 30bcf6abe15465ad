// `epilogue deliveries` as a user types it: the ledger, and an operator's verdict.
#define BOOST_TEST_MODULE commands_deliveries
#include <regex>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;
using Json = nlohmann::json;

/// A rig with a worker on it, and what an operator asks of its ledger.
class Ledger {
  public:
    explicit Ledger(const std::string& name)
        : rig_(name, 1, {{"worker.lease_s", 5}, {"worker.http_timeout_s", 2}}),
          worker_(rig_.epilogue().worker()) {}

    const Rig& rig() const { return rig_; }
    const FakePlatformProcess& platform() const { return rig_.platform(); }

    /// Publishes a conversation of one turn with a callback to o/NAME#1; returns the delivery's id.
    std::string owe(const std::string& conversation) const {
        rig_.add_github(conversation, "o/" + conversation, 1, "once");
        rig_.publish(V0Conversation(conversation).user("Go.").agent_finishes("Done.").records());
        return eventually("the delivery is planned",
                          [&]() -> std::optional<std::string> {
                              const auto rows =
                                  rig_.query("SELECT delivery_id FROM deliveries WHERE conversation_id='" +
                                             conversation + "'");
                              return rows.empty() ? std::nullopt : rows[0].at(0);
                          })
            .value();
    }
    Finished run(std::vector<std::string> args) const {
        args.insert(args.begin(), "deliveries");
        return rig_.epilogue().run(args);
    }
    /// The one JSON document that a command prints, and nothing else.
    Json document(std::vector<std::string> args) const {
        args.emplace_back("--json");
        const auto done = run(std::move(args));
        BOOST_TEST(done.status == 0, done.err);
        return Json::parse(done.out);
    }
    Json shown(const std::string& id) const { return document({"show", id}); }
    void wait_for(const std::string& id, const std::string& state) const {
        eventually(id + " is " + state, [&] {
            return rig_.number("SELECT COUNT(*) FROM deliveries WHERE delivery_id='" + id + "' AND state='" +
                               state + "'") == 1;
        });
    }
    /// Only this token is good from now on; "": all are.
    void only_token(const std::string& token) const {
        const auto tokens = token.empty() ? Json::array() : Json{token};
        platform().control("POST", "/tokens", {{"tokens", tokens}}, 5s);
    }
    std::string callback_status(const std::string& conversation) const {
        return rig_
            .query("SELECT status FROM conversation_callbacks WHERE conversation_id='" + conversation + "'")
            .at(0)
            .at(0)
            .value();
    }

  private:
    Rig rig_;
    WorkerProcess worker_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(list_and_show_speak_in_the_tables_columns) {
    const Ledger ledger("ledger");
    BOOST_TEST((ledger.document({"list"}) == Json::array()));
    const auto first = ledger.owe("one");
    ledger.wait_for(first, "SENT");
    const auto second = ledger.owe("two");
    ledger.wait_for(second, "SENT");

    const auto all = ledger.document({"list"});
    BOOST_REQUIRE(all.size() == 2U);
    BOOST_TEST(all[0].at("delivery_id").get<std::string>() == first);
    const auto& row = all[1];
    BOOST_TEST(row.at("delivery_id").get<std::string>() == second);
    BOOST_TEST(row.at("conversation_id").get<std::string>() == "two");
    BOOST_TEST(row.at("turn_key").get<std::string>() == "1");
    BOOST_TEST(row.at("sink").get<std::string>() == "github");
    BOOST_TEST(row.at("verdict").get<std::string>() == "finished");
    BOOST_TEST(row.at("state").get<std::string>() == "SENT");
    BOOST_TEST(row.at("attempt").get<int>() == 1);
    BOOST_TEST(row.at("cause").is_null());
    for (const char* time : {"created_at", "sent_at"})
        BOOST_TEST(std::regex_match(row.at(time).get<std::string>(),
                                    std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)")),
                   row.at(time));
    BOOST_TEST(ledger.document({"list", "--conversation", "one"}).size() == 1U);
    BOOST_TEST(ledger.document({"list", "--state", "SENT", "--limit", "1"}).size() == 1U);
    BOOST_TEST(ledger.document({"list", "--after", first}).size() == 1U);
    BOOST_TEST(ledger.document({"list", "--state", "PARKED"}).empty());
    const auto people = ledger.run({"list"});
    BOOST_TEST(contains(people.out, "delivery_id"));
    BOOST_TEST(contains(people.out, second));
    BOOST_TEST(contains(people.out, "\n2 deliveries\n"), people.out);
    BOOST_TEST(contains(ledger.run({"list", "--limit", "1"}).out, "\n1 delivery; 1 more: --after " + first));

    const auto comment = ledger.platform().visible().at(1);
    const auto shown = ledger.shown(second);
    BOOST_TEST(shown.at("body").get<std::string>() == comment.body);
    BOOST_TEST(shown.at("remote_id").get<std::string>() == std::to_string(comment.id));
    BOOST_TEST(contains(shown.at("remote_url").get<std::string>(), "o/two/issues/1#issuecomment-"));
    BOOST_TEST(shown.at("source_partition").get<int>() == 0);
    BOOST_TEST(contains(ledger.run({"show", second}).out, "state: SENT"));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_is_refused) {
    const Ledger ledger("refused");
    const auto id = ledger.owe("one");
    ledger.wait_for(id, "SENT");
    const std::vector<std::vector<std::string>> unknown{
        {"show", "nobody"}, {"retry", "nobody"}, {"resolve", "nobody", "--not-sent"}};
    for (const auto& args : unknown) {
        const auto done = ledger.run(args);
        BOOST_TEST(done.status == 1);
        BOOST_TEST(contains(done.err, "nobody"), done.err);
    }
    const std::vector<std::vector<std::string>> late{
        {"retry", id}, {"resolve", id, "--not-sent"}, {"resolve", id, "--sent", "http://x"}};
    for (const auto& args : late) BOOST_TEST(ledger.run(args).status == 1);
    BOOST_TEST(ledger.run({"resolve", id}).status == 64);
    BOOST_TEST(ledger.shown(id).at("state").get<std::string>() == "SENT");
    BOOST_TEST(ledger.platform().counts().at("attempts") == 1U);
}

BOOST_AUTO_TEST_CASE(a_refused_credential_parks_and_retry_posts_once_it_is_mended) {
    const Ledger ledger("parked");
    ledger.only_token("another one");
    const auto id = ledger.owe("one");
    ledger.wait_for(id, "PARKED");
    const auto parked = ledger.document({"list", "--state", "PARKED"});
    BOOST_REQUIRE(parked.size() == 1U);
    BOOST_TEST(parked[0].at("cause").get<std::string>().starts_with("credential"), parked[0].at("cause"));
    BOOST_TEST(ledger.callback_status("one") == "ACTIVE");

    ledger.only_token("");
    BOOST_TEST(ledger.run({"retry", id}).status == 0);
    ledger.wait_for(id, "SENT");
    BOOST_TEST(ledger.callback_status("one") == "COMPLETED");
    BOOST_TEST(ledger.platform().visible().size() == 1U);
    BOOST_TEST(ledger.shown(id).at("attempt").get<int>() == 2);
}

BOOST_AUTO_TEST_CASE(retry_all_tries_those_of_a_sink_and_a_cause_and_no_other) {
    const Ledger ledger("parked_all");
    ledger.only_token("another one");
    const auto first = ledger.owe("one");
    const auto second = ledger.owe("two");
    const auto other = ledger.owe("three");
    for (const auto& id : {first, second, other}) ledger.wait_for(id, "PARKED");
    ledger.rig().query("UPDATE deliveries SET cause='unprocessable: no' WHERE delivery_id='" + other + "'");
    const auto none = ledger.run({"retry", "--all", "--why", "cannot_look_up"});
    BOOST_TEST(none.status == 0, none.err);
    BOOST_TEST(none.out.empty(), none.out);
    BOOST_TEST(contains(none.err, "0 deliveries tried again"), none.err);
    BOOST_TEST(ledger.run({"retry", "--all", "--sink", "slack"}).out.empty());

    ledger.only_token("");
    const auto retried = ledger.run({"retry", "--all", "--sink", "github", "--why", "credential"});
    BOOST_TEST(retried.status == 0, retried.err);
    BOOST_TEST(contains(retried.out, first + "\n"), retried.out);
    BOOST_TEST(contains(retried.err, "tried again"), retried.err);
    ledger.wait_for(first, "SENT");
    ledger.wait_for(second, "SENT");
    BOOST_TEST(ledger.shown(other).at("state").get<std::string>() == "PARKED");
    BOOST_TEST(contains(ledger.run({"retry", "--all", "--why", "unusable"}).out, other));
    ledger.wait_for(other, "SENT");
    BOOST_TEST(ledger.platform().visible().size() == 3U);
}

BOOST_AUTO_TEST_CASE(an_operator_says_what_became_of_a_parked_delivery) {
    const Ledger ledger("resolved");
    ledger.only_token("another one");
    const auto sent = ledger.owe("sent");
    const auto unsent = ledger.owe("unsent");
    ledger.wait_for(sent, "PARKED");
    ledger.wait_for(unsent, "PARKED");
    ledger.only_token("");

    BOOST_TEST(ledger.run({"resolve", sent, "--sent", "https://github.com/o/sent/issues/1#x"}).status == 0);
    const auto row = ledger.shown(sent);
    BOOST_TEST(row.at("state").get<std::string>() == "SENT");
    BOOST_TEST(row.at("remote_url").get<std::string>() == "https://github.com/o/sent/issues/1#x");
    BOOST_TEST(!row.at("sent_at").is_null());
    BOOST_TEST(ledger.callback_status("sent") == "COMPLETED");

    BOOST_TEST(ledger.run({"resolve", unsent, "--not-sent"}).status == 0);
    ledger.wait_for(unsent, "SENT");
    BOOST_TEST(ledger.callback_status("unsent") == "COMPLETED");
    const auto visible = ledger.platform().visible();
    BOOST_REQUIRE(visible.size() == 1U);
    BOOST_TEST(visible[0].path == "o/unsent#1");
}

BOOST_AUTO_TEST_CASE(an_operator_says_what_became_of_an_unknown_delivery) {
    const Ledger ledger("unknown");
    // The answers are lost, and look-ups are impossible: the rows stay in doubt.
    ledger.platform().rules({{{"do", "hang"}, {"method", "POST"}, {"times", 2}},
                             {{"do", "status"}, {"status", 502}, {"method", "GET"}, {"times", -1}}});
    const auto sent = ledger.owe("sent");
    const auto unsent = ledger.owe("unsent");
    ledger.wait_for(sent, "UNKNOWN");
    ledger.wait_for(unsent, "UNKNOWN");
    BOOST_TEST(ledger.run({"retry", sent}).status == 1);               // a retry could be the second post
    const auto resolved = [&](const std::vector<std::string>& args) {  // unless a look-up is under way
        eventually("resolved", [&] { return ledger.run(args).status == 0; });
    };
    resolved({"resolve", sent, "--sent", "https://github.com/o/sent/issues/1#x"});
    resolved({"resolve", unsent, "--not-sent"});
    ledger.wait_for(unsent, "SENT");
    BOOST_TEST(ledger.shown(sent).at("state").get<std::string>() == "SENT");
    const auto visible = ledger.platform().visible();
    BOOST_REQUIRE(visible.size() == 1U);
    BOOST_TEST(visible[0].path == "o/unsent#1");
    for (const char* conversation : {"sent", "unsent"})
        BOOST_TEST(ledger.callback_status(conversation) == "COMPLETED");
}
