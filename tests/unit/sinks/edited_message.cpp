// An outcome that is written into a message of ours, on each platform: it says "I'm on it", and stands at
// issue 7, or in a thread.
#define BOOST_TEST_MODULE edited_message
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/io/http.h"
#include "base/text.h"
#include "ops/fake_platform/fake_platform_server.h"
#include "ops/fake_platform/platform_api.h"
#include "sinks/format/marker.h"
#include "sinks/github/github_section.h"
#include "sinks/gitlab/gitlab_section.h"
#include "sinks/processor.h"
#include "sinks/registry.h"
#include "sinks/slack/slack_section.h"
#include "tests/unit/sinks/hostile.h"
#include "tests/unit/sinks/sink_calls.h"

using namespace epilogue;
using namespace std::chrono_literals;
using Json = nlohmann::json;
using fake_platform::Comment;

namespace {

const std::string parent = "1763715600.000100";
const std::string acknowledgement = "I'm on it!";

SinkSettings settings_for(const FakePlatformServer& platform) {
    SinkSettings settings;
    settings.sections.edit<GithubSection>().api_url = platform.url("/github");
    settings.sections.edit<GithubSection>().token = Secret("token");
    settings.sections.edit<GitlabSection>().api_url = platform.url("/gitlab");
    settings.sections.edit<GitlabSection>().token = Secret("token");
    settings.sections.edit<SlackSection>().api_url = platform.url("/slack");
    settings.sections.edit<SlackSection>().token = Secret("token");
    settings.mac_key = "key";
    settings.version = "0.1.0";
    return settings;
}

/// A platform with the acknowledgement on it, and a sink for its place.
struct Trial {
    explicit Trial(std::string platform_name, bool notify = false, const std::string& author = "epilogue-bot")
        : name(std::move(platform_name)), sinks(make_sinks(settings_for(platform))) {
        Comment comment;
        comment.platform = name;
        comment.place = name == "github" ? "octo/cat#7" : name == "gitlab" ? "4455#7" : "C1";
        comment.author = author;
        comment.body = acknowledgement;
        if (name == "slack") comment.thread = parent;
        comment.created_at = system_now();
        acknowledged = platform.seed(comment);
        comment.id = acknowledged;
        Json json = name == "github" ? Json{{"repo", "octo/cat"}, {"number", 7}, {"comment_id", acknowledged}}
                    : name == "gitlab"
                        ? Json{{"project", 4455}, {"iid", 7}, {"kind", "issue"}, {"note_id", acknowledged}}
                        : Json{{"channel", "C1"},
                               {"thread_ts", parent},
                               {"message_ts", fake_platform::slack_ts(comment)}};
        json["mode_of_post"] = "update";
        json["notify"] = notify;
        processor_json = json.dump();
    }

    sink_test::SinkCalls sink() const {
        return {*sinks.at(name), {.send = over_http()}, std::chrono::seconds{5}};
    }
    /// The post of the nth turn.
    Post post(int turn) const {
        const DeliveryId id(fmt::format("2b4e1c9a-0d5f-5a53-9c55-0a7c3f6f1b{:02}", turn));
        const auto headline = fmt::format("**Finished {}**", turn);
        return {.delivery_id = id,
                .conversation_id = ConversationId("c"),
                .target = decode_processor(name, processor_json)->target,
                .body = sink().render({.headline = headline, .final_message = words, .facts = {}, .link = {}},
                                      id),
                .intent_at = system_now()};
    }
    std::string shown() const {
        for (const Comment& comment : platform.visible())
            if (comment.id == acknowledged) return comment.body;
        return "gone";
    }
    std::size_t visible() const { return platform.visible().size(); }

    std::string name;
    mutable FakePlatformServer platform;
    std::map<std::string, std::unique_ptr<Sink>> sinks;
    std::int64_t acknowledged = 0;
    std::string processor_json;
    std::string words = "All done.";
};

void on_each(const std::function<void(const std::string&)>& proof) {
    for (const std::string name : {"github", "gitlab", "slack"}) BOOST_TEST_CONTEXT(name) {
            proof(name);
        }
}

std::size_t position(const std::string& text, const std::string& part) {
    const auto found = text.find(part);
    BOOST_TEST(found != std::string::npos, part << " is not in " << text);
    return found;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_outcome_takes_the_place_of_the_acknowledgement_and_no_second_post_appears) {
    on_each([](const std::string& name) {
        const Trial trial(name);
        const auto post = trial.post(1);
        const auto attempt = trial.sink().create(post);
        BOOST_TEST(name_of(attempt.answer) == "sent", attempt.cause);
        BOOST_TEST(attempt.receipt.remote_id.ends_with(fmt::format("{}", trial.acknowledged)));
        BOOST_TEST(trial.shown() == post.body);
        BOOST_TEST(trial.visible() == 1U);
        const auto lookup = trial.sink().find(post);
        BOOST_TEST(lookup.ok, lookup.cause);
        BOOST_REQUIRE(lookup.found.size() == 1U);
        BOOST_TEST(lookup.found[0].remote_id == attempt.receipt.remote_id);
        BOOST_TEST(name_of(trial.sink().create(post).answer) == "sent");  // again: nothing changes
        BOOST_TEST(trial.shown() == post.body);
        BOOST_TEST(trial.visible() == 1U);
        const auto other = trial.sink().find(trial.post(2));
        BOOST_TEST(other.ok, other.cause);
        BOOST_TEST(other.found.empty());
    });
}

BOOST_AUTO_TEST_CASE(however_its_answer_is_lost_the_outcome_is_written_once) {
    on_each([](const std::string& name) {
        for (const std::string deed : {"apply_then_reset", "reset", "half_answer"}) {
            const Trial trial(name);
            const auto post = trial.post(1);
            const Json lost{{"do", deed},
                            {"path", name == "slack" ? "/chat.update$" : "/7/notes/|/issues/comments/"},
                            {"method", name == "github"   ? "PATCH"
                                       : name == "gitlab" ? "PUT"
                                                          : "POST"}};
            trial.platform.rules(Json::array({lost}).dump());
            BOOST_TEST(name_of(trial.sink().create(post).answer) == "unknown", deed);
            const bool applied = deed != "reset";
            BOOST_TEST(trial.sink().find(post).found.size() == (applied ? 1U : 0U), deed);
            BOOST_TEST(name_of(trial.sink().create(post).answer) == "sent", deed);
            BOOST_TEST(trial.shown() == post.body, deed);
            BOOST_TEST(trial.visible() == 1U);
        }
    });
}

BOOST_AUTO_TEST_CASE(a_message_that_is_gone_or_anothers_is_left_and_the_outcome_posted_anew) {
    on_each([](const std::string& name) {
        const Trial gone(name);
        gone.platform.remove(gone.acknowledged);
        const auto post = gone.post(1);
        BOOST_TEST(name_of(gone.sink().create(post).answer) == "sent");
        BOOST_TEST(gone.visible() == 1U);
        BOOST_TEST(gone.sink().find(post).found.size() == 1U);
        const Trial foreign(name, false, "somebody");
        BOOST_TEST(name_of(foreign.sink().create(foreign.post(1)).answer) == "sent");
        BOOST_TEST(foreign.shown() == acknowledgement);
        BOOST_TEST(foreign.visible() == 2U);
    });
}

BOOST_AUTO_TEST_CASE(a_comment_of_another_issue_is_not_written_into) {
    const Trial trial("github");
    auto post = trial.post(1);
    post.target =
        decode_processor("github", replaced(trial.processor_json, "\"number\":7", "\"number\":8"))->target;
    BOOST_TEST(name_of(trial.sink().create(post).answer) == "sent");
    BOOST_TEST(trial.shown() == acknowledgement);
    BOOST_TEST(trial.visible() == 2U);
}

BOOST_AUTO_TEST_CASE(the_newest_turn_is_on_top_and_those_before_it_are_folded_below) {
    for (const std::string name : {"github", "gitlab"}) {
        const Trial trial(name);
        std::vector<Post> posts;
        for (int turn = 1; turn <= 3; ++turn) {
            posts.push_back(trial.post(turn));
            BOOST_TEST(name_of(trial.sink().create(posts.back()).answer) == "sent");
        }
        const auto shown = trial.shown();
        BOOST_TEST(shown.starts_with("**Finished 3**"));
        const auto fold = position(shown, "<details><summary>Earlier</summary>");
        BOOST_TEST(fold > position(shown, "**Finished 3**"));
        BOOST_TEST(fold < position(shown, "**Finished 2**"));
        BOOST_TEST(position(shown, "**Finished 2**") < position(shown, "**Finished 1**"));
        BOOST_TEST(position(shown, "**Finished 1**") < position(shown, "</details>"));
        BOOST_TEST(shown.find(acknowledgement) == std::string::npos);
        for (const Post& post : posts) BOOST_TEST(trial.sink().find(post).found.size() == 1U);
        BOOST_TEST(trial.visible() == 1U);
    }
    const Trial slack("slack");
    for (int turn = 1; turn <= 2; ++turn) slack.sink().create(slack.post(turn));
    BOOST_TEST(slack.shown() == slack.post(2).body);
}

BOOST_AUTO_TEST_CASE(an_older_turn_that_comes_late_leaves_the_newer_ones_above_it) {
    on_each([](const std::string& name) {
        const Trial trial(name);
        const auto earliest = trial.post(1);
        const auto newest = trial.post(4);
        for (const Post& post : {earliest, trial.post(3), newest})
            BOOST_TEST(name_of(trial.sink().create(post).answer) == "sent");
        auto late = trial.post(2);
        late.newer = {trial.post(3).delivery_id, newest.delivery_id, trial.post(5).delivery_id};
        const auto attempt = trial.sink().create(late);
        BOOST_TEST(name_of(attempt.answer) == "sent", attempt.cause);
        BOOST_TEST(attempt.receipt.remote_id.ends_with(fmt::format("{}", trial.acknowledged)));
        BOOST_TEST(trial.visible() == 1U);
        const auto shown = trial.shown();
        BOOST_TEST(shown.starts_with("**Finished 4**"));
        BOOST_TEST(trial.sink().find(newest).found.size() == 1U);
        if (name == "slack") {
            BOOST_TEST(shown == newest.body);
            return;
        }
        BOOST_TEST(marker_of(shown) == marker_of(newest.body));
        BOOST_TEST(position(shown, "**Finished 3**") < position(shown, "**Finished 2**"));
        BOOST_TEST(position(shown, "**Finished 2**") < position(shown, "**Finished 1**"));
        BOOST_TEST(trial.sink().find(late).found.size() == 1U);
        BOOST_TEST(name_of(trial.sink().create(late).answer) == "sent");  // again: nothing changes
        BOOST_TEST(trial.shown() == shown);
    });
}

BOOST_AUTO_TEST_CASE(an_older_turn_whose_newer_ones_are_not_there_yet_is_shown) {
    on_each([](const std::string& name) {
        const Trial trial(name);
        auto late = trial.post(1);
        late.newer = {trial.post(2).delivery_id};
        BOOST_TEST(name_of(trial.sink().create(late).answer) == "sent");
        BOOST_TEST(trial.shown() == late.body);
    });
}

BOOST_AUTO_TEST_CASE(what_is_folded_stays_within_the_size_that_is_allowed) {
    Trial trial("github");
    trial.words = std::string(30000, 'w');
    for (int turn = 1; turn <= 5; ++turn)
        BOOST_TEST(name_of(trial.sink().create(trial.post(turn)).answer) == "sent");
    const auto shown = trial.shown();
    BOOST_TEST(code_points(shown) <= 64000U);
    BOOST_TEST(shown.starts_with("**Finished 5**"));
    BOOST_TEST(shown.find("**Finished 4**") != std::string::npos);
    BOOST_TEST(shown.find("**Finished 1**") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(nothing_that_is_folded_comes_alive_or_ends_the_fold) {
    for (const std::string name : {"github", "gitlab"})
        for (const auto& [kind, words, absent] : hostile::cases()) {
            BOOST_TEST_INFO_SCOPE(name << ", " << kind << ": " << words.substr(0, 200));
            Trial trial(name);
            trial.words = words;
            for (int turn = 1; turn <= 2; ++turn)
                BOOST_TEST(name_of(trial.sink().create(trial.post(turn)).answer) == "sent");
            const auto shown = trial.shown();
            // What is ours, and no more, opens and closes the fold.
            const auto opened = position(shown, "<details><summary>Earlier</summary>");
            const auto closed = shown.rfind("</details>");
            BOOST_REQUIRE(closed != std::string::npos);
            auto without_fold = shown;
            without_fold.erase(closed, std::string("</details>").size());
            without_fold.erase(opened, std::string("<details><summary>Earlier</summary>").size());
            without_fold = replaced(without_fold, "<!-- epilogue:earlier -->", "");
            for (int turn = 1; turn <= 2; ++turn)
                without_fold = replaced(without_fold, marker_of(trial.post(turn).body), "");
            BOOST_TEST(hostile::alive_in_markdown(without_fold) == "");
            for (int turn = 1; turn <= 2; ++turn)
                BOOST_TEST(trial.sink().find(trial.post(turn)).found.size() == 1U);
        }
}

BOOST_AUTO_TEST_CASE(with_notify_a_short_post_tells_of_it_once) {
    on_each([](const std::string& name) {
        for (const std::string deed : {"", "apply_then_reset", "reset"}) {
            const Trial trial(name, true);
            const auto post = trial.post(1);
            BOOST_TEST(trial.sink().find(post).found.empty());
            const char* path = name == "slack"    ? "/chat.postMessage$"
                               : name == "github" ? "/comments$"
                                                  : "/notes$";
            if (!deed.empty())
                trial.platform.rules(
                    Json::array({{{"do", deed}, {"method", "POST"}, {"path", path}}}).dump());
            const auto first = trial.sink().create(post);
            BOOST_TEST(name_of(first.answer) == (deed.empty() ? "sent" : "unknown"), deed);
            BOOST_TEST(trial.shown() == post.body);
            if (deed == "reset") {
                BOOST_TEST(trial.sink().find(post).found.empty());
                BOOST_TEST(name_of(trial.sink().create(post).answer) == "sent");
            }
            const auto lookup = trial.sink().find(post);
            BOOST_REQUIRE(lookup.found.size() == 1U);
            BOOST_TEST(!lookup.found[0].remote_id.ends_with(fmt::format("{}", trial.acknowledged)));
            BOOST_REQUIRE(trial.visible() == 2U);
            const auto notice = trial.platform.visible().back().body;
            BOOST_TEST(notice.starts_with("**Finished 1**"));
            BOOST_TEST(notice.find("All done.") == std::string::npos);
        }
    });
}

BOOST_AUTO_TEST_CASE(a_platform_that_cannot_be_asked_for_the_message_is_no_post) {
    on_each([](const std::string& name) {
        const Trial trial(name);
        trial.platform.rules(
            Json::array({{{"do", "status"}, {"status", 502}, {"method", "GET"}, {"times", 3}}}).dump());
        const auto attempt = trial.sink().create(trial.post(1));
        BOOST_TEST(name_of(attempt.answer) == "retry");
        BOOST_TEST((attempt.platform == PlatformState::failed));
        BOOST_TEST(!trial.sink().find(trial.post(1)).ok);
        BOOST_TEST(trial.shown() == acknowledgement);
    });
}

BOOST_AUTO_TEST_CASE(the_rows_form_says_which_message_and_keeps_what_else_it_says) {
    const auto told = [](const char* sink, const std::string& json) {
        const auto processor = decode_processor(sink, json);
        return processor ? describe(*processor) : processor.error().text;
    };
    BOOST_TEST(told("github", R"({"repo":"o/r","number":7,"mode_of_post":"update","comment_id":9})") ==
               "github:o/r#7/c9");
    BOOST_TEST(told("github", R"({"repo":"o/r","number":7,"mode_of_post":"new","comment_id":9})") ==
               "github:o/r#7");
    BOOST_TEST(
        told("gitlab", R"({"project":4,"iid":7,"kind":"issue","mode_of_post":"update","note_id":9})") ==
        "gitlab:4#7/n9");
    BOOST_TEST(told("slack", R"({"channel":"C1","mode_of_post":"update","message_ts":"1.2"})") ==
               "slack:-/C1/m1.2");
    BOOST_TEST(told("github", R"({"repo":"o/r","number":7,"mode_of_post":"update"})").find("comment_id") !=
               std::string::npos);
    BOOST_TEST(
        told("github", R"({"repo":"o/r","number":7,"mode_of_post":"edit"})").find(R"("new" or "update")") !=
        std::string::npos);
    for (const auto& [sink, json] : std::vector<std::pair<std::string, std::string>>{
             {"github",
              R"({"repo":"o/r","number":7,"mode_of_post":"update","comment_id":9,"notify":true,"x":1})"},
             {"gitlab", R"({"project":4,"iid":7,"kind":"issue","mode_of_post":"update","note_id":9,"x":1})"},
             {"slack", R"({"channel":"C1","mode_of_post":"update","message_ts":"1.2","notify":true,"x":1})"}})
        BOOST_TEST(encode_processor(sink, json, *decode_processor(sink, json)).value() == json);
}
