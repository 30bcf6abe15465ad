// The whole program as a GitHub App: JWTs that another library takes, tokens that end under load,
// installations that are suspended.
#define BOOST_TEST_MODULE github_app
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/instant.h"
#include "base/text.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/rsa_key.h"
#include "tests/support/temp_dir.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;
using epilogue::Instant;
using epilogue::replaced;
using Json = nlohmann::json;

constexpr int app_id = 12;
const std::string bot = "epilogue-bot[bot]";

/// An App's key, in a file.
struct KeyFile {
    KeyFile() { std::ofstream(path) << key.private_pem; }

    TempDir folder;
    RsaKey key = new_rsa_key();
    std::string path = (folder.path() / "app.pem").string();
};

Settings as_app(const KeyFile& file) {
    return {{"github.token", ""},
            {"github.app_id", std::int64_t{app_id}},
            {"github.private_key", "file:" + file.path},
            {"worker.senders", 16}};
}

void set_app(const Rig& rig, Json what) {
    what["id"] = app_id;
    rig.platform().control("POST", "/app", what, 10s);
}

Json app_of(const Rig& rig) {
    return rig.platform().control("GET", "/app", nullptr, 10s);
}

Instant instant_in(const Json& json, const char* name) {
    return epilogue::parse_instant(json.at(name).get<std::string>()).value();
}

/// Fails unless PyJWT takes every token that the App has shown.
void check_jwts(const Rig& rig, const KeyFile& file) {
    const Json shown = app_of(rig).at("jwts");
    const Json input{
        {"public_key", file.key.public_pem}, {"app_id", std::to_string(app_id)}, {"jwts", shown}};
    const auto checked = run({.argv = {EPILOGUE_STACK_PYTHON,
                                       std::string(EPILOGUE_SOURCE_DIR) + "/tests/integration/check_jwts.py"},
                              .input = input.dump()},
                             60s);
    BOOST_TEST(checked.status == 0, checked.err);
    BOOST_TEST(checked.out == std::to_string(shown.size()) + "\n");
    BOOST_TEST(!shown.empty());
}

/// Fails when an installation was given two tokens while another was good: each has one successor in its
/// life.
void check_renewals(const Rig& rig) {
    const Json app = app_of(rig);
    std::map<std::int64_t, std::vector<Json>> tokens;
    for (const Json& token : app.at("tokens"))
        tokens[token.at("installation").get<std::int64_t>()].push_back(token);
    for (auto& [installation, given] : tokens) {
        std::sort(given.begin(), given.end(), [](const Json& one, const Json& other) {
            return instant_in(one, "given_at") < instant_in(other, "given_at");
        });
        for (std::size_t i = 2; i < given.size(); ++i)
            BOOST_TEST((instant_in(given[i], "given_at") > instant_in(given[i - 2], "ends")),
                       given[i - 2].dump() << " and two more: " << given[i].dump());
    }
}

/// How many tokens each installation was given.
std::map<std::int64_t, int> tokens_given(const Rig& rig) {
    const Json app = app_of(rig);
    std::map<std::int64_t, int> counts;
    for (const Json& token : app.at("tokens")) ++counts[token.at("installation").get<std::int64_t>()];
    return counts;
}

/// The least of it; 0 while one of the three has none.
int fewest_tokens(const Rig& rig) {
    constexpr std::size_t installations = 3;
    const auto counts = tokens_given(rig);
    if (counts.size() < installations) return 0;
    return std::min_element(counts.begin(), counts.end(),
                            [](const auto& one, const auto& other) { return one.second < other.second; })
        ->second;
}

std::int64_t in_state(const Rig& rig, const std::string& state, const std::string& repository) {
    return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='" + state +
                      "' AND target LIKE 'github:" + repository + "#%'");
}

}  // namespace

BOOST_AUTO_TEST_CASE(tokens_that_end_under_load_lose_and_double_no_post_and_are_renewed_once_in_a_life) {
    constexpr int conversations = 40;
    constexpr auto lifetime = 5s;
    constexpr int tokens_each = 4;
    const KeyFile file;
    const Rig rig("app_tokens", 3, as_app(file));
    set_app(
        rig,
        {{"lifetime_s", lifetime.count()},
         {"installations",
          {{"31", {{"account", "octo1"}}}, {"32", {{"account", "octo2"}}}, {"33", {{"account", "octo3"}}}}}});
    // Some answers are lost: what is posted has to be found again by its author.
    rig.platform().rules({{{"do", "apply_then_reset"},
                           {"method", "POST"},
                           {"path", "/comments$"},
                           {"skip", 20},
                           {"times", 20}}});
    std::vector<V0Conversation> scripts;
    for (int i = 0; i < conversations; ++i) {
        scripts.emplace_back("app-" + std::to_string(i));
        const int owner = i % 3 + 1;
        Json json{{"repo", "octo" + std::to_string(owner) + "/cat"}, {"number", i + 1}};
        if (i % 2 == 0) json["installation_id"] = 30 + owner;
        rig.add_callback({"--conversation", scripts.back().id(), "--processor", "github", "--mode",
                          "every_turn", "--processor-json", json.dump()});
    }
    auto worker = rig.epilogue().worker();
    std::int64_t owed = 0;
    while (fewest_tokens(rig) < tokens_each) {
        std::vector<Record> records;
        for (V0Conversation& conversation : scripts) {
            const std::size_t known = conversation.records().size();
            conversation.user("Go on.").agent_asks("And now?");
            const auto own = conversation.records_since(known);
            records.insert(records.end(), own.begin(), own.end());
        }
        rig.publish(records);
        owed += conversations;
        eventually("all that is owed by now is sent", [&] {
            rig.hurry_look_ups();
            return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'") == owed;
        });
    }
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM deliveries") == owed);
    std::set<std::string> markers;
    for (const auto& comment : rig.platform().visible()) {
        BOOST_TEST(comment.author == bot);
        markers.insert(comment.body.substr(comment.body.rfind('\n') + 1));
    }
    BOOST_TEST(rig.platform().visible().size() == static_cast<std::size_t>(owed));
    BOOST_TEST(markers.size() == static_cast<std::size_t>(owed));
    check_renewals(rig);
    for (const auto& [installation, tokens] : tokens_given(rig))
        std::cout << "installation " << installation << ": " << tokens << " tokens of " << lifetime.count()
                  << " s\n";
    std::cout << owed << " posts, none lost or doubled" << std::endl;
    check_jwts(rig, file);
    BOOST_TEST(worker.process().stop(30s) == 0);
}

BOOST_AUTO_TEST_CASE(a_suspended_installation_is_parked_alone_and_released_when_it_works_again) {
    const KeyFile file;
    const Rig rig("app_suspended", 1, as_app(file));
    const auto installed = [&](bool suspended) {
        set_app(
            rig,
            {{"installations",
              {{"31", {{"account", "octo1"}}}, {"32", {{"account", "octo2"}, {"suspended", suspended}}}}}});
    };
    installed(true);
    std::vector<V0Conversation> scripts;
    for (int i = 0; i < 6; ++i) {
        scripts.emplace_back("suspended-" + std::to_string(i));
        scripts.back().user("Go.").agent_finishes("Done.");
        rig.add_github(scripts.back().id(), i % 2 == 0 ? "octo1/cat" : "octo2/cat", i + 1, "once");
    }
    auto worker = rig.epilogue().worker();
    rig.publish(records_of(scripts));
    eventually("one installation's posts are sent, the other's parked", [&] {
        return in_state(rig, "SENT", "octo1/cat") == 3 && in_state(rig, "PARKED", "octo2/cat") == 3;
    });
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM credentials WHERE parked_since IS NOT NULL") == 1);
    const auto cause =
        rig.query("SELECT cause FROM credentials WHERE parked_since IS NOT NULL").at(0).at(0).value();
    BOOST_TEST(cause.find("This installation has been suspended") != std::string::npos, cause);
    BOOST_TEST(cause.find("[github] app_id 12, installed at octo2") != std::string::npos, cause);
    installed(false);
    rig.query("UPDATE credentials SET probe_at=UTC_TIMESTAMP(6) WHERE parked_since IS NOT NULL");
    eventually("what was parked is sent", [&] { return in_state(rig, "SENT", "octo2/cat") == 3; });
    BOOST_TEST(rig.platform().visible().size() == 6U);
    check_jwts(rig, file);
    BOOST_TEST(worker.process().stop(30s) == 0);
}

BOOST_AUTO_TEST_CASE(check_doctor_and_preview_know_an_app) {
    const KeyFile file;
    const Rig rig("app_known", 1, as_app(file));
    set_app(rig, {{"installations", {{"31", {{"account", "octo"}}}}}});
    V0Conversation told("app-told");
    const auto id = rig.add_github(told.id(), "octo/cat", 7, "once");
    BOOST_TEST(rig.epilogue().run({"check"}).status == 0);

    const auto doctor = rig.epilogue().run({"doctor"});
    BOOST_TEST(doctor.out.find("[github] app_id: we are " + bot) != std::string::npos, doctor.out);
    BOOST_TEST(doctor.out.find("octo/cat#7 can be looked at") != std::string::npos, doctor.out);

    const auto previewed = rig.epilogue().run({"preview", std::to_string(id), "--json"});
    BOOST_TEST(previewed.status == 0, previewed.err);
    BOOST_TEST(previewed.out.find("/repos/octo/cat/issues/7/comments") != std::string::npos, previewed.out);
    BOOST_TEST(previewed.out.find("ghs_") == std::string::npos);
    BOOST_TEST(rig.platform().visible().empty());

    const auto refused = [&](const Settings& more) {
        const auto done = Epilogue(merged({rig.settings(), more})).run({"check"});
        BOOST_TEST(done.status == 78);
        return done.err;
    };
    BOOST_TEST(refused({{"github.token", "t"}}).find("token is set, too") != std::string::npos);
    BOOST_TEST(refused({{"github.private_key", ""}}).find("private_key is missing") != std::string::npos);
    BOOST_TEST(refused({{"github.app_id", 0}}).find("app_id is missing") != std::string::npos);
    const auto unreadable = refused({{"github.private_key", "not a key"}});
    BOOST_TEST(unreadable.find("private_key: expected an RSA private key as PEM") != std::string::npos,
               unreadable);
    BOOST_TEST(unreadable.find("not a key") == std::string::npos);
}
