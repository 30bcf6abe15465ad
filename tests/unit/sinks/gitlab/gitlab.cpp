#define BOOST_TEST_MODULE gitlab
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "gitlab_fixture.h"
#include "sinks/processor.h"

using namespace epilogue;
using namespace epilogue::gitlab_test;

BOOST_FIXTURE_TEST_CASE(a_post_becomes_one_note_word_for_word, Fixture) {
    const auto attempt = sink.create(post);
    BOOST_TEST(name_of(attempt.answer) == "sent");
    BOOST_TEST(attempt.cause.empty());
    const auto visible = platform.visible();
    BOOST_REQUIRE(visible.size() == 1U);
    BOOST_TEST(visible[0].body == post.body);
    BOOST_TEST(visible[0].place == issue);
    BOOST_TEST(attempt.receipt.remote_id == text_of(visible[0].id));
    BOOST_TEST(
        attempt.receipt.remote_url.ends_with("/projects/4455/issues/7/notes/" + text_of(visible[0].id)));
    BOOST_TEST(platform.counts().attempts == 1U);
}

BOOST_FIXTURE_TEST_CASE(each_kind_of_place_is_reached, Fixture) {
    BOOST_TEST(name_of(sink.create(post_to("4455", 8, true)).answer) == "sent");
    BOOST_TEST(name_of(sink.create(post_to("group/sub/name", 9)).answer) == "sent");
    seed("somebody", "the question", system_now(), discussion);
    BOOST_TEST(name_of(sink.create(post_to("4455", 7, false, discussion)).answer) == "sent");
    const auto visible = platform.visible();
    BOOST_REQUIRE(visible.size() == 4U);
    BOOST_TEST(visible[0].place == "4455!8");
    BOOST_TEST(visible[1].place == "group/sub/name#9");
    BOOST_TEST(visible[3].place == issue);
    BOOST_TEST(visible[3].thread == discussion);
    BOOST_TEST(name_of(sink.create(post_to("4455", 7, false, "0000")).answer) == "refused");
}

BOOST_FIXTURE_TEST_CASE(each_answer_means_what_the_protocol_says, Fixture) {
    struct Row {
        int status;
        Json answer;
        std::string means;
        std::string cause;
    };
    const std::vector<Row> rows{
        {200, {{"id", 1}}, "unknown", "200 without a readable note"},
        {201, {{"body", "x"}}, "unknown", "201 without a readable note"},
        {201, "<html>", "unknown", "201 without a readable note"},
        {202, {{"commands_changes", Json::object()}}, "unknown", "202 without a readable note"},
        {301, Json::object(), "refused", "301"},
        {400,
         {{"message", {{"base", {"Maximum number of comments exceeded"}}}}},
         "refused",
         R"(400 {"base":["Maximum number of comments exceeded"]})"},
        {400, {{"error", "body is missing"}}, "refused", "400 body is missing"},
        {401, {{"message", "401 Unauthorized"}}, "unauthorised", "401 Unauthorized"},
        {403,
         {{"error", "insufficient_scope"}, {"error_description", "needs api"}},
         "unauthorised",
         "403 needs api"},
        {403,
         {{"message", "403 Forbidden - discussion is locked"}},
         "refused",
         "403 Forbidden - discussion is locked"},
        {404, {{"message", "404 Project Not Found"}}, "refused", "404 Project Not Found"},
        {408, "", "unknown", "408"},
        {409, "", "refused", "409"},
        {413, "", "refused", "413"},
        {422, {{"message", "bad\nnote"}}, "refused", "422 bad note"},
        {500, {{"message", "500 Internal Server Error"}}, "unknown", "500 Internal Server Error"},
        {502, "GitLab is not responding", "unknown", "502"},
        {503, "", "unknown", "503"},
        {504, "", "unknown", "504"},
    };
    for (const auto& row : rows) {
        answers("POST", row.status, row.answer);
        const auto attempt = sink.create(post);
        BOOST_TEST(name_of(attempt.answer) == row.means, row.status);
        BOOST_TEST(attempt.cause == row.cause);
        BOOST_TEST(!attempt.not_before.has_value());
    }
    BOOST_TEST(platform.visible().empty());
}

BOOST_FIXTURE_TEST_CASE(a_limit_is_obeyed_with_and_without_headers, Fixture) {
    const auto in_15_minutes = fmt::format(
        "{}", (std::chrono::ceil<std::chrono::seconds>(system_now()) + 900s).time_since_epoch().count());
    struct Row {
        Json headers;
        std::optional<std::chrono::seconds> at_least;
    };
    const std::vector<Row> rows{
        {{{"retry-after", "17"}}, 17s},
        {{{"RateLimit-Reset", in_15_minutes}}, 880s},
        {{{"retry-after", "17"}, {"ratelimit-reset", in_15_minutes}}, 17s},
        {{{"retry-after", "soon"}, {"ratelimit-reset", "x"}}, std::nullopt},
        {Json::object(), std::nullopt},
    };
    for (const auto& row : rows) {
        answers("POST", 429, "Retry later", row.headers);
        const auto attempt = sink.create(post);
        BOOST_TEST(name_of(attempt.answer) == "retry");
        BOOST_TEST(attempt.cause == "429 rate limited");
        BOOST_REQUIRE(attempt.not_before.has_value() == row.at_least.has_value());
        if (row.at_least) BOOST_TEST(attempt.not_before->count() >= row.at_least->count());
    }
}

BOOST_FIXTURE_TEST_CASE(a_lost_answer_is_unknown_whether_applied_or_not, Fixture) {
    std::size_t applied = 0;
    for (const std::string deed : {"reset", "apply_then_reset", "half_answer", "apply_then_status"}) {
        rule({{"method", "POST"}, {"do", deed}, {"status", 502}});
        BOOST_TEST(name_of(sink.create(post).answer) == "unknown", deed);
        applied += deed == "reset" ? 0U : 1U;
        BOOST_TEST(platform.visible().size() == applied, deed);
    }
    const auto hasty = called<GitlabSink>(settings_for(platform), 300ms);
    rule({{"method", "POST"}, {"do", "apply_then_hang"}});
    BOOST_TEST(name_of(hasty.create(post).answer) == "unknown");
    platform.release(true);
}

BOOST_FIXTURE_TEST_CASE(a_locked_or_missing_place_refuses, Fixture) {
    for (const auto state : {fake_platform::PlaceState::locked, fake_platform::PlaceState::missing,
                             fake_platform::PlaceState::gone}) {
        platform.set_place("gitlab", issue, state);
        BOOST_TEST(name_of(sink.create(post).answer) == "refused");
    }
}

BOOST_FIXTURE_TEST_CASE(a_token_that_is_not_accepted_parks, Fixture) {
    platform.accept_tokens({"another"});
    BOOST_TEST(name_of(sink.create(post).answer) == "unauthorised");
    BOOST_TEST(sink.find(post).forbidden);
}

BOOST_FIXTURE_TEST_CASE(without_a_token_or_a_place_nothing_is_asked, Fixture) {
    auto settings = settings_for(platform);
    settings.token = " \n";
    const auto bare = called<GitlabSink>(settings);
    BOOST_TEST(name_of(bare.create(post).answer) == "unauthorised");
    BOOST_TEST(bare.create(post).cause ==
               "no token: set [gitlab] token, or token of [gitlab.namespaces.\"<path>\"]");
    BOOST_TEST(bare.find(post).forbidden);
    for (const std::string bad :
         {"", "name", "group/", "/name", "group//name", "../x", "g/..", "g/n?x", "g%2fn"})
        BOOST_TEST(name_of(sink.create(post_to(bad, 7)).answer) == "refused", bad);
    BOOST_TEST(name_of(sink.create(post_to("4455", 0)).answer) == "refused");
    BOOST_TEST(name_of(sink.create(post_to("4455", 7, false, "a/../b")).answer) == "refused");
    BOOST_TEST(!sink.remove(post, {.remote_id = "1/../2", .remote_url = {}}));
    BOOST_TEST(platform.log().empty());
}

BOOST_FIXTURE_TEST_CASE(the_token_of_the_longest_path_that_fits_is_used, Fixture) {
    auto settings = settings_for(platform);
    settings.namespaces = {{"group", "of the group"}, {"Group/sub", "of sub"}, {"group/sub/one", "of one"}};
    const auto many = called<GitlabSink>(settings);
    const std::vector<std::pair<std::string, std::string>> rows{
        {"group/name", "of the group"}, {"group/subname", "of the group"}, {"group/sub/two", "of sub"},
        {"GROUP/sub/one", "of one"},    {"other/name", "token"},           {"4455", "token"}};
    for (const auto& [project, token] : rows) {
        platform.accept_tokens({token});
        auto there = post_to(project, 7);
        BOOST_TEST(name_of(many.create(there).answer) == "sent", project);
        BOOST_TEST(many.find(there).found.size() == 1U, project);
    }
    const auto quota = [&](const std::string& project) { return many.quota(post_to(project, 7).target); };
    BOOST_TEST(quota("group/sub/two").setting == "[gitlab.namespaces.\"group/sub\"] token");
    BOOST_TEST(quota("4455").setting == "[gitlab] token");
    BOOST_TEST(quota("group/name").credential != quota("group/sub/two").credential);
    BOOST_TEST(quota("group/name").credential == quota("group/subname").credential);
    platform.accept_tokens({"of sub"});
    const auto reports = many.check_tokens();
    BOOST_REQUIRE(reports.size() == 4U);
    BOOST_TEST((reports[0].state == TokenState::refused));
    BOOST_TEST(reports[2].setting == "[gitlab.namespaces.\"group/sub\"] token");
    BOOST_TEST((reports[2].state == TokenState::accepted));
}

BOOST_FIXTURE_TEST_CASE(a_row_of_upstream_uses_the_token_of_the_path_that_it_names, Fixture) {
    auto settings = settings_for(platform);
    settings.namespaces = {{"group/sub", "of sub"}};
    const auto many = called<GitlabSink>(settings);
    const auto row = [&](const std::string& type, const std::string& view, const std::string& name) {
        const auto processor = decode_processor(
            type, R"({")" + view +
                      R"(":{"project_id":4455,"issue_number":7,"is_mr":false,"full_repo_name":)" + name +
                      "}}");
        BOOST_REQUIRE(processor.has_value());
        Post there = post;
        there.target = processor->target;
        return there;
    };
    for (const auto& [type, view] : std::vector<std::pair<std::string, std::string>>{
             {"GitlabCallbackProcessor", "gitlab_view"}, {"GitlabV1CallbackProcessor", "gitlab_view_data"}}) {
        platform.reset();
        platform.accept_tokens({"of sub"});
        const auto there = row(type, view, R"("Group/sub/project")");
        BOOST_TEST(name_of(many.create(there).answer) == "sent", type);
        BOOST_TEST(many.find(there).found.size() == 1U, type);
        BOOST_TEST(many.quota(there.target).setting == "[gitlab.namespaces.\"group/sub\"] token");
        BOOST_TEST(platform.visible().at(0).place == issue);
        for (const char* name : {R"("elsewhere/project")", R"("no path")", "null", "7"})
            BOOST_TEST(many.quota(row(type, view, name).target).setting == "[gitlab] token", name);
    }
}

BOOST_FIXTURE_TEST_CASE(a_post_whose_answer_was_lost_is_found_again, Fixture) {
    BOOST_TEST(found() == Ids{}, boost::test_tools::per_element());
    rule({{"method", "POST"}, {"do", "apply_then_reset"}});
    BOOST_TEST(name_of(sink.create(post).answer) == "unknown");
    const auto lookup = sink.find(post);
    BOOST_REQUIRE(lookup.found.size() == 1U);
    BOOST_TEST(lookup.found[0].remote_id == text_of(platform.visible().at(0).id));
    BOOST_TEST(lookup.found[0].remote_url.ends_with("/notes/" + lookup.found[0].remote_id));
}

BOOST_FIXTURE_TEST_CASE(twins_are_seen_oldest_first_and_can_be_removed, Fixture) {
    for (const auto& in : {std::string(), discussion}) {
        platform.reset();
        if (!in.empty()) seed("somebody", "the question", system_now(), in);
        post = post_to("4455", 7, false, in);
        rule({{"method", "POST"}, {"do", "apply_twice"}});
        BOOST_TEST(name_of(sink.create(post).answer) == "sent");
        const auto lookup = sink.find(post);
        BOOST_REQUIRE(lookup.found.size() == 2U);
        BOOST_TEST(std::stoll(lookup.found[0].remote_id) < std::stoll(lookup.found[1].remote_id));
        BOOST_TEST(sink.remove(post, lookup.found[1]));
        BOOST_TEST(sink.remove(post, lookup.found[1]), "gone is gone");
        BOOST_TEST(found() == Ids{lookup.found[0].remote_id}, boost::test_tools::per_element());
    }
}

BOOST_FIXTURE_TEST_CASE(pages_are_read_back_to_the_first_attempt_and_no_further, Fixture) {
    for (int i = 0; i < 150; ++i) seed("somebody", "old", system_now() - 1h);
    const auto ours = seed(bot_login, "x\n\n" + mark);
    for (int i = 0; i < 140; ++i) seed("somebody", "note");
    BOOST_TEST(found() == Ids{text_of(ours)}, boost::test_tools::per_element());
    std::size_t pages = 0;
    for (const auto& entry : platform.log()) pages += entry.path.ends_with("/notes") ? 1U : 0U;
    BOOST_TEST(pages == 4U, "both are read twice");
}

BOOST_FIXTURE_TEST_CASE(only_the_whole_marker_by_our_own_hand_counts, Fixture) {
    seed("mallory", "forged\n\n" + mark);
    seed(bot_login, "> " + mark);
    seed(bot_login, marker_line("another key", id));
    seed(bot_login, mark, system_now() - 1h);
    BOOST_TEST(found() == Ids{}, boost::test_tools::per_element());
    const auto ours = seed(bot_login, "edited\r\n\r\n" + mark + "\r\nthanks!");
    BOOST_TEST(found() == Ids{text_of(ours)}, boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(a_note_that_is_hidden_for_a_while_is_seen_then, Fixture) {
    rule({{"method", "POST"}, {"do", "hide"}, {"ms", 300}});
    sink.create(post);
    BOOST_TEST(found() == Ids{}, boost::test_tools::per_element());
    platform.wait_until([](const auto&) { return false; }, 400ms);
    BOOST_TEST(found().size() == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_look_up_that_fails_says_whether_waiting_helps, Fixture) {
    struct Row {
        int status;
        bool forbidden;
        std::string cause;
    };
    const std::vector<Row> rows{{401, true, "401 m"},  {403, true, "403 m"},
                                {404, true, "404 m"},  {410, true, "410 m"},
                                {301, true, "301 m"},  {429, false, "429 rate limited"},
                                {500, false, "500 m"}, {200, false, "200 without a readable list of notes"}};
    for (const auto& row : rows) {
        answers("GET", row.status, {{"message", "m"}}, {{"retry-after", "5"}});
        const auto lookup = sink.find(post);
        BOOST_TEST(!lookup.ok, row.status);
        BOOST_TEST(lookup.forbidden == row.forbidden, row.status);
        BOOST_TEST(lookup.cause == row.cause);
        BOOST_TEST(lookup.not_before.has_value() == (row.status == 429));
    }
    rule({{"method", "GET"}, {"do", "reset"}, {"times", -1}});
    BOOST_TEST(!sink.find(post).ok);
}
