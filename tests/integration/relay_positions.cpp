// The relay's positions in a real database: who follows what, from where, and that one who was fenced moves
// nothing.
#define BOOST_TEST_MODULE relay_positions
#include <algorithm>
#include <future>
#include <set>

#include <boost/test/unit_test.hpp>

#include "tests/integration/migrated_database.h"
#include "tests/support/eventually.h"
#include "tests/support/expect.h"
#include "tests/support/requirements.h"
#include "tests/support/rig.h"
#include "worker/agents/agent_directory.h"
#include "worker/mysql/mysql_store.h"
#include "worker/mysql/relay_app_rows.h"
#include "worker/mysql/relay_position_rows.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using namespace std::chrono_literals;
using relay::LogPosition;

/// A database of its own, and the positions in it.
struct Trial {
    using Servers = std::vector<MysqlRelayPositions::KnownServer>;

    explicit Trial(const std::string& name, const std::string& fallback = "", Servers servers = {})
        : database(server_of_this_program(), "relay_" + name),
          store(database.settings(), {}),
          sealer(session_key_sealer({Secret("0123456789abcdef0123456789abcdef")})),
          positions(store, sealer, {fallback, Secret("fallback key")}, std::move(servers)) {}

    /// A callback waits for it; `url`: its own server, "": none.
    void wait_for(const std::string& conversation, const std::string& url, const std::string& key = "") {
        database.query(
            "INSERT INTO callback_progress (callback_id, conversation_id, phase, options, adopted_at, "
            "generation) VALUES (" +
            std::to_string(++callbacks) + ",'" + conversation + "','watching','{}',UTC_TIMESTAMP(6),0)");
        if (url.empty()) return;
        const std::string sealed =
            key.empty() ? "NULL" : "'" + expect(sealer.seal(Secret(key), conversation)) + "'";
        database.query("INSERT INTO agent_endpoints VALUES ('" + conversation + "','" + url + "'," + sealed +
                       ")");
    }

    /// The lease of that conversation ends now.
    void end_lease(const std::string& conversation) {
        database.query("UPDATE relay_positions SET lease_until=UTC_TIMESTAMP(6) WHERE conversation_id='" +
                       conversation + "'");
    }

    relay::Claim claim(const std::string& owner) {
        const auto claims = expect(positions.claim(owner, 10, 60s));
        BOOST_REQUIRE(claims.size() == 1U);
        return claims.front();
    }

    /// The conversations that relays follow, or would.
    std::vector<std::string> wanted() {
        std::vector<std::string> wanted;
        for (const auto& row :
             database.query("SELECT conversation_id FROM relay_positions WHERE unwanted_since "
                            "IS NULL ORDER BY conversation_id"))
            wanted.push_back(row.at(0).value());
        return wanted;
    }

    std::string text(const std::string& column) {
        return database.query("SELECT " + column + " FROM relay_positions").at(0).at(0).value_or("NULL");
    }

    int callbacks = 0;
    MigratedDatabase database;
    MysqlStore store;
    Sealer sealer;
    MysqlRelayPositions positions;
};

}  // namespace

BOOST_AUTO_TEST_CASE(what_somebody_waits_for_and_whose_server_is_known_is_found_and_let_go_when_nobody_does) {
    Trial trial("discover");
    trial.wait_for("aa", "http://one:1", "key of aa");
    trial.wait_for("aa", "");
    trial.wait_for("bb", "");  // its server is not known
    BOOST_TEST(expect(trial.positions.discover()).added == 1U);
    BOOST_TEST(expect(trial.positions.discover()).added == 0U);
    const relay::Claim claim = trial.claim("me");
    BOOST_TEST(claim.conversation_id.text() == "aa");
    BOOST_TEST(claim.server == "http://one:1");
    BOOST_TEST(claim.session_key.reveal() == "key of aa");
    BOOST_CHECK(claim.position == LogPosition{});

    trial.database.query("UPDATE callback_progress SET phase='done' WHERE callback_id=1");
    BOOST_TEST(expect(trial.positions.discover()).dropped == 0U);
    trial.database.query("UPDATE callback_progress SET phase='cancelled'");
    BOOST_TEST(expect(trial.positions.discover()).dropped == 1U);
    BOOST_TEST(expect(trial.positions.renew("me", {claim.conversation_id}, 60s)).empty());
}

BOOST_AUTO_TEST_CASE(what_a_killed_follower_held_is_free_at_once_for_the_one_that_takes_its_place) {
    Trial trial("place");
    trial.wait_for("aa", "http://one:1");
    expect(trial.positions.discover());
    const relay::Claim before = trial.claim("me");
    expect(trial.positions.end_leases("another"));
    BOOST_TEST(expect(trial.positions.claim("another", 10, 60s)).empty());
    expect(trial.positions.end_leases("me"));
    const relay::Claim now = trial.claim("me");
    BOOST_TEST(now.generation == before.generation + 1);
    // The killed one, should it live after all, stores nothing.
    const auto fenced =
        trial.positions.advance("me", {{before.conversation_id, before.generation, {7, "e"}, 0, ""}});
    BOOST_TEST(expect(fenced).size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_position_outlives_the_time_in_which_nobody_waits) {
    Trial trial("again");
    trial.wait_for("aa", "http://one:1");
    expect(trial.positions.discover());
    const relay::Claim claim = trial.claim("me");
    expect(trial.positions.advance("me", {{claim.conversation_id, claim.generation, {7, "event 6"}, 0, ""}}));
    trial.database.query("UPDATE callback_progress SET phase='done'");
    expect(trial.positions.discover());
    trial.end_lease("aa");
    BOOST_TEST(expect(trial.positions.claim("me", 10, 60s)).empty());
    trial.wait_for("aa", "");
    expect(trial.positions.discover());
    BOOST_CHECK((trial.claim("me").position == LogPosition{7, "event 6"}));

    trial.database.query("UPDATE callback_progress SET phase='done'");
    expect(trial.positions.discover());
    trial.database.query("UPDATE relay_positions SET unwanted_since=unwanted_since - INTERVAL 31 DAY");
    expect(trial.positions.discover());
    BOOST_TEST(trial.database.number("SELECT COUNT(*) FROM relay_positions") == 0);
}

BOOST_AUTO_TEST_CASE(a_conversation_without_a_server_of_its_own_has_the_one_of_the_settings) {
    Trial trial("fallback", "http://all:1");
    trial.wait_for("aa", "");
    expect(trial.positions.discover());
    const relay::Claim claim = trial.claim("me");
    BOOST_TEST(claim.server == "http://all:1");
    BOOST_TEST(claim.session_key.reveal() == "fallback key");
}

BOOST_AUTO_TEST_CASE(a_conversation_that_moves_to_another_server_is_seen_at_the_next_renewal) {
    Trial trial("moves");
    trial.wait_for("aa", "http://one:1");
    expect(trial.positions.discover());
    const relay::Claim claim = trial.claim("me");
    trial.database.query("UPDATE agent_endpoints SET url='http://two:2'");
    expect(trial.positions.discover());
    const auto held = expect(trial.positions.renew("me", {claim.conversation_id}, 60s));
    BOOST_REQUIRE(held.size() == 1U);
    BOOST_TEST(held.front().server == "http://two:2");
}

BOOST_AUTO_TEST_CASE(many_relays_that_claim_at_once_share_the_conversations_each_goes_to_one) {
    Trial trial("many");
    for (int i = 0; i < 300; ++i) trial.wait_for("c" + std::to_string(i), "http://one:1");
    BOOST_TEST(expect(trial.positions.discover()).added == 300U);
    std::vector<std::future<std::vector<relay::Claim>>> claiming;
    for (int i = 0; i < 4; ++i)
        claiming.push_back(std::async(std::launch::async, [&trial, i] {
            std::vector<relay::Claim> all;
            for (;;) {
                auto some = expect(trial.positions.claim("relay " + std::to_string(i), 40, 60s));
                if (some.empty()) return all;
                all.insert(all.end(), some.begin(), some.end());
            }
        }));
    std::multiset<std::string> claimed;
    for (auto& each : claiming)
        for (const auto& claim : each.get()) claimed.insert(claim.conversation_id.text());
    // One that was locked by another's claim is found by the next.
    for (const auto& claim : expect(trial.positions.claim("last", 300, 60s)))
        claimed.insert(claim.conversation_id.text());
    BOOST_TEST(claimed.size() == 300U);
    BOOST_TEST(std::set<std::string>(claimed.begin(), claimed.end()).size() == 300U);
}

BOOST_AUTO_TEST_CASE(the_next_owner_goes_on_where_the_last_one_stood_and_that_one_moves_nothing_any_more) {
    Trial trial("fenced");
    trial.wait_for("aa", "http://one:1");
    expect(trial.positions.discover());
    const relay::Claim first = trial.claim("first");
    BOOST_TEST(
        expect(trial.positions.advance(
                   "first", {{first.conversation_id, first.generation, {7, "event 6", true}, 5, "slow"}}))
            .empty());
    BOOST_TEST(trial.text("behind") == "5");
    BOOST_TEST(trial.text("last_error") == "slow");
    BOOST_TEST(trial.text("behind_since") != "NULL");
    BOOST_TEST(expect(trial.positions.claim("second", 10, 60s)).empty());

    trial.end_lease("aa");
    BOOST_TEST(expect(trial.positions.renew("first", {first.conversation_id}, 60s)).empty());
    const relay::Claim second = trial.claim("second");
    BOOST_CHECK((second.position == LogPosition{7, "event 6", true}));
    BOOST_TEST(second.generation > first.generation);
    const auto fenced = expect(
        trial.positions.advance("first", {{first.conversation_id, first.generation, {9, "event 8"}, 0, ""}}));
    BOOST_TEST(fenced.size() == 1U);
    BOOST_TEST(
        !expect(trial.positions.release("first", {first.conversation_id, first.generation, {}, 0, ""}, 0s)));
    BOOST_TEST(trial.text("next_index") == "7");

    // Nor is a life of the same name with an older generation believed, nor one whose lease has ended.
    BOOST_TEST(expect(trial.positions.advance(
                          "second", {{first.conversation_id, first.generation, {9, "event 8"}, 0, ""}}))
                   .size() == 1U);
    trial.end_lease("aa");
    BOOST_TEST(expect(trial.positions.advance(
                          "second", {{first.conversation_id, second.generation, {9, "event 8"}, 0, ""}}))
                   .size() == 1U);
}

BOOST_AUTO_TEST_CASE(what_is_let_go_is_taken_again_when_its_pause_is_over) {
    Trial trial("released");
    trial.wait_for("aa", "http://one:1");
    expect(trial.positions.discover());
    const relay::Claim claim = trial.claim("me");
    BOOST_TEST(expect(
        trial.positions.release("me", {claim.conversation_id, claim.generation, {3, "c"}, 0, "gone"}, 600s)));
    BOOST_TEST(expect(trial.positions.claim("other", 10, 60s)).empty());
    BOOST_TEST(trial.text("last_error") == "gone");
    trial.end_lease("aa");
    BOOST_CHECK((trial.claim("other").position == LogPosition{3, "c"}));
}

BOOST_AUTO_TEST_CASE(a_pause_ends_where_the_conversation_has_another_session_key) {
    Trial trial("rotated");
    MysqlAppPositions endpoints(trial.store, trial.sealer);
    const ConversationId aa("aa");
    trial.wait_for("aa", "");
    expect(endpoints.save_endpoint(aa, "http://one:1", Secret("old")));
    expect(trial.positions.discover());
    const auto refused = [&](const relay::Claim& claim) {
        return expect(trial.positions.release(
            "me", {claim.conversation_id, claim.generation, {3, "c"}, 0, "refused", false, claim.key_mark},
            300s));
    };
    BOOST_TEST(refused(trial.claim("me")));
    BOOST_TEST(expect(trial.positions.claim("me", 10, 60s)).empty());
    // It is stored while the pause lasts.
    expect(endpoints.save_endpoint(aa, "http://one:1", Secret("new")));
    const relay::Claim second = trial.claim("me");
    BOOST_TEST(second.session_key.reveal() == "new");
    // It was stored before the old one was refused.
    expect(endpoints.save_endpoint(aa, "http://one:1", Secret("newer")));
    BOOST_TEST(expect(trial.positions.renew("me", {aa}, 60s)).size() == 1U);
    BOOST_TEST(refused(second));
    const relay::Claim third = trial.claim("me");
    BOOST_TEST(third.session_key.reveal() == "newer");
    BOOST_TEST(refused(third));
    BOOST_TEST(expect(trial.positions.claim("me", 10, 60s)).empty());
}

BOOST_AUTO_TEST_CASE(a_relay_that_begins_with_another_key_in_its_configuration_waits_for_no_pause) {
    Trial trial("reconfigured", "http://fallback:1");
    MysqlAppPositions endpoints(trial.store, trial.sealer);
    trial.wait_for("aa", "");
    trial.wait_for("own", "");
    expect(endpoints.save_endpoint(ConversationId("own"), "http://one:1", Secret("its own")));
    expect(trial.positions.discover());
    for (const relay::Claim& claim : expect(trial.positions.claim("me", 10, 60s)))
        BOOST_TEST(expect(trial.positions.release(
            "me", {claim.conversation_id, claim.generation, {3, "c"}, 0, "refused", false, claim.key_mark},
            300s)));
    MysqlRelayPositions restarted(trial.store, trial.sealer, {"http://fallback:1", Secret("another key")});
    expect(restarted.end_leases("me"));
    const auto claims = expect(restarted.claim("me", 10, 60s));
    // That of a key of its own, which is the same as before, is left alone.
    BOOST_REQUIRE(claims.size() == 1U);
    BOOST_TEST(claims.front().conversation_id.text() == "aa");
    BOOST_TEST(claims.front().session_key.reveal() == "another key");
}

BOOST_AUTO_TEST_CASE(a_session_key_that_does_not_open_is_said_and_keeps_nobody_else_back) {
    Trial trial("sealed");
    trial.wait_for("aa", "http://one:1", "a key");
    trial.wait_for("bb", "http://one:1", "b key");
    trial.database.query(
        "UPDATE agent_endpoints SET session_key_sealed='nonsense' WHERE conversation_id='aa'");
    expect(trial.positions.discover());
    BOOST_TEST(trial.claim("me").conversation_id.text() == "bb");
    BOOST_TEST(trial.database.number("SELECT COUNT(*) FROM relay_positions WHERE conversation_id='aa' AND "
                                     "owner IS NULL AND last_error LIKE '%session key%'") == 1);
}

BOOST_AUTO_TEST_CASE(a_server_that_is_followed_as_a_whole_has_each_of_its_conversations_followed) {
    Trial trial("whole", "", {{"http://one:1", Secret("key of one"), true, ""}});
    const ConversationId aa("aa");
    const ConversationId bb("bb");
    expect(trial.positions.found("http://one:1", {aa, bb}, true));
    expect(trial.positions.discover());
    BOOST_TEST((trial.wanted() == std::vector<std::string>{"aa", "bb"}));
    const auto claims = expect(trial.positions.claim("me", 10, 60s));
    BOOST_REQUIRE(claims.size() == 2U);
    BOOST_TEST(claims[0].server == "http://one:1");
    BOOST_TEST(claims[0].session_key.reveal() == "key of one");

    // Not on the list any more: unless it was added meanwhile, or a callback waits for it.
    expect(trial.positions.found("http://one:1", {bb}, true));
    BOOST_TEST((trial.wanted() == std::vector<std::string>{"aa", "bb"}));
    trial.database.query("UPDATE relay_positions SET added_at=added_at - INTERVAL 1 HOUR");
    expect(trial.positions.found("http://one:1", {bb}, true));
    BOOST_TEST((trial.wanted() == std::vector<std::string>{"bb"}));
    trial.wait_for("bb", "");
    expect(trial.positions.found("http://one:1", {}, true));
    BOOST_TEST((trial.wanted() == std::vector<std::string>{"bb"}));
    expect(trial.positions.found("http://one:1", {aa}, false));
    BOOST_TEST((trial.wanted() == std::vector<std::string>{"aa", "bb"}));
}

BOOST_AUTO_TEST_CASE(an_address_of_its_own_wins_over_the_list_of_a_server_and_that_over_the_settings) {
    Trial trial("places", "http://all:1",
                {{"http://one:1", Secret("key of one"), true, ""},
                 {"http://two:2", Secret("key of two"), false, ""}});
    trial.wait_for("aa", "http://two:2");
    trial.wait_for("bb", "");
    expect(trial.positions.discover());
    expect(trial.positions.found("http://one:1", {ConversationId("aa"), ConversationId("bb")}, true));
    auto claims = expect(trial.positions.claim("me", 10, 60s));
    std::ranges::sort(claims, {}, [](const auto& each) { return each.conversation_id.text(); });
    BOOST_REQUIRE(claims.size() == 2U);
    BOOST_TEST(claims[0].server == "http://two:2");
    BOOST_TEST(claims[0].session_key.reveal() == "key of two");  // it has none of its own
    BOOST_TEST(claims[1].server == "http://one:1");
    BOOST_TEST(claims[1].session_key.reveal() == "key of one");
}

BOOST_AUTO_TEST_CASE(a_server_that_is_followed_as_a_whole_no_more_is_let_go) {
    Trial trial("no_more", "", {{"http://one:1", Secret(), true, ""}});
    expect(trial.positions.found("http://one:1", {ConversationId("aa")}, true));
    MysqlRelayPositions others(trial.store, trial.sealer, {}, {});
    BOOST_TEST(expect(others.discover()).dropped == 1U);
    BOOST_TEST(trial.wanted().empty());
}

BOOST_AUTO_TEST_CASE(what_webhooks_told_of_and_nobody_follows_can_be_compared_where_an_address_is_known) {
    Trial trial("compared", "", {{"http://one:1", Secret("key of one"), false, "digest of one"}});
    const auto told = [&](const std::string& conversation, const std::string& sender) {
        trial.database.query("INSERT INTO relay_owners VALUES ('" + conversation + "','" + sender +
                             "',UTC_TIMESTAMP(6))");
    };
    told("by sender", "digest of one");
    told("by address", "another digest");
    trial.database.query("INSERT INTO agent_endpoints VALUES ('by address','http://own:1',NULL)");
    told("unknown", "another digest");
    told("followed", "digest of one");
    trial.wait_for("followed", "http://own:1");
    expect(trial.positions.discover());
    const auto lately = expect(trial.positions.told_lately());
    BOOST_TEST(lately.size() == 4U);
    auto claims = expect(trial.positions.claim_to_compare("me", lately, 60s));
    std::ranges::sort(claims, {}, [](const auto& each) { return each.conversation_id.text(); });
    BOOST_REQUIRE(claims.size() == 2U);
    BOOST_TEST(claims[0].conversation_id.text() == "by address");
    BOOST_TEST(claims[0].server == "http://own:1");
    BOOST_TEST(claims[1].conversation_id.text() == "by sender");
    BOOST_TEST(claims[1].server == "http://one:1");
    BOOST_TEST(claims[1].session_key.reveal() == "key of one");
    BOOST_TEST(expect(trial.positions.claim_to_compare("other", lately, 60s)).empty());
    BOOST_TEST(expect(trial.positions.renew_compared("me", {claims[0].conversation_id}, 60s)).size() == 1U);
    BOOST_TEST((trial.wanted() == std::vector<std::string>{"followed"}));

    // Those that another relay has can be read, from where it is.
    expect(trial.positions.discover());
    const relay::Claim followed = trial.claim("follower");
    expect(trial.positions.advance("follower",
                                   {{followed.conversation_id, followed.generation, {5, "e"}, 0, ""}}));
    const auto read =
        expect(trial.positions.claims_to_read({ConversationId("followed"), ConversationId("unknown")}));
    BOOST_REQUIRE(read.size() == 1U);
    BOOST_TEST(read[0].conversation_id.text() == "followed");
    BOOST_TEST(read[0].server == "http://own:1");
    BOOST_CHECK((read[0].position == LogPosition{5, "e"}));
    BOOST_TEST(expect(trial.positions.renew("follower", {followed.conversation_id}, 60s)).size() == 1U);

    // The position is kept, and the follower of a later callback goes on from there.
    BOOST_TEST(expect(trial.positions.release(
        "me", {claims[0].conversation_id, claims[0].generation, {7, "g"}, 0, ""}, 0s)));
    trial.wait_for("by address", "");
    expect(trial.positions.discover());
    for (const auto& claim : expect(trial.positions.claim("follower", 10, 60s)))
        if (claim.conversation_id.text() == "by address")
            BOOST_CHECK((claim.position == LogPosition{7, "g"}));
    BOOST_TEST((trial.wanted() == std::vector<std::string>{"by address", "followed"}));
}

BOOST_AUTO_TEST_CASE(one_relay_at_a_time_reads_an_app_server_and_the_next_goes_on_where_it_stood) {
    Trial trial("app_servers");
    MysqlAppPositions rows(trial.store, trial.sealer);
    const std::string server = "https://app.example#org";
    const ConversationId one("one");
    BOOST_TEST((expect(rows.hold(server, "a", 60s)) == std::optional<std::string>("")));
    BOOST_TEST(!expect(rows.hold(server, "b", 60s)));
    BOOST_TEST(expect(rows.hold("https://other.example", "b", 60s)).has_value());
    expect(rows.save(server, "a", one, {"2026-11-23T10:00:00.5", 7}));
    expect(rows.set_floor(server, "a", "2026-11-23T09:00:00Z"));
    const auto looked = [&](const std::string& of) {
        const auto rows_seen = trial.database.query(
            "SELECT behind, behind_since IS NOT NULL, looked_at IS NOT NULL, last_error FROM "
            "relay_app_servers WHERE server='" +
            of + "'");
        std::string text;
        for (const auto& value : rows_seen.at(0)) text += value.value_or("-") + " ";
        return text;
    };
    BOOST_TEST(looked(server) == "0 0 0 - ");
    expect(rows.note_look(server, "a", {5, "it answered 502"}));
    BOOST_TEST(looked(server) == "5 1 1 it answered 502 ");
    expect(rows.note_look(server, "a", {}));
    BOOST_TEST(looked(server) == "0 0 1 - ");
    // What another one says that has lost the server moves nothing.
    expect(rows.note_look(server, "b", {9, "not mine"}));
    BOOST_TEST(looked(server) == "0 0 1 - ");
    expect(rows.save(server, "b", one, {"2026-11-23T11:00:00", 9}));
    expect(rows.set_floor(server, "b", "2026-11-23T11:00:00Z"));
    expect(rows.release(server, "b"));
    BOOST_TEST(!expect(rows.hold(server, "b", 60s)));
    expect(rows.release(server, "a"));
    BOOST_TEST((expect(rows.hold(server, "b", 60s)) == std::optional<std::string>("2026-11-23T09:00:00Z")));
    const auto known = expect(rows.positions({one, ConversationId("two")}));
    BOOST_TEST(known.size() == 1U);
    BOOST_CHECK((known.at(one) == relay::AppPosition{"2026-11-23T10:00:00.5", 7}));
    expect(rows.save(server, "b", one, {"2026-11-23T11:00:00", 9}));
    BOOST_TEST(expect(rows.positions({one})).at(one).told == 9);

    // A sandbox's address: the conversation is followed there.
    trial.wait_for("one", "");
    expect(rows.save_endpoint(one, "http://sandbox:8000", Secret("sandbox key")));
    expect(rows.save_endpoint(one, "http://sandbox:8001", Secret("sandbox key")));
    expect(trial.positions.discover());
    const auto claim = trial.claim("follower");
    BOOST_TEST(claim.server == "http://sandbox:8001");
    BOOST_TEST(claim.session_key.reveal() == "sandbox key");
    for (const auto& row : trial.database.query("SELECT session_key_sealed FROM agent_endpoints"))
        BOOST_TEST(row.at(0).value().find("sandbox key") == std::string::npos);
    MysqlAppPositions without_keys(trial.store, session_key_sealer({}));
    expect(without_keys.save_endpoint(one, "http://sandbox:8002", Secret("sandbox key")));
    BOOST_TEST(trial.database.query("SELECT url FROM agent_endpoints").at(0).at(0).value() ==
               "http://sandbox:8001");
}
