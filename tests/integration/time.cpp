// What time alone brings: inactivity, mass timeouts, and rows that others wrote.
#define BOOST_TEST_MODULE time
#include <boost/test/unit_test.hpp>

#include "tests/support/eventually.h"
#include "tests/support/rig.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;

std::int64_t bodies_with(const Rig& rig, const std::string& words) {
    std::int64_t count = 0;
    for (const auto& comment : rig.platform().visible())
        count += comment.body.find(words) == std::string::npos ? 0 : 1;
    return count;
}

std::string foreign_row(const std::string& conversation, int number, const std::string& created_at) {
    return "('" + conversation +
           "','server.x.github_callback_processor.GithubCallbackProcessor','{\"repo\":\"octo/"
           "foreign\",\"number\":" +
           std::to_string(number) + "}'," + created_at + ")";
}

void insert_foreign(const Rig& rig, const std::vector<std::string>& rows) {
    std::string sql =
        "INSERT INTO conversation_callbacks (conversation_id, processor_type, processor_json, created_at) "
        "VALUES ";
    for (std::size_t i = 0; i < rows.size(); ++i) sql += (i ? "," : "") + rows[i];
    rig.query(sql);
}

const std::string unadopted =
    "SELECT COUNT(*) FROM conversation_callbacks c LEFT JOIN callback_progress p ON p.callback_id=c.id WHERE "
    "p.callback_id IS NULL";

}  // namespace

BOOST_AUTO_TEST_CASE(a_silent_turn_is_reported_once_and_another_when_its_agent_lives_after_all) {
    const Rig rig("silent", 1, {{"worker.inactivity_timeout_s", 3}});
    V0Conversation conversation("silent-one");
    conversation.user("Go on.");
    rig.add_github(conversation.id(), "octo/silent", 1, "every_turn");
    const auto worker = rig.epilogue().worker();
    rig.publish(conversation.records());
    eventually("the silence is reported", [&] { return bodies_with(rig, "**No sign of life**") == 1; });
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM conversations WHERE verdict='timeout'") == 1);

    const auto before = conversation.records().size();
    conversation.agent_finishes("Here I am.");
    rig.publish(conversation.records_since(before));
    eventually("the late end is reported too", [&] { return bodies_with(rig, "Here I am.") == 1; });
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM deliveries") == 2);
    BOOST_TEST(bodies_with(rig, "**No sign of life**") == 1);
}

BOOST_AUTO_TEST_CASE(many_silences_at_once_are_one_broken_relay_and_none_is_posted) {
    constexpr int conversations = 30;
    const Rig rig("storm", 2, {{"worker.inactivity_timeout_s", 4}});
    std::vector<V0Conversation> scripts;
    for (int i = 0; i < conversations; ++i) {
        scripts.emplace_back("storm-" + std::to_string(i)).user("Go on.");
        rig.add_github(scripts.back().id(), "octo/storm", i + 1, "once");
    }
    const auto worker = rig.epilogue().worker();
    rig.publish(records_of(scripts));
    eventually("all silences are held", [&] {
        return rig.number("SELECT COUNT(*) FROM conversations WHERE held=1") == conversations;
    });
    eventually("the metric says so",
               [&] { return total(worker.metrics(), "epilogue_timeouts_held") == conversations; });
    const auto ready = worker.get("/readyz");
    BOOST_TEST(ready.status == 503);
    BOOST_TEST(ready.body.find("relay") != std::string::npos, ready.body);
    BOOST_TEST(rig.platform().counts().at("attempts") == 0U);

    // The relay is mended: most agents go on. The few that do not are resumed, one by one.
    constexpr int dead = 3;
    std::vector<Record> rest;
    for (int i = dead; i < conversations; ++i) {
        scripts[static_cast<std::size_t>(i)].agent_finishes("Done in " +
                                                            scripts[static_cast<std::size_t>(i)].id() + ".");
        const auto& records = scripts[static_cast<std::size_t>(i)].records();
        rest.insert(rest.end(), records.begin() + 1, records.end());
    }
    rig.publish(rest);
    eventually("every real end is posted, and the dead ones are reported", [&] {
        return bodies_with(rig, "**Finished**") == conversations - dead &&
               bodies_with(rig, "**No sign of life**") == dead;
    });
    eventually("the worker is ready again", [&] { return worker.get("/readyz").status == 200; });
    BOOST_TEST(rig.platform().counts().at("visible") == static_cast<std::size_t>(conversations));
}

BOOST_AUTO_TEST_CASE(without_the_storm_brake_every_silence_is_posted) {
    constexpr int conversations = 30;
    const Rig rig("no_brake", 2, {{"worker.inactivity_timeout_s", 4}, {"worker.timeout_storm", "post"}});
    std::vector<V0Conversation> scripts;
    for (int i = 0; i < conversations; ++i) {
        scripts.emplace_back("no-brake-" + std::to_string(i)).user("Go on.");
        rig.add_github(scripts.back().id(), "octo/no-brake", i + 1, "once");
    }
    const auto worker = rig.epilogue().worker();
    rig.publish(records_of(scripts));
    eventually("every silence is posted",
               [&] { return bodies_with(rig, "**No sign of life**") == conversations; });
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM conversations WHERE held=1") == 0);
    BOOST_TEST(total(worker.metrics(), "epilogue_timeouts_held") == 0);
    BOOST_TEST(worker.get("/readyz").status == 200);
    BOOST_TEST(rig.platform().counts().at("visible") == static_cast<std::size_t>(conversations));
}

BOOST_AUTO_TEST_CASE(rows_of_others_are_adopted_and_old_ones_sleep_until_they_are_woken) {
    constexpr int old_rows = 10'000;
    constexpr int new_turns = 100;
    const Rig rig("adopted", 2);
    // Each row is adopted in a transaction of its own; here none of them has to survive a power failure.
    rig.query("SET GLOBAL innodb_flush_log_at_trx_commit=0");
    rig.query("SET GLOBAL sync_binlog=0");  // MySQL writes one by itself
    V0Conversation ended("adopted-ended");
    ended.user("Go on.").agent_finishes("It ended before.");
    V0Conversation fresh("adopted-fresh");
    fresh.user("Go on.");
    const auto worker = rig.epilogue().worker();
    rig.publish(records_of({ended, fresh}));
    eventually("the end is known", [&] {
        return rig.number("SELECT COUNT(*) FROM conversations WHERE verdict='finished'") == 1;
    });

    std::vector<std::string> rows;
    rows.push_back(foreign_row(ended.id(), 1, "UTC_TIMESTAMP(6)"));  // late: its end is reported
    rows.push_back(foreign_row(fresh.id(), 2, "'2020-01-01'"));      // old, but its turn goes on
    rows.push_back("('adopted-wrong','github','{\"repo\":5}',UTC_TIMESTAMP(6))");
    std::vector<V0Conversation> conversations;
    for (int i = 0; i < old_rows; ++i) {
        if (i < new_turns) conversations.emplace_back("adopted-old-" + std::to_string(i));
        rows.push_back(foreign_row(i < new_turns ? conversations.back().id() : ended.id(), 1000 + i,
                                   i % 2 ? "'2020-01-01'" : "NULL"));
    }
    insert_foreign(rig, rows);
    eventually("all rows are adopted", 180s, [&] { return rig.number(unadopted) == 0; });
    eventually("the late registration is answered",
               [&] { return bodies_with(rig, "It ended before.") == 1; });
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM callback_progress WHERE phase='dormant'") == old_rows + 1);
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM conversation_callbacks c JOIN callback_progress p ON "
                          "p.callback_id=c.id WHERE "
                          "c.status='ERROR' AND p.reason LIKE '%repo%'") == 1);
    BOOST_TEST(total(worker.metrics(), "epilogue_adopted_total") == old_rows + 3);

    // A dormant row does not report the turn that was open at its adoption. It reports the next one.
    fresh.agent_finishes("This turn was open before.");
    fresh.user("And now?").agent_finishes("This one is new.");
    rig.publish(fresh.records_since(1));
    eventually("the new turn is reported", [&] { return bodies_with(rig, "This one is new.") == 1; });
    BOOST_TEST(bodies_with(rig, "This turn was open before.") == 0);
    for (V0Conversation& conversation : conversations)
        conversation.user("Once more.").agent_finishes("New in " + conversation.id() + ".");
    rig.publish(records_of(conversations));
    eventually("each new turn is reported", [&] { return bodies_with(rig, "New in ") == new_turns; });
    for (const V0Conversation& conversation : conversations)
        BOOST_TEST(bodies_with(rig, "New in " + conversation.id() + ".") == 1);
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM deliveries") == new_turns + 2);

    const auto sleeping = rig.number(
        "SELECT MIN(callback_id) FROM callback_progress WHERE phase='dormant' AND conversation_id='" +
        ended.id() + "'");
    BOOST_TEST(rig.epilogue().run({"callbacks", "wake", std::to_string(sleeping)}).status == 0);
    eventually("the woken row reports the old end",
               [&] { return bodies_with(rig, "It ended before.") == 2; });
    BOOST_TEST(rig.number("SELECT COUNT(*) FROM deliveries") == new_turns + 3);
    BOOST_TEST(rig.platform().counts().at("attempts") == std::size_t{new_turns + 3});
    rig.query("SET GLOBAL innodb_flush_log_at_trx_commit=1");
    rig.query("SET GLOBAL sync_binlog=1");
}
