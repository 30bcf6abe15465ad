// The whole program on the three platforms: recorded conversations that others' rows wait for, in the words
// of both generations of upstream, and our own; each told once, in the right thread, in spite of answers that
// are lost.
#define BOOST_TEST_MODULE platforms
#include <algorithm>
#include <iostream>
#include <map>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "tests/integration/contract_post.h"
#include "tests/integration/recording_set.h"
#include "tests/integration/upstream_row.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"

namespace {

using namespace epilogue::testing;
using epilogue::Instant;
using Json = nlohmann::json;

/// A place, and what has to stand there.
struct Wanted {
    std::string what;
    std::string platform;
    std::string path;
    std::string thread;
    const RecordedConversation* conversation = nullptr;
    std::vector<RecordedTurn> turns;
    std::string callback;
};

std::string quoted(const std::string& text) {
    return "'" + epilogue::replaced(epilogue::replaced(text, "\\", "\\\\"), "'", "''") + "'";
}

/// Rows of another program, two for each conversation; they report one turn.
void insert_rows(const Rig& rig, const std::vector<RecordedConversation>& all, std::vector<Wanted>& wanted) {
    std::string values;
    for (std::size_t i = 0; i < 2 * all.size(); ++i) {
        const auto& conversation = all.at(i / 2);
        const auto row = upstream_row(rig.platform(), i + 1);
        values += (values.empty() ? "(" : ",(") + quoted(conversation.id) + "," + quoted(row.processor_type) +
                  "," + quoted(row.processor_json) + ",UTC_TIMESTAMP(6))";
        wanted.push_back({row.note, row.platform, row.path, row.thread, &conversation,
                          reported_turns(conversation, "once"), std::to_string(i + 1)});
    }
    rig.query(
        "INSERT INTO conversation_callbacks (conversation_id, processor_type, processor_json, created_at) "
        "VALUES " +
        values);
}

/// Our own, of all kinds of places, for every turn of the conversations with the most of them.
void add_own(const Rig& rig, const std::vector<RecordedConversation>& all, std::vector<Wanted>& wanted) {
    std::vector<const RecordedConversation*> longest;
    for (const auto& conversation : all) longest.push_back(&conversation);
    std::stable_sort(longest.begin(), longest.end(),
                     [](const auto* a, const auto* b) { return a->turns.size() > b->turns.size(); });
    const auto seed = [&](const char* platform, const std::string& place, const std::string& thread) {
        const Json comment{{"platform", platform}, {"place", place}, {"body", "Why?"}, {"thread", thread}};
        return rig.platform()
            .control("POST", "/comments", comment, std::chrono::seconds{60})
            .at("id")
            .get<std::int64_t>();
    };
    constexpr std::size_t told = 4;
    for (std::size_t i = 0; i < told; ++i) {
        const auto* conversation = longest.at(i);
        const auto number = 9000 + static_cast<int>(i);
        const auto text = std::to_string(number);
        const auto root = seed("github", "octo/own!" + text, "");
        const auto discussion = "abc" + text;
        seed("gitlab", "4455!" + text, discussion);
        const std::vector<std::tuple<std::string, Json, std::string, std::string>> places{
            {"slack", {{"channel", "COWN" + text}}, "COWN" + text, ""},
            {"github", {{"repo", "octo/own"}, {"number", number}}, "octo/own#" + text, ""},
            {"github",
             {{"repo", "octo/own"}, {"number", number}, {"review_comment_id", root}},
             "octo/own!" + text,
             std::to_string(root)},
            {"gitlab",
             {{"project", "group/own"}, {"iid", number}, {"kind", "issue"}},
             "group/own#" + text,
             ""},
            {"gitlab",
             {{"project", 4455}, {"iid", number}, {"kind", "merge_request"}, {"discussion_id", discussion}},
             "4455!" + text,
             discussion}};
        for (const auto& [processor, json, path, thread] : places) {
            const auto id = rig.add_callback({"--conversation", conversation->id, "--processor", processor,
                                              "--mode", "every_turn", "--processor-json", json.dump()});
            wanted.push_back({"our own " + processor, processor, path, thread, conversation,
                              reported_turns(*conversation, "every_turn"), std::to_string(id)});
        }
    }
}

void check_post(const VisibleComment& post, const Wanted& wanted, const RecordedTurn& turn,
                const std::string& delivery, const std::string& key) {
    BOOST_TEST(post.thread == wanted.thread);
    const std::string plain = without_problems(epilogue::replaced(post.body, "\u200b", ""));
    BOOST_TEST((plain + "\n\n").starts_with(start_of_post(turn)), post.body << "\nstarts not with\n"
                                                                            << start_of_post(turn));
    if (wanted.platform == "slack") {
        BOOST_TEST(post.body.find("<!--") == std::string::npos);
        const Json marker{{"event_type", "epilogue_delivery"}, {"event_payload", {{"id", delivery}}}};
        BOOST_TEST(Json::parse(post.metadata) == marker);
    } else {
        BOOST_TEST(post.body.substr(post.body.rfind('\n') + 1) == marker_of(key, delivery));
    }
}

/// A conversation with three callbacks of every turn, each with an acknowledgement on its platform.
V0Conversation acknowledged(const Rig& rig, const std::string& name) {
    const auto seeded = [&](const char* platform, const std::string& place, const std::string& at) {
        const Json comment{{"platform", platform}, {"place", place},   {"body", "I'm on it!"},
                           {"thread", ""},         {"created_at", at}, {"author", "epilogue-bot"}};
        return rig.platform().control("POST", "/comments", comment, std::chrono::seconds{60}).at("id");
    };
    const std::string at = "2026-11-21T10:00:00Z";  // Slack names a message by its second and, here, its id
    const auto comment = seeded("github", "octo/own#7", at);
    const auto note = seeded("gitlab", "4455#7", at);
    const auto message = seeded("slack", "C1", at).dump();
    const std::string ts = "1795255200." + std::string(6 - message.size(), '0') + message;
    const std::vector<std::pair<std::string, Json>> places{
        {"github", {{"repo", "octo/own"}, {"number", 7}, {"comment_id", comment}}},
        {"gitlab", {{"project", 4455}, {"iid", 7}, {"kind", "issue"}, {"note_id", note}}},
        {"slack", {{"channel", "C1"}, {"message_ts", ts}}}};
    V0Conversation told(name);
    for (auto [processor, json] : places) {
        json["mode_of_post"] = "update";
        rig.add_callback({"--conversation", told.id(), "--processor", processor, "--mode", "every_turn",
                          "--processor-json", json.dump()});
    }
    return told;
}

void tell_turn(const Rig& rig, V0Conversation& told, int turn) {
    const std::size_t known = told.records().size();
    told.user("Go on.").agent_asks("What next, after turn " + std::to_string(turn) + "?");
    rig.publish(told.records_since(known));
}

void wait_for_state(const Rig& rig, const std::string& state, int deliveries) {
    eventually(std::to_string(deliveries) + " deliveries are " + state, [&] {
        rig.hurry_look_ups();
        return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='" + state + "'") == deliveries;
    });
}

/// On each platform the second turn is shown, and but for Slack the first one below it.
void check_acknowledged(const Rig& rig) {
    const auto visible = rig.platform().visible();
    BOOST_TEST(visible.size() == 3U);
    for (const auto& post : visible) {
        BOOST_TEST_INFO_SCOPE(post.platform << ": " << post.body);
        BOOST_TEST(post.body.find("I'm on it!") == std::string::npos);
        const auto newest = post.body.find("after turn 2");
        const auto before = post.body.find("after turn 1");
        BOOST_TEST(newest != std::string::npos);
        BOOST_TEST((before == std::string::npos) == (post.platform == "slack"));
        if (post.platform != "slack") BOOST_TEST(newest < before);
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(upstreams_rows_of_both_generations_and_ours_are_told_once_in_the_right_thread) {
    const Rig rig("platforms", 3,
                  {{"worker.senders", 24}, {"slack.teams.T0789IJKL.token", "of that workspace"}});
    const auto now = std::chrono::time_point_cast<Instant::duration>(std::chrono::system_clock::now());
    const auto all = recordings_with_new_ids(now);
    std::vector<Wanted> wanted;
    insert_rows(rig, all, wanted);
    add_own(rig, all, wanted);
    // Some answers are lost on each platform.
    Json rules = Json::array();
    for (const char* platform : {"slack", "github", "gitlab"})
        rules.push_back({{"do", "apply_then_reset"},
                         {"method", "POST"},
                         {"path", std::string("^/") + platform},
                         {"skip", 10},
                         {"times", 10}});
    rig.platform().rules(rules);
    auto worker = rig.epilogue().worker();
    eventually("every row is adopted", [&] {
        return rig.number("SELECT COUNT(*) FROM callback_progress") ==
               static_cast<std::int64_t>(wanted.size());
    });
    std::vector<Record> records;
    const auto told_at = std::chrono::time_point_cast<Instant::duration>(std::chrono::system_clock::now());
    for (const auto& conversation : all) {
        const auto own = records_of(conversation, told_at);
        records.insert(records.end(), own.begin(), own.end());
    }
    rig.publish(records);

    std::size_t owed = 0;
    for (const Wanted& one : wanted) owed += one.turns.size();
    eventually("everything that is owed is sent", [&] {
        rig.hurry_look_ups();
        return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'") ==
               static_cast<std::int64_t>(owed);
    });
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM deliveries") == static_cast<std::int64_t>(owed));

    std::map<std::pair<std::string, std::string>, std::vector<VisibleComment>> posts;
    std::map<std::string, std::size_t> by_platform;
    for (auto& comment : rig.platform().visible()) {
        if (comment.author != "epilogue-bot") continue;
        ++by_platform[comment.platform];
        posts[{comment.platform, comment.path}].push_back(std::move(comment));
    }
    const auto installation = rig.query("SELECT installation_id FROM installation").at(0).at(0).value();
    std::size_t seen = 0;
    for (const Wanted& one : wanted) {
        BOOST_TEST_CONTEXT(one.what << " at " << one.platform << " " << one.path << ", "
                                    << one.conversation->recording) {
            const auto& found = posts[{one.platform, one.path}];
            BOOST_TEST(found.size() == one.turns.size());
            for (std::size_t i = 0; i < std::min(found.size(), one.turns.size()); ++i)
                check_post(
                    found[i], one, one.turns[i],
                    delivery_id_of(installation, one.callback, one.conversation->id, one.turns[i].turn_key),
                    rig.key());
            seen += found.size();
        }
    }
    BOOST_TEST(seen == owed);
    std::size_t lost = 0;
    for (const auto& entry : rig.platform().log()) lost += entry.at("action") == "apply_then_reset" ? 1U : 0U;
    BOOST_TEST(lost == 30U);
    for (const auto& [platform, count] : by_platform)
        std::cout << platform << ": " << count << " posts" << std::endl;
    BOOST_TEST(by_platform.size() == 3U);
    BOOST_TEST(worker.process().stop(std::chrono::seconds{30}) == 0);
}

BOOST_AUTO_TEST_CASE(an_acknowledgement_becomes_the_outcome_turn_after_turn_in_spite_of_lost_answers) {
    const Rig rig("acknowledged", 1);
    rig.platform().rules(
        {{{"do", "apply_then_reset"}, {"method", "PATCH"}, {"times", 1}},
         {{"do", "reset"}, {"method", "PUT"}, {"times", 1}},
         {{"do", "apply_then_reset"}, {"method", "POST"}, {"path", "/chat.update$"}, {"times", 1}}});
    V0Conversation told = acknowledged(rig, "acknowledged");
    auto worker = rig.epilogue().worker();
    for (int turn = 1; turn <= 2; ++turn) {
        tell_turn(rig, told, turn);
        wait_for_state(rig, "SENT", 3 * turn);
    }
    check_acknowledged(rig);
    BOOST_TEST(worker.process().stop(std::chrono::seconds{30}) == 0);
}

BOOST_AUTO_TEST_CASE(a_parked_turn_that_is_let_go_leaves_the_newer_outcome_on_top) {
    const Rig rig("let_go", 1);
    V0Conversation told = acknowledged(rig, "let_go");
    const auto worker = rig.epilogue().worker();
    rig.platform().rules({{{"do", "status"}, {"status", 502}, {"method", "GET"}, {"times", 1000}}});
    tell_turn(rig, told, 1);
    // What ended two workers is parked when it is tried next.
    eventually("the first turn is parked", [&] {
        rig.query("UPDATE deliveries SET crashes=2, next_attempt_at=UTC_TIMESTAMP(6) WHERE state='RETRY'");
        return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='PARKED'") == 3;
    });
    rig.platform().rules(Json::array());
    tell_turn(rig, told, 2);
    wait_for_state(rig, "SENT", 3);
    BOOST_TEST(rig.epilogue().run({"deliveries", "retry", "--all"}).status == 0);
    wait_for_state(rig, "SENT", 6);
    check_acknowledged(rig);
}
