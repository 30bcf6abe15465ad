// The janitor on a real database: what is old goes, what is needed stays, and a worker that is killed in
// between leaves nothing that the next one does not finish.
#define BOOST_TEST_MODULE retention
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;

/// Makes everything that is in the tables 1,000 days older.
void age(const Rig& rig) {
    const std::string days = " - INTERVAL 1000 DAY";
    rig.query("UPDATE deliveries SET created_at=created_at" + days + ", sent_at=sent_at" + days +
              ", heal_due_at=NULL");
    rig.query("UPDATE summaries SET created_at=created_at" + days);
    rig.query("UPDATE conversations SET last_event_at=last_event_at" + days);
    rig.query("UPDATE dead_letters SET created_at=created_at" + days);
}

/// So many old dead letters.
void add_letters(const Rig& rig, int thousands) {
    std::string numbers = "SELECT 0 AS n";
    for (int n = 1; n < 1000; ++n) numbers += " UNION ALL SELECT " + std::to_string(n);
    for (int thousand = 0; thousand < thousands; ++thousand)
        rig.query(
            "INSERT INTO dead_letters (cluster_id, topic, partition_id, record_offset, reason, length, "
            "sha256, created_at) SELECT 'c', 'old', 0, 1000*" +
            std::to_string(thousand) + "+n, 'not_json', 1, REPEAT('0', 64), '2020-01-01' FROM (" + numbers +
            ") numbers");
}

void tell(const Rig& rig, const std::string& conversation) {
    rig.publish(V0Conversation(conversation).user("Go.").agent_finishes("Done.").records());
}

std::int64_t deliveries(const Rig& rig, const std::string& state) {
    return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='" + state + "'");
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_old_goes_and_what_is_owed_watched_or_open_stays) {
    const Rig rig("retained", 1);
    rig.platform().rules(
        {{{"do", "status"}, {"status", 403}, {"method", "POST"}, {"path", "/o/parked/"}, {"times", -1}}});
    {
        auto worker = rig.epilogue().worker();
        for (const std::string name : {"over", "watched", "parked"})
            rig.add_github(name, "o/" + name, 1, name == "watched" ? "every_turn" : "once");
        for (const std::string name : {"over", "watched", "parked", "unseen"}) tell(rig, name);
        rig.publish(V0Conversation("open").user("Go.").records());
        rig.publish({{.key = "letter", .value = "{not json"}});
        eventually("all is read", [&] { return rig.stored() == rig.ends(); });
        eventually("two are posted", [&] { return deliveries(rig, "SENT") == 2; });
        eventually("one is parked", [&] { return deliveries(rig, "PARKED") == 1; });
        BOOST_TEST(worker.process().stop(30s) == 0);
    }
    age(rig);
    tell(rig, "young");  // the topic still has it: the conversation is new
    auto worker = rig.epilogue().worker();
    eventually("the janitor has passed",
               [&] { return contains(worker.process().err(), "removed what is older"); });

    const auto exists = [&](const std::string& table, const std::string& conversation) {
        return rig.number("SELECT COUNT(*) FROM " + table + " WHERE conversation_id='" + conversation + "'") >
               0;
    };
    for (const std::string kept : {"watched", "parked", "open", "young"})
        BOOST_TEST(exists("conversations", kept), kept);
    for (const std::string gone : {"over", "unseen"}) BOOST_TEST(!exists("conversations", gone), gone);
    // The ledger goes with its conversation, the callbacks never.
    BOOST_TEST(!exists("deliveries", "over"));
    BOOST_TEST(exists("deliveries", "watched"));
    BOOST_TEST(exists("deliveries", "parked"));
    BOOST_TEST(exists("conversation_callbacks", "over"));
    BOOST_TEST(!exists("summaries", "over"));
    BOOST_TEST(!exists("summaries", "watched"));
    BOOST_TEST(exists("summaries", "parked"));
    BOOST_TEST(rig.number("SELECT body IS NULL FROM deliveries WHERE conversation_id='watched'") == 1);
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM dead_letters") == 0);
    const Metrics metrics = worker.metrics();
    BOOST_TEST(total(metrics, "epilogue_retention_removed_total", {"what=\"conversation\""}) == 2);
    BOOST_TEST(total(metrics, "epilogue_retention_removed_total", {"what=\"dead_letter\""}) == 1);

    // What was kept still works: the parked post goes out whole, and the watched conversation's next turn is
    // told.
    rig.platform().rules(nlohmann::json::array());
    const std::string parked =
        rig.query("SELECT delivery_id FROM deliveries WHERE state='PARKED'").at(0).at(0).value();
    BOOST_TEST(rig.epilogue().run({"deliveries", "retry", parked}).status == 0);
    eventually("the parked post is visible",
               [&] { return deliveries(rig, "PARKED") == 0 && deliveries(rig, "SENT") == 2; });
    BOOST_TEST(rig.platform().visible().size() == 3U);
}

BOOST_AUTO_TEST_CASE(a_janitor_that_is_killed_in_between_leaves_the_rest_to_the_next) {
    const Rig rig("swept", 1);
    {
        auto worker = rig.epilogue().worker();
        rig.add_github("over", "o/over", 1, "once");
        rig.add_github("watched", "o/watched", 1, "every_turn");
        tell(rig, "over");
        tell(rig, "watched");
        eventually("both are posted", [&] { return deliveries(rig, "SENT") == 2; });
        BOOST_TEST(worker.process().stop(30s) == 0);
    }
    age(rig);
    add_letters(rig, 20);
    const auto left = [&] { return rig.number("SELECT COUNT(*) FROM dead_letters"); };
    const std::int64_t all = left();
    {
        auto killed = rig.epilogue().worker();
        eventually("some are gone", [&] { return left() < all; });
        killed.process().kill9();
    }
    BOOST_TEST(left() > 0);
    const auto first = rig.epilogue().worker();
    const auto second = rig.epilogue().worker();
    eventually("all are gone", [&] { return left() == 0; });
    eventually("and the conversation that is over",
               [&] { return rig.number("SELECT COUNT(*) FROM conversations") == 1; });
    eventually("and its ledger", [&] { return deliveries(rig, "SENT") == 1; });
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM conversation_callbacks") == 2);
    BOOST_TEST(rig.platform().visible().size() == 2U);
}
