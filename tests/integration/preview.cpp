// `epilogue preview` as an operator types it: what would be posted, and that it is what is posted.
#define BOOST_TEST_MODULE preview
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;
using Json = nlohmann::json;

const std::string token = "a token of the tests";

/// A rig, and what cases ask of it.
class PreviewEnvironment {
  public:
    explicit PreviewEnvironment(const std::string& name) : rig_(name, 1) {}

    const Rig& rig() const { return rig_; }
    const Epilogue& epilogue() const { return rig_.epilogue(); }

    std::int64_t add(const std::string& conversation, const std::string& processor,
                     const Json& processor_json) const {
        return rig_.add_callback({"--conversation", conversation, "--mode", "every_turn", "--processor",
                                  processor, "--processor-json", processor_json.dump()});
    }
    Json preview(std::int64_t id) const {
        const auto done = epilogue().run({"preview", std::to_string(id), "--json"});
        BOOST_REQUIRE_MESSAGE(done.status == 0, done.err);
        BOOST_TEST(!contains(done.out, token));
        return Json::parse(done.out);
    }
    /// The requests to the platforms that wrote.
    std::vector<Json> writes() const {
        std::vector<Json> writes;
        for (const auto& entry : rig_.platform().log())
            if (entry.at("method") == "POST") writes.push_back(entry);
        return writes;
    }

  private:
    const Rig rig_;
};

/// That the request was applied once, as it is shown. The platforms' log has refused attempts too: only what
/// was applied counts.
void check_applied_once(const PreviewEnvironment& environment, const Json& shown) {
    std::size_t applied = 0;
    for (const auto& write : environment.writes()) {
        if (environment.rig().platform().url(write.at("path").get<std::string>()) !=
            shown.at("url").get<std::string>())
            continue;
        BOOST_TEST(write.at("body").get<std::string>() == shown.at("body").get<std::string>());
        if (write.at("applied").get<bool>()) ++applied;
    }
    BOOST_TEST(applied == 1U, shown.at("url"));
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_shown_is_what_each_platform_receives_byte_for_byte) {
    const PreviewEnvironment environment("previewed");
    const auto& rig = environment.rig();
    rig.platform().control(
        "POST", "/comments",
        {{"repo", "o/r"}, {"place", "o/r!9"}, {"platform", "github"}, {"author", "human"}, {"body", "root"}},
        std::chrono::seconds(10));
    const auto root = rig.platform().visible().at(0).id;
    const std::vector<std::int64_t> ids{
        environment.add("shown", "github", {{"repo", "o/r"}, {"number", 7}}),
        environment.add("shown", "github", {{"repo", "o/r"}, {"number", 9}, {"review_comment_id", root}}),
        environment.add("shown", "slack", {{"channel", "C1"}, {"thread_ts", "1763715600.000100"}}),
        environment.add("shown", "gitlab", {{"project", "group/name"}, {"iid", 3}, {"kind", "issue"}})};
    const auto log = environment.add("shown", "log", Json::object());
    const auto all = [&] {
        std::vector<Json> previews;
        for (const auto id : ids) previews.push_back(environment.preview(id));
        return previews;
    };

    // Nothing read yet, then an open turn: said, and shown as it stands.
    for (const auto& shown : all()) BOOST_TEST(shown.at("basis") == "nothing");
    V0Conversation conversation("shown");
    conversation.user("Go.");
    rig.publish(conversation.records());
    const auto worker = environment.epilogue().worker();
    eventually("the turn is open", [&] { return rig.stored() == rig.ends(); });
    for (const auto& shown : all()) {
        BOOST_TEST(shown.at("basis") == "open_turn");
        BOOST_TEST(contains(shown.at("note").get<std::string>(), "no turn has ended yet"));
        BOOST_TEST(contains(shown.at("body").get<std::string>(), "Finished"));
    }
    BOOST_TEST(environment.writes().empty());

    // The end comes while every platform is down: what is owed is shown, and then posted.
    rig.platform().rules(Json::array({{{"do", "status"},
                                       {"method", "POST"},
                                       {"times", -1},
                                       {"status", 429},
                                       {"headers", {{"retry-after", "1"}}},
                                       {"answer", {{"message", "later"}}}}}));
    const auto told = conversation.records().size();
    conversation.agent_finishes("Done: **all** of it, \xe2\x82\xac 5, for @everyone.");
    rig.publish(conversation.records_since(told));
    eventually("all four are owed and were tried",
               [&] { return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='RETRY'") == 4; });
    const auto owed = all();
    for (const auto& shown : owed) BOOST_TEST(shown.at("basis") == "delivery");
    rig.platform().rules(Json::array());
    eventually("all are posted",
               [&] { return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'") == 5; });
    BOOST_TEST(owed.size() == ids.size());

    const auto last = all();
    for (const auto& shown : last) {
        BOOST_TEST(shown.at("basis") == "last_turn");
        BOOST_TEST(contains(shown.at("note").get<std::string>(), "has reported it"));
    }
    for (std::size_t i = 0; i < owed.size(); ++i) BOOST_TEST(owed[i].at("body") == last[i].at("body"));
    for (const auto& shown : last) check_applied_once(environment, shown);
    const auto line = environment.preview(log);
    BOOST_TEST(line.at("method") == "LOG");
}

BOOST_AUTO_TEST_CASE(nothing_is_written_and_no_secret_is_shown) {
    const PreviewEnvironment environment("unwritten");
    const auto id = environment.add("c", "github", {{"repo", "o/r"}, {"number", 7}});
    const auto tables = [&] {
        return environment.rig().number(
            "SELECT (SELECT COUNT(*) FROM deliveries) + (SELECT COUNT(*) FROM summaries) + "
            "(SELECT COUNT(*) FROM conversations)");
    };
    const auto before = tables();
    const auto people = environment.epilogue().run({"preview", std::to_string(id)});
    BOOST_TEST(people.status == 0, people.err);
    BOOST_TEST(contains(people.out,
                        "POST " + environment.rig().platform().url("/github/repos/o/r/issues/7/comments")),
               people.out);
    BOOST_TEST(contains(people.out, "Authorization: [hidden]"), people.out);
    BOOST_TEST(!contains(people.out, token));
    BOOST_TEST(tables() == before);
    BOOST_TEST(environment.rig().platform().log().empty());
}

BOOST_AUTO_TEST_CASE(what_cannot_be_previewed_says_why) {
    const PreviewEnvironment environment("unpreviewed");
    const auto unknown = environment.epilogue().run({"preview", "987654"});
    BOOST_TEST(unknown.status == 1);
    BOOST_TEST(contains(unknown.err, "no callback 987654"), unknown.err);
    BOOST_TEST(environment.epilogue().run({"preview", "x"}).status == 64);
    BOOST_TEST(environment.epilogue().run({"preview"}).status == 64);

    const auto id = std::to_string(environment.add("c", "slack", {{"channel", "C1"}}));
    const auto without_token =
        Epilogue(merged({environment.rig().settings(), {{"slack.token", ""}}})).run({"preview", id});
    BOOST_TEST(without_token.status == 1);
    BOOST_TEST(contains(without_token.err, "[slack] token"), without_token.err);

    // A review thread that cannot be asked for: where the reply would go is unknown.
    const auto reply =
        environment.add("c", "github", {{"repo", "o/r"}, {"number", 9}, {"review_comment_id", 5}});
    const auto unreachable =
        Epilogue(merged({environment.rig().settings(), {{"github.api_url", "http://127.0.0.1:9"}}}))
            .run({"preview", std::to_string(reply)});
    BOOST_TEST(unreachable.status == 69, unreachable.err);

    // A row that others wrote and no worker has adopted yet.
    environment.rig().query(
        "INSERT INTO conversation_callbacks (conversation_id, processor_type, processor_json) VALUES "
        "('f', 'log', '{}'), ('f', 'github', '{\"repo\": 5}')");
    const auto foreign = environment.rig().number("SELECT MAX(id) FROM conversation_callbacks");
    BOOST_TEST(environment.preview(foreign - 1).at("method") == "LOG");
    const auto broken = environment.epilogue().run({"preview", std::to_string(foreign)});
    BOOST_TEST(broken.status != 0);
    BOOST_TEST(contains(broken.err, "repo"), broken.err);
}
