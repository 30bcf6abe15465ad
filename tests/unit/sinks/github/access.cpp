// The right to post: an App's, which is installed at octo under 34.
#define BOOST_TEST_MODULE access
#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "github_fixture.h"
#include "tests/support/rsa_key.h"
#include "tests/unit/sinks/scripted.h"

using namespace epilogue;
using namespace epilogue::github_test;

namespace {

const std::string& key_of_the_app() {
    static const std::string pem = testing::new_rsa_key().private_pem;
    return pem;
}

GithubSettings app_settings(const FakePlatformServer& platform) {
    auto settings = settings_for(platform);
    settings.token.clear();
    settings.app_id = 12;
    settings.private_key = key_of_the_app();
    return settings;
}

Post post_at(const std::string& repository, std::optional<std::int64_t> installation) {
    Post post = post_to(repository, 7);
    post.target = GithubTarget{
        .repo = repository, .number = 7, .review_comment_id = {}, .installation_id = installation};
    return post;
}

struct AppFixture : SinkFixture<GithubSink> {
    AppFixture() : SinkFixture(app_settings, post_at(repo, 34)) {
        platform.with_app([](fake_platform::GithubApp& app) {
            app.id = 12;
            app.installations = {{34, {.account = "octo"}}};
        });
    }

    /// What was asked for, as "POST /app/…".
    std::vector<std::string> asked() const {
        std::vector<std::string> lines;
        for (const auto& entry : platform.log())
            lines.push_back(entry.method + " " + entry.path.substr(std::string("/github").size()));
        return lines;
    }
    std::size_t renewals() const {
        std::size_t count = 0;
        for (const auto& line : asked()) count += line.ends_with("/access_tokens") ? 1U : 0U;
        return count;
    }
    void revoke() {
        platform.with_app([](auto& app) {
            for (auto& [text, token] : app.tokens) token.revoked = true;
        });
    }
};

const std::string token_of_34 = "POST /app/installations/34/access_tokens";
const std::string comment = "POST /repos/octo/cat/issues/7/comments";

}  // namespace

BOOST_FIXTURE_TEST_CASE(an_installations_token_is_asked_for_once_and_shared, AppFixture) {
    for (int i = 0; i < 3; ++i) BOOST_TEST(name_of(sink.create(post).answer) == "sent");
    BOOST_TEST(asked() == (std::vector<std::string>{token_of_34, comment, comment, comment}),
               boost::test_tools::per_element());
    for (const auto& made : platform.visible()) BOOST_TEST(made.author == "epilogue-bot[bot]");
}

BOOST_FIXTURE_TEST_CASE(without_an_installation_the_repositorys_is_asked_for_once, AppFixture) {
    for (int i = 0; i < 2; ++i) BOOST_TEST(name_of(sink.create(post_at(repo, {})).answer) == "sent");
    BOOST_TEST(asked() == (std::vector<std::string>{"GET /repos/octo/cat/installation", token_of_34, comment,
                                                    comment}),
               boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(many_posts_at_once_ask_for_one_token_and_all_go_out, AppFixture) {
    constexpr std::size_t posts = 16;
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < posts; ++i)
        threads.emplace_back([&] {
            // A post that finds the token on its way is told to come again; as a sender would, it does.
            while (name_of(sink.create(post).answer) == "retry") std::this_thread::yield();
        });
    threads.clear();
    BOOST_TEST(platform.visible().size() == posts);
    BOOST_TEST(renewals() == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_refused_token_is_renewed_once_and_the_post_goes_out, AppFixture) {
    BOOST_TEST(name_of(sink.create(post).answer) == "sent");
    revoke();
    BOOST_TEST(name_of(sink.create(post).answer) == "sent");
    BOOST_TEST(renewals() == 2U);
    BOOST_TEST(platform.visible().size() == 2U);
}

BOOST_FIXTURE_TEST_CASE(a_second_refusal_in_a_row_is_the_credentials, AppFixture) {
    platform.rules(Json::array({{{"method", "POST"},
                                 {"path", "/comments$"},
                                 {"do", "status"},
                                 {"status", 401},
                                 {"answer", {{"message", "Bad credentials"}}},
                                 {"times", 9}}})
                       .dump());
    const auto attempt = sink.create(post);
    BOOST_TEST(name_of(attempt.answer) == "unauthorised");
    BOOST_TEST(!attempt.scope_is_target);
    BOOST_TEST(renewals() == 2U);
}

BOOST_FIXTURE_TEST_CASE(a_suspended_installation_is_refused_as_a_whole, AppFixture) {
    const auto suspend = [&](bool suspended) {
        platform.with_app([&](auto& app) { app.installations.at(34).suspended = suspended; });
    };
    suspend(true);
    const auto check = [&] {
        const auto attempt = sink.create(post);
        BOOST_TEST(name_of(attempt.answer) == "unauthorised");
        BOOST_TEST(!attempt.scope_is_target);
        BOOST_TEST(attempt.cause.ends_with("403 This installation has been suspended"), attempt.cause);
        BOOST_TEST(sink.find(post).forbidden);
    };
    check();
    suspend(false);
    BOOST_TEST(name_of(sink.create(post).answer) == "sent");
    suspend(true);  // with a token that has not ended
    check();
}

BOOST_FIXTURE_TEST_CASE(an_installation_that_was_made_again_is_found_by_the_repository, AppFixture) {
    BOOST_TEST(name_of(sink.create(post).answer) == "sent");
    platform.with_app([](auto& app) { app.installations = {{35, {.account = "octo"}}}; });
    for (int i = 0; i < 2; ++i) BOOST_TEST(name_of(sink.create(post).answer) == "sent");
    BOOST_TEST(asked() == (std::vector<std::string>{
                              token_of_34, comment, comment, token_of_34, "GET /repos/octo/cat/installation",
                              "POST /app/installations/35/access_tokens", comment, comment}),
               boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(a_removed_installation_is_refused_as_a_whole_and_a_left_out_repository_alone,
                        AppFixture) {
    platform.with_app([](auto& app) {
        app.installations = {{36, {.account = "octo", .repositories = {"dog"}}}};
    });
    const auto left_out = sink.create(post_at(repo, {}));
    BOOST_TEST(name_of(left_out.answer) == "unauthorised");
    BOOST_TEST(left_out.scope_is_target);
    BOOST_TEST(left_out.cause == "the App is installed at octo, but not for octo/cat");
    platform.with_app([](auto& app) { app.installations.clear(); });
    const auto removed = sink.create(post);
    BOOST_TEST(name_of(removed.answer) == "unauthorised");
    BOOST_TEST(!removed.scope_is_target);
    BOOST_TEST(removed.cause == "the App is not installed at octo");
    BOOST_TEST(platform.visible().empty());
}

BOOST_FIXTURE_TEST_CASE(a_token_that_cannot_be_had_is_no_post_that_may_be_out, AppFixture) {
    for (const std::string deed : {"reset", "status"}) {
        rule({{"method", "POST"}, {"path", "/access_tokens$"}, {"do", deed}, {"status", 502}});
        const auto attempt = sink.create(post);
        BOOST_TEST(name_of(attempt.answer) == "retry", deed);
        BOOST_TEST((attempt.platform == PlatformState::failed), deed);
    }
    answers("POST", 429, {{"message", "slow down"}}, {{"retry-after", "7"}});
    const auto limited = sink.create(post);
    BOOST_TEST(name_of(limited.answer) == "retry");
    BOOST_TEST(limited.rate_limited);
    BOOST_TEST(limited.not_before.value().count() == 7);
    BOOST_TEST(name_of(sink.create(post).answer) == "sent");
}

BOOST_FIXTURE_TEST_CASE(a_look_up_finds_what_the_apps_bot_posted_and_not_what_others_copied, AppFixture) {
    BOOST_TEST(name_of(sink.create(post).answer) == "sent");
    const auto ours = platform.visible().at(0);
    for (const std::string author : {"mallory", "epilogue-bot", "other[bot]"}) {
        auto copy = ours;
        copy.author = author;
        platform.seed(copy);
    }
    BOOST_TEST(found() == Ids{text_of(ours.id)}, boost::test_tools::per_element());
    const auto fresh = called<GithubSink>(app_settings(platform));  // one that has posted nothing yet
    const auto lookup = fresh.find(post);
    BOOST_TEST(lookup.ok, lookup.cause);
    BOOST_REQUIRE(lookup.found.size() == 1U);
    BOOST_TEST(lookup.found[0].remote_id == text_of(ours.id));
    BOOST_TEST(sink.remove(post, lookup.found[0]));
}

BOOST_FIXTURE_TEST_CASE(each_account_has_a_credential_of_its_own, AppFixture) {
    const auto of = [&](const std::string& repository, std::optional<std::int64_t> installation) {
        return sink.quota(post_at(repository, installation).target);
    };
    const auto octo = of("octo/cat", 34);
    BOOST_TEST(octo.credential == of("Octo/dog", {}).credential);
    BOOST_TEST(octo.credential != of("acme/cat", 34).credential);
    BOOST_TEST(octo.setting == "[github] app_id 12, installed at octo");
    BOOST_TEST(octo.window == octo.credential);
}

BOOST_FIXTURE_TEST_CASE(the_app_itself_is_what_doctor_asks, AppFixture) {
    const auto reports = sink.check_tokens();
    BOOST_REQUIRE(reports.size() == 1U);
    BOOST_TEST((reports[0].state == TokenState::accepted), reports[0].cause);
    BOOST_TEST(reports[0].setting == "[github] app_id");
    BOOST_TEST(reports[0].identity == "epilogue-bot[bot]");
    BOOST_TEST((reports[0].post == Permission::yes));
    platform.with_app([](auto& app) { app.id = 13; });
    BOOST_TEST((sink.check_tokens().at(0).state == TokenState::refused));
}

BOOST_AUTO_TEST_CASE(a_dialogue_that_is_given_up_leaves_the_renewal_to_another) {
    GithubSink sink({.api_url = "http://x", .app_id = 12, .private_key = key_of_the_app(), .mac_key = "key"});
    {
        auto given_up = sink.create(post_at(repo, 34));
        BOOST_REQUIRE(given_up.request() != nullptr);
        const auto [attempt, asked] = scripted(sink.create(post_at(repo, 34)), {});
        BOOST_TEST(name_of(attempt.answer) == "retry");
        BOOST_TEST(asked.empty());
        BOOST_TEST((attempt.platform == PlatformState::not_asked));
    }
    auto next = sink.create(post_at(repo, 34));
    BOOST_REQUIRE(next.request() != nullptr);
    BOOST_TEST(next.request()->url == "http://x/app/installations/34/access_tokens");
    BOOST_TEST(next.request()->changes_nothing);
}

BOOST_AUTO_TEST_CASE(a_jwt_is_made_by_githubs_clock_where_that_is_another) {
    const Instant now{std::chrono::hours{500'000}};
    GithubSink sink({.api_url = "http://x",
                     .app_id = 12,
                     .private_key = key_of_the_app(),
                     .mac_key = "key",
                     .now = [now] { return now; }});
    auto refused = sink_test::answered(401, {{"message", "iat"}});
    refused.received_at = now + 10min;
    auto token = sink_test::answered(201, {{"token", "ghs_1"}, {"expires_at", to_iso(now + 70min)}});
    token.received_at = refused.received_at;
    const auto made = sink_test::answered(201, {{"id", 5}});
    const auto [attempt, asked] = scripted(sink.create(post_at(repo, 34)), {refused, token, made});
    BOOST_TEST(name_of(attempt.answer) == "sent");
    BOOST_TEST(asked.size() == 3U);
    const auto next = scripted(sink.create(post_at(repo, 35)), {refused});  // by the right clock
    BOOST_TEST(name_of(next.first.answer) == "unauthorised");
    BOOST_TEST(next.second.size() == 1U);
}

BOOST_AUTO_TEST_CASE(each_of_several_requests_on_their_way_is_made_again_by_githubs_clock) {
    const Instant now{std::chrono::hours{500'000}};
    GithubSink sink({.api_url = "http://x",
                     .app_id = 12,
                     .private_key = key_of_the_app(),
                     .mac_key = "key",
                     .now = [now] { return now; }});
    auto refused = sink_test::answered(401, {{"message", "iat"}});
    refused.received_at = now - 4min;
    auto one = sink.create(post_at(repo, 34));
    auto other = sink.create(post_at(repo, 35));
    BOOST_REQUIRE(one.request() != nullptr);
    BOOST_REQUIRE(other.request() != nullptr);
    one.answer(refused);
    other.answer(refused);
    for (auto* dialogue : {&one, &other}) {
        const HttpRequest* again = dialogue->request();
        BOOST_REQUIRE(again != nullptr);
        BOOST_TEST(again->url.ends_with("/access_tokens"));
    }
}

BOOST_AUTO_TEST_CASE(a_token_that_github_still_takes_is_used_while_a_new_one_cannot_be_had) {
    Instant now{std::chrono::hours{500'000}};
    GithubSink sink({.api_url = "http://x",
                     .app_id = 12,
                     .private_key = key_of_the_app(),
                     .mac_key = "key",
                     .now = [&now] { return now; }});
    const auto at = [&](std::chrono::minutes later) { return to_iso(now + later); };
    auto token = sink_test::answered(201, {{"token", "ghs_1"}, {"expires_at", at(60min)}});
    token.received_at = now;
    auto made = sink_test::answered(201, {{"id", 5}});
    const auto first = scripted(sink.create(post_at(repo, 34)), {token, made});
    BOOST_TEST(name_of(first.first.answer) == "sent");
    now += 56min;
    const auto second = scripted(sink.create(post_at(repo, 34)), {sink_test::answered(502, {}), made});
    BOOST_TEST(name_of(second.first.answer) == "sent");
    BOOST_TEST(second.second.size() == 2U);
    const auto third = scripted(sink.create(post_at(repo, 34)), {made});
    BOOST_TEST(name_of(third.first.answer) == "sent");
    now += 5min;
    const auto fourth = scripted(sink.create(post_at(repo, 34)), {sink_test::answered(502, {})});
    BOOST_TEST(name_of(fourth.first.answer) == "retry");
}
