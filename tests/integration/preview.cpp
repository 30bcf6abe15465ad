// `epilogue preview` as an operator types it: what would be posted, and that it is what is posted.
#define BOOST_TEST_MODULE preview
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/rig.h"
#include "tests/support/eventually.h"

namespace {

using namespace epilogue::testing;
using Json = nlohmann::json;

const std::string token = "a token of the tests";

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// A stage, and what cases ask of it.
class Scene {
  public:
    explicit Scene(const std::string& name) : stage_(name, 1) {}

    const Stage& stage() const { return stage_; }
    const Epilogue& epilogue() const { return stage_.epilogue(); }

    std::int64_t add(const std::string& conversation, const std::string& processor,
                     const Json& processor_json) const {
        return stage_.add_callback({"--conversation", conversation, "--mode", "every_turn", "--processor",
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
        for (const auto& entry : stage_.platform().log())
            if (entry.at("method") == "POST") writes.push_back(entry);
        return writes;
    }

  private:
    const Stage stage_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_shown_is_what_each_platform_receives_byte_for_byte) {
    const Scene scene("previewed");
    const auto& stage = scene.stage();
    stage.platform().control(
        "POST", "/comments",
        {{"repo", "o/r"}, {"place", "o/r!9"}, {"platform", "github"}, {"author", "human"}, {"body", "root"}},
        std::chrono::seconds(10));
    const auto root = stage.platform().visible().at(0).id;
    const std::vector<std::int64_t> ids{
        scene.add("shown", "github", {{"repo", "o/r"}, {"number", 7}}),
        scene.add("shown", "github", {{"repo", "o/r"}, {"number", 9}, {"review_comment_id", root}}),
        scene.add("shown", "slack", {{"channel", "C1"}, {"thread_ts", "1763715600.000100"}}),
        scene.add("shown", "gitlab", {{"project", "group/name"}, {"iid", 3}, {"kind", "issue"}})};
    const auto log = scene.add("shown", "log", Json::object());
    const auto all = [&] {
        std::vector<Json> previews;
        for (const auto id : ids) previews.push_back(scene.preview(id));
        return previews;
    };

    // Nothing read yet, then an open turn: said, and shown as it stands.
    for (const auto& shown : all()) BOOST_TEST(shown.at("basis") == "nothing");
    Story story("shown");
    story.user("Go.");
    stage.publish(story.records());
    const auto worker = scene.epilogue().worker();
    eventually("the turn is open", [&] { return stage.stored() == stage.ends(); });
    for (const auto& shown : all()) {
        BOOST_TEST(shown.at("basis") == "open_turn");
        BOOST_TEST(contains(shown.at("note").get<std::string>(), "no turn has ended yet"));
        BOOST_TEST(contains(shown.at("body").get<std::string>(), "Finished"));
    }
    BOOST_TEST(scene.writes().empty());

    // The end comes while every platform is down: what is owed is shown, and then posted.
    stage.platform().rules(Json::array({{{"do", "status"},
                                         {"method", "POST"},
                                         {"times", -1},
                                         {"status", 429},
                                         {"headers", {{"retry-after", "1"}}},
                                         {"answer", {{"message", "later"}}}}}));
    const auto told = story.records().size();
    story.agent_finishes("Done: **all** of it, \xe2\x82\xac 5, for @everyone.");
    stage.publish({story.records().begin() + static_cast<std::ptrdiff_t>(told), story.records().end()});
    eventually("all four are owed and were tried",
               [&] { return stage.number("SELECT COUNT(*) FROM deliveries WHERE state='RETRY'") == 4; });
    const auto owed = all();
    for (const auto& shown : owed) BOOST_TEST(shown.at("basis") == "delivery");
    stage.platform().rules(Json::array());
    eventually("all are posted",
               [&] { return stage.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'") == 5; });
    BOOST_TEST(owed.size() == ids.size());

    // The platforms' log has refused attempts too: only what was applied counts.
    const auto last = all();
    for (const auto& shown : last) {
        BOOST_TEST(shown.at("basis") == "last_turn");
        BOOST_TEST(contains(shown.at("note").get<std::string>(), "has reported it"));
    }
    for (std::size_t i = 0; i < owed.size(); ++i) BOOST_TEST(owed[i].at("body") == last[i].at("body"));
    for (const auto& shown : last) {
        std::size_t applied = 0;
        for (const auto& write : scene.writes()) {
            if (stage.platform().url(write.at("path").get<std::string>()) !=
                shown.at("url").get<std::string>())
                continue;
            BOOST_TEST(write.at("body").get<std::string>() == shown.at("body").get<std::string>());
            if (write.at("applied").get<bool>()) ++applied;
        }
        BOOST_TEST(applied == 1U, shown.at("url"));
    }
    const auto line = scene.preview(log);
    BOOST_TEST(line.at("method") == "LOG");
}

BOOST_AUTO_TEST_CASE(nothing_is_written_and_no_secret_is_shown) {
    const Scene scene("unwritten");
    const auto id = scene.add("c", "github", {{"repo", "o/r"}, {"number", 7}});
    const auto tables = [&] {
        return scene.stage().number(
            "SELECT (SELECT COUNT(*) FROM deliveries) + (SELECT COUNT(*) FROM summaries) + "
            "(SELECT COUNT(*) FROM conversations)");
    };
    const auto before = tables();
    const auto people = scene.epilogue().run({"preview", std::to_string(id)});
    BOOST_TEST(people.status == 0, people.err);
    BOOST_TEST(
        contains(people.out, "POST " + scene.stage().platform().url("/github/repos/o/r/issues/7/comments")),
        people.out);
    BOOST_TEST(contains(people.out, "Authorization: [hidden]"), people.out);
    BOOST_TEST(!contains(people.out, token));
    BOOST_TEST(tables() == before);
    BOOST_TEST(scene.stage().platform().log().empty());
}

BOOST_AUTO_TEST_CASE(what_cannot_be_previewed_says_why) {
    const Scene scene("unpreviewed");
    const auto unknown = scene.epilogue().run({"preview", "987654"});
    BOOST_TEST(unknown.status == 1);
    BOOST_TEST(contains(unknown.err, "no callback 987654"), unknown.err);
    BOOST_TEST(scene.epilogue().run({"preview", "x"}).status == 64);
    BOOST_TEST(scene.epilogue().run({"preview"}).status == 64);

    const auto id = std::to_string(scene.add("c", "slack", {{"channel", "C1"}}));
    const auto without_token =
        Epilogue(merged({scene.stage().settings(), {{"slack.token", ""}}})).run({"preview", id});
    BOOST_TEST(without_token.status == 1);
    BOOST_TEST(contains(without_token.err, "[slack] token"), without_token.err);

    // A review thread that cannot be asked for: nobody knows where the reply would go.
    const auto reply = scene.add("c", "github", {{"repo", "o/r"}, {"number", 9}, {"review_comment_id", 5}});
    const auto unreachable =
        Epilogue(merged({scene.stage().settings(), {{"github.api_url", "http://127.0.0.1:9"}}}))
            .run({"preview", std::to_string(reply)});
    BOOST_TEST(unreachable.status == 69, unreachable.err);

    // A row that others wrote and nobody adopted yet.
    scene.stage().query(
        "INSERT INTO conversation_callbacks (conversation_id, processor_type, processor_json) VALUES "
        "('f', 'log', '{}'), ('f', 'github', '{\"repo\": 5}')");
    const auto foreign = scene.stage().number("SELECT MAX(id) FROM conversation_callbacks");
    BOOST_TEST(scene.preview(foreign - 1).at("method") == "LOG");
    const auto broken = scene.epilogue().run({"preview", std::to_string(foreign)});
    BOOST_TEST(broken.status != 0);
    BOOST_TEST(contains(broken.err, "repo"), broken.err);
}
