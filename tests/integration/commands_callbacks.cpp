// `epilogue callbacks` as a user types it: who is told, and what of the past.
#define BOOST_TEST_MODULE commands_callbacks
#include <fstream>
#include <regex>
#include <set>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;
using Json = nlohmann::json;

/// Most cases need the tables and no worker.
const Rig& stage_of_this_file() {
    static const Rig one("registered", 1);
    return one;
}

Finished callbacks(const Rig& rig, std::vector<std::string> args) {
    args.insert(args.begin(), "callbacks");
    return rig.epilogue().run(args);
}

/// The one JSON document that a command prints, and nothing else.
Json document(const Rig& rig, std::vector<std::string> args) {
    args.emplace_back("--json");
    const auto done = callbacks(rig, std::move(args));
    BOOST_TEST(done.status == 0, done.err);
    return Json::parse(done.out);  // throws for anything before or after it
}

std::set<std::int64_t> ids_in(const Json& list) {
    std::set<std::int64_t> ids;
    for (const auto& row : list) ids.insert(row.at("id").get<std::int64_t>());
    return ids;
}

std::string where(const std::string& repo, int number) {
    return Json{{"repo", repo}, {"number", number}}.dump();
}

/// The rows of upstream's tables with this part in their processor's name.
std::vector<Json> upstream_rows(const std::string& part) {
    std::vector<Json> rows;
    std::ifstream file(EPILOGUE_SOURCE_DIR "/tests/data/recordings/processor_json.jsonl");
    for (std::string line; std::getline(file, line);) {
        auto row = Json::parse(line);
        // V1 has no column for the type: its rows name the class inside.
        if (row.at("processor_type").is_null())
            row["processor_type"] = "openhands.app_server.event_callback." +
                                    row.at("processor_json").at("kind").get<std::string>();
        if (contains(row.at("processor_type").get<std::string>(), part)) rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace

BOOST_AUTO_TEST_CASE(add_takes_the_conversations_agent_server_and_never_shows_its_key) {
    const auto& rig = stage_of_this_file();
    const TempDir folder;
    std::ofstream(folder.path() / "key") << "hidden-key\n";
    const auto add = [&](const std::vector<std::string>& more) {
        std::vector<std::string> args{"add", "--conversation", "agent-1", "--processor", "log"};
        args.insert(args.end(), more.begin(), more.end());
        return callbacks(rig, args);
    };
    const auto plain = add({});
    const auto added = add({"--again", "--agent-url", "https://agents.example.com/a", "--agent-key",
                            "file:" + (folder.path() / "key").string()});
    BOOST_TEST(added.status == 0, added.err);
    // The server is the conversation's: all its callbacks show it.
    for (const auto& id : {plain.out, added.out}) {
        const auto shown = document(rig, {"show", id.substr(0, id.size() - 1)});
        BOOST_TEST(shown.at("agent_url").get<std::string>() == "https://agents.example.com/a");
        BOOST_TEST(shown.at("agent_key").get<std::string>() == "sealed");
    }
    const auto row = rig.query("SELECT url, session_key_sealed FROM agent_endpoints").at(0);
    BOOST_TEST(!contains(row.at(1).value(), "hidden-key"));

    struct Wrong {
        std::vector<std::string> args;
        std::string said;
    };
    for (const auto& [args, said] :
         {Wrong{{"--agent-url", "http://h", "--agent-key", "hidden-key"}, "expected env:NAME or file:PATH"},
          Wrong{{"--agent-url", "http://h", "--agent-key", "env:NO_SUCH_NAME"}, "NO_SUCH_NAME is not set"},
          Wrong{{"--agent-key", "file:" + (folder.path() / "key").string()}, "together with agent_url"},
          Wrong{{"--agent-url", "http://user:hidden-key@h"}, "agent_url: expected"}}) {
        const auto refused = add(args);
        BOOST_TEST(refused.status == 64);
        BOOST_TEST(contains(refused.err, said), refused.err);
        BOOST_TEST(!contains(refused.err, "hidden-key"), refused.err);
    }
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM agent_endpoints") == 1);
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM conversation_callbacks WHERE conversation_id='agent-1'") ==
               2);
}

BOOST_AUTO_TEST_CASE(add_prints_the_id_and_show_and_list_say_what_was_registered) {
    const auto& rig = stage_of_this_file();
    const auto added = callbacks(
        rig, {"add", "--conversation", "7D1F0E0A-9d7b-4c56-a1b2-c3d4e5f60718", "--processor", "github",
              "--processor-json", where("o/r", 7), "--mode", "every_turn", "--triggers", "finished,error"});
    BOOST_TEST(added.status == 0, added.err);
    BOOST_TEST(std::regex_match(added.out, std::regex("\\d+\n")), added.out);
    const std::string id = added.out.substr(0, added.out.size() - 1);

    const auto shown = document(rig, {"show", id});
    BOOST_TEST(shown.at("id").get<std::int64_t>() == std::stoll(id));
    BOOST_TEST(shown.at("conversation_id").get<std::string>() == "7d1f0e0a9d7b4c56a1b2c3d4e5f60718");
    BOOST_TEST(shown.at("status").get<std::string>() == "ACTIVE");
    BOOST_TEST(shown.at("phase").get<std::string>() == "watching");
    BOOST_TEST(shown.at("processor_type").get<std::string>() == "github");
    BOOST_TEST((shown.at("processor_json") == Json::parse(where("o/r", 7))));
    BOOST_TEST(shown.at("options").at("mode").get<std::string>() == "every_turn");
    BOOST_TEST((shown.at("options").at("triggers") == Json{"finished", "error"}));
    for (const char* time : {"adopted_at", "created_at", "updated_at"})
        BOOST_TEST(std::regex_match(shown.at(time).get<std::string>(),
                                    std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)")),
                   time << ": " << shown.at(time));

    const auto people = callbacks(rig, {"list", "--conversation", "7d1f0e0a9d7b4c56a1b2c3d4e5f60718"});
    BOOST_TEST(people.status == 0);
    for (const char* part : {"id", "conversation_id", "status", "7d1f0e0a9d7b4c56a1b2c3d4e5f60718", "ACTIVE"})
        BOOST_TEST(contains(people.out, part), people.out);
    BOOST_TEST(callbacks(rig, {"show", id}).out.find("conversation_id: 7d1f") != std::string::npos);
    const auto by_json = document(rig, {"add", "--conversation", "j", "--processor", "log"});
    BOOST_TEST(by_json.at("id").get<std::int64_t>() > std::stoll(id));
}

BOOST_AUTO_TEST_CASE(list_takes_its_filters) {
    const Rig rig("listed", 1);
    BOOST_TEST((document(rig, {"list"}) == Json::array()));
    std::vector<std::int64_t> ids;
    for (const char* conversation : {"a", "a", "b", "c"})
        ids.push_back(rig.add_callback({"--conversation", conversation, "--processor", "log", "--again"}));
    BOOST_TEST(callbacks(rig, {"cancel", std::to_string(ids[1])}).status == 0);
    const auto listed = [&](std::vector<std::string> args) {
        args.insert(args.begin(), "list");
        return ids_in(document(rig, args));
    };
    BOOST_TEST((listed({}) == std::set<std::int64_t>{ids[0], ids[1], ids[2], ids[3]}));
    BOOST_TEST((listed({"--conversation", "a"}) == std::set<std::int64_t>{ids[0], ids[1]}));
    BOOST_TEST((listed({"--status", "COMPLETED"}) == std::set<std::int64_t>{ids[1]}));
    BOOST_TEST((listed({"--status", "ACTIVE", "--conversation", "a"}) == std::set<std::int64_t>{ids[0]}));
    BOOST_TEST((listed({"--limit", "2"}) == std::set<std::int64_t>{ids[0], ids[1]}));
    BOOST_TEST((listed({"--after", std::to_string(ids[1])}) == std::set<std::int64_t>{ids[2], ids[3]}));
    BOOST_TEST(listed({"--dormant"}).empty());
}

BOOST_AUTO_TEST_CASE(a_list_fits_120_columns_counts_its_rows_and_says_that_there_is_more) {
    const Rig rig("pages", 1);
    for (int number = 1; number <= 3; ++number)
        rig.add_github("7d1f0e0a9d7b4c56a1b2c3d4e5f60718", "organisation/repository", number, "every_turn");
    rig.add_callback({"--conversation", std::string(200, 'c'), "--processor",
                      "a.module.with.a.long.name.GithubCallbackProcessor", "--processor-json",
                      where("o/r", 1)});
    const auto all = callbacks(rig, {"list"});
    BOOST_TEST(all.out.ends_with("\n4 callbacks\n"), all.out);
    for (std::size_t begin = 0; begin < all.out.size(); begin = all.out.find('\n', begin) + 1) {
        const auto line = all.out.substr(begin, all.out.find('\n', begin) - begin);
        BOOST_TEST(epilogue::code_points(line) <= 120U, line);
    }
    BOOST_TEST(contains(all.out, "7d1f0e0a9d7b4c56a1b2c3d4e5f60718"), all.out);
    const auto first = callbacks(rig, {"list", "--limit", "1"});
    BOOST_TEST(first.out.ends_with("\n1 callback; 3 more: --after 1\n"), first.out);
    const auto last = callbacks(rig, {"list", "--limit", "1", "--after", "3"});
    BOOST_TEST(last.out.ends_with("\n1 callback\n"), last.out);
    const auto by_json = callbacks(rig, {"list", "--limit", "1", "--json"});
    BOOST_TEST(Json::parse(by_json.out).size() == 1U);
    BOOST_TEST(contains(by_json.err, "1 callback; 3 more: --after 1"), by_json.err);
    BOOST_TEST(callbacks(rig, {"list", "--limit", "4", "--json"}).err.empty());
}

BOOST_AUTO_TEST_CASE(a_wrong_registration_is_refused_with_the_field_named_and_leaves_nothing) {
    const auto& rig = stage_of_this_file();
    struct Wrong {
        std::vector<std::string> args;
        std::string named;
    };
    const std::string good = where("o/r", 7);
    const std::vector<Wrong> wrong{
        {{"--processor", "github", "--processor-json", R"({"repo": "o/r"})"}, "number"},
        {{"--processor", "github", "--processor-json", R"({"repo": "o/r", "number": "7"})"}, "number"},
        {{"--processor", "github", "--processor-json", R"({"repo": "o/r", "number": 0})"}, "number"},
        {{"--processor", "github", "--processor-json", R"({"repo": "../r", "number": 7})"}, "repo"},
        {{"--processor", "github", "--processor-json", R"({"number": 7})"}, "repo"},
        {{"--processor", "github", "--processor-json", "[1]"}, "object"},
        {{"--processor", "github", "--processor-json", "{"}, "JSON"},
        {{"--processor", "github"}, "repo"},
        {{"--processor", "x.GithubCallbackProcessor", "--processor-json", R"({"github_view": {}})"},
         "full_repo_name"},
        {{"--processor", "pigeon", "--processor-json", good}, "pigeon"},
        {{"--processor", "github", "--processor-json", good, "--mode", "twice"}, "twice"},
        {{"--processor", "github", "--processor-json", good, "--triggers", "finished,bored"}, "bored"},
        {{"--processor", "github", "--processor-json", good, "--from", "first"},
         "from: expected last or next"},
        {{"--processor", "github", "--processor-json-file", "no-such-file"}, "no-such-file"},
        {{"--processor", "github", "--processor-json", good, "--processor-json-file", "f"},
         "--processor-json"}};
    const auto before = rig.number("SELECT COUNT(*) FROM conversation_callbacks");
    for (const auto& [args, named] : wrong) {
        auto all = args;
        all.insert(all.begin(), {"add", "--conversation", "w"});
        const auto done = callbacks(rig, all);
        BOOST_TEST_CONTEXT(args.back()) {
            BOOST_TEST(done.status == 64);
            BOOST_TEST(contains(done.err, named), done.err);
            BOOST_TEST(done.out.empty());
        }
    }
    for (const auto& conversation : {std::string(), std::string(256, 'x'), std::string("\xff")})
        BOOST_TEST(callbacks(rig, {"add", "--conversation", conversation, "--processor", "log"}).status ==
                   64);
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM conversation_callbacks") == before);
}

BOOST_AUTO_TEST_CASE(an_equal_registration_returns_the_first_ones_id_and_says_so) {
    const auto& rig = stage_of_this_file();
    const auto added = [&](const std::vector<std::string>& more) {
        std::vector<std::string> args{"add", "--conversation", "7D1F0E0A-9d7b-4c56-a1b2-c3d4e5f6beef"};
        args.insert(args.end(), more.begin(), more.end());
        auto done = callbacks(rig, args);
        BOOST_TEST(done.status == 0, done.err);
        return done;
    };
    const auto place = where("o/equal", 7);
    const auto first = added({"--processor", "github", "--processor-json", place});
    BOOST_TEST(first.err.empty(), first.err);
    // The same wish in other words: another spelling of the JSON, the defaults written out, another past.
    for (const auto& more :
         {std::vector<std::string>{"--mode", "once"},
          {"--from", "next"},
          {"--triggers", "timeout,finished,awaiting_user_input,error,stuck,rejected,stopped"}}) {
        std::vector<std::string> args{"--processor", "github", "--processor-json",
                                      R"({ "number": 7, "repo": "o/equal", "more": 1 })"};
        args.insert(args.end(), more.begin(), more.end());
        const auto equal = added(args);
        BOOST_TEST(equal.out == first.out);
        BOOST_TEST(
            contains(equal.err, "nothing was added: callback " + first.out.substr(0, first.out.size() - 1)),
            equal.err);
        BOOST_TEST(contains(equal.err, "--again"), equal.err);
    }
    const auto by_json = added({"--processor", "github", "--processor-json", place, "--json"});
    BOOST_TEST(Json::parse(by_json.out).at("already_registered").get<bool>());
    BOOST_TEST(by_json.err.empty(), by_json.err);
    // Each of these is another wish.
    std::set<std::string> ids{first.out};
    for (const auto& other :
         {std::vector<std::string>{"--processor", "github", "--processor-json", place, "--again"},
          {"--processor", "github", "--processor-json", place, "--mode", "every_turn"},
          {"--processor", "github", "--processor-json", place, "--triggers", "error"},
          {"--processor", "github", "--processor-json", where("o/equal", 8)},
          {"--processor", "log"}}) {
        const auto done = added(other);
        BOOST_TEST(done.err.empty(), done.err);
        BOOST_TEST(ids.insert(done.out).second);
    }
    // One that was cancelled reports nothing more: the wish is a new one.
    for (const auto& id : ids)
        BOOST_TEST(callbacks(rig, {"cancel", id.substr(0, id.size() - 1)}).status == 0);
    BOOST_TEST(ids.count(added({"--processor", "github", "--processor-json", place}).out) == 0U);
}

BOOST_AUTO_TEST_CASE(an_equal_registration_tells_the_first_ones_conversation_its_agent_server) {
    const auto& rig = stage_of_this_file();
    const std::vector<std::string> plain{"add", "--conversation", "agent-2", "--processor", "log"};
    const auto first = callbacks(rig, plain);
    auto with_server = plain;
    with_server.insert(with_server.end(), {"--agent-url", "https://agents.example.com/b"});
    BOOST_TEST(callbacks(rig, with_server).out == first.out);
    const auto shown = document(rig, {"show", first.out.substr(0, first.out.size() - 1)});
    BOOST_TEST(shown.at("agent_url").get<std::string>() == "https://agents.example.com/b");
}

BOOST_AUTO_TEST_CASE(an_idempotency_key_registers_once_and_takes_no_other_options) {
    const auto& rig = stage_of_this_file();
    const auto add = [&](const std::string& conversation, const std::string& key) {
        return callbacks(rig, {"add", "--conversation", conversation, "--processor", "log", "--again",
                               "--idempotency-key", key});
    };
    const auto first = add("keyed", "job-1");
    BOOST_TEST(first.status == 0, first.err);
    const auto repeated = add("keyed", "job-1");
    BOOST_TEST(repeated.out == first.out);
    BOOST_TEST(contains(repeated.err, "was registered with this --idempotency-key"), repeated.err);
    BOOST_TEST(add("keyed", "job-2").out != first.out);
    const auto other = add("keyed-otherwise", "job-1");
    BOOST_TEST(other.status == 64);
    BOOST_TEST(contains(other.err, "with another body before"), other.err);
    BOOST_TEST(add("keyed", "").status == 64);

    // A key whose request found an equal registration stands for that one, also when it is done.
    const auto keyed = [&](const std::string& key) {
        return callbacks(
            rig, {"add", "--conversation", "keyed-equal", "--processor", "log", "--idempotency-key", key});
    };
    const auto wish = keyed("wish-1");
    BOOST_TEST(keyed("wish-2").out == wish.out);
    BOOST_TEST(callbacks(rig, {"cancel", wish.out.substr(0, wish.out.size() - 1)}).status == 0);
    BOOST_TEST(keyed("wish-2").out == wish.out);
    BOOST_TEST(keyed("wish-3").out != wish.out);
}

BOOST_AUTO_TEST_CASE(a_misspelt_processor_is_told_what_was_meant) {
    const auto& rig = stage_of_this_file();
    const auto refused = [&](const std::string& type) {
        const auto done = callbacks(rig, {"add", "--conversation", "w", "--processor", type});
        BOOST_TEST(done.status == 64);
        return done.err;
    };
    BOOST_TEST(contains(refused("githb"), "did you mean \"github\"?"));
    BOOST_TEST(contains(refused("Slack"), "did you mean \"slack\"?"));
    BOOST_TEST(contains(refused("x.y.GithubCalbackProcessor"), "did you mean \"GithubCallbackProcessor\"?"));
    const std::string unlike_any = refused("pigeon");
    BOOST_TEST(
        contains(unlike_any, "expected slack, github, gitlab, jira, linear, webhook, topic, email, log, or"),
        unlike_any);
}

BOOST_AUTO_TEST_CASE(an_unknown_id_is_a_failure_that_names_it) {
    const auto& rig = stage_of_this_file();
    for (const char* command : {"show", "cancel", "wake"}) {
        const auto done = callbacks(rig, {command, "987654"});
        BOOST_TEST(done.status == 1);
        BOOST_TEST(contains(done.err, "987654"), done.err);
        BOOST_TEST(done.out.empty());
    }
}

BOOST_AUTO_TEST_CASE(cancel_completes_a_callback_and_wake_leaves_one_that_is_awake) {
    const auto& rig = stage_of_this_file();
    const auto id = std::to_string(rig.add_github("cancelled", "o/r", 7, "once"));
    BOOST_TEST(callbacks(rig, {"wake", id}).status == 0);
    BOOST_TEST(document(rig, {"show", id}).at("phase").get<std::string>() == "watching");
    for (int i = 0; i < 2; ++i) {
        BOOST_TEST(callbacks(rig, {"cancel", id}).status == 0);
        const auto shown = document(rig, {"show", id});
        BOOST_TEST(shown.at("status").get<std::string>() == "COMPLETED");
        BOOST_TEST(shown.at("phase").get<std::string>() == "cancelled");
    }
}

BOOST_AUTO_TEST_CASE(rows_as_openhands_writes_them_are_accepted_and_kept_as_they_are) {
    const auto& rig = stage_of_this_file();
    const TempDir folder;
    const auto file = folder.path() / "processor.json";
    const auto rows = upstream_rows(".Github");
    BOOST_TEST(rows.size() == 6U);
    for (const auto& row : rows) {
        BOOST_TEST_CONTEXT(row.at("_note")) {
            const auto type = row.at("processor_type").get<std::string>();
            std::ofstream(file) << row.at("processor_json").dump(2);
            const auto id = rig.add_callback({"--conversation", "upstream", "--processor", type,
                                              "--processor-json-file", file.string(), "--again"});
            const auto shown = document(rig, {"show", std::to_string(id)});
            BOOST_TEST(shown.at("processor_type").get<std::string>() == type);
            BOOST_TEST((shown.at("processor_json") == row.at("processor_json")));
            BOOST_TEST(shown.at("status").get<std::string>() == "ACTIVE");
        }
    }
}

BOOST_AUTO_TEST_CASE(a_late_registration_is_told_the_last_end_once_and_only_when_it_asks) {
    const Rig rig("late", 1);
    V0Conversation conversation("late");
    conversation.user("Go.").agent_asks("Which?").user("That.").agent_finishes("Done.");
    rig.publish(conversation.records());
    const auto worker = rig.epilogue().worker();
    eventually("the conversation is read", [&] { return rig.stored() == rig.ends(); });

    const auto owed = [&] { return rig.number("SELECT COUNT(*) FROM deliveries"); };
    const auto first = rig.add_github("late", "o/late", 1, "every_turn");
    BOOST_TEST(owed() == 1);  // the last end, not the question before it
    rig.add_callback({"--conversation", "late", "--processor", "github", "--processor-json",
                      where("o/late", 1), "--mode", "every_turn", "--again"});
    BOOST_TEST(owed() == 1);  // it was told there
    const auto other = rig.add_github("late", "o/late", 2, "once");
    BOOST_TEST(owed() == 2);
    const auto next = rig.add_callback({"--conversation", "late", "--processor", "github", "--processor-json",
                                        where("o/late", 3), "--from", "next", "--mode", "every_turn"});
    BOOST_TEST(owed() == 2);
    eventually("both are sent",
               [&] { return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'") == 2; });
    for (const auto& comment : rig.platform().visible())
        BOOST_TEST(contains(comment.body, "**Finished**\n\nDone."), comment.body);
    const auto shown = [&](std::int64_t id) { return document(rig, {"show", std::to_string(id)}); };
    BOOST_TEST(shown(other).at("status").get<std::string>() == "COMPLETED");
    BOOST_TEST(shown(first).at("status").get<std::string>() == "ACTIVE");
    BOOST_TEST(shown(first).at("turn_key").get<std::string>() == "5");
    BOOST_TEST(shown(next).at("turn_key").is_null());

    // The first wish of `other` was heard: to ask again is to ask for the next turn.
    const auto anew = rig.add_github("late", "o/late", 2, "once");
    BOOST_TEST(anew != other);
    BOOST_TEST(callbacks(rig, {"cancel", std::to_string(anew)}).status == 0);

    // A turn is open: there is nothing to tell now, and the end to come is told once.
    const auto known = conversation.records().size();
    conversation.user("More.");
    rig.publish(conversation.records_since(known));
    eventually("the turn is opened", [&] { return rig.stored() == rig.ends(); });
    const auto during = rig.add_github("late", "o/late", 4, "once");
    BOOST_TEST(owed() == 2);
    const auto opened = conversation.records().size();
    conversation.agent_finishes("Done again.");
    rig.publish(conversation.records_since(opened));
    eventually("the new end is told",
               [&] { return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'") == 6; });
    std::multiset<std::string> told;
    for (const auto& comment : rig.platform().visible())
        if (contains(comment.body, "Done again.")) told.insert(comment.path);
    BOOST_TEST((told == std::multiset<std::string>{"o/late#1", "o/late#1", "o/late#3", "o/late#4"}));
    BOOST_TEST(shown(during).at("status").get<std::string>() == "COMPLETED");
}
