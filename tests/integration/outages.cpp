// A database that answers and still takes nothing: a grant that is missing, no room left, read-only. All of
// it is an outage: no record is given up, no position moves, the worker says why and goes on by itself.
#define BOOST_TEST_MODULE outages
#include <optional>

#include <boost/test/unit_test.hpp>

#include "tests/support/eventually.h"
#include "tests/support/rig.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;

V0Conversation told(const std::string& id, const std::string& words) {
    return V0Conversation(id).user("Go.").agent_finishes(words);
}

/// One worker that has posted once, and what must stand still from then on.
class Outage {
  public:
    Outage(const Database& server, const std::string& name, const Settings& more = {})
        : server_(server), rig_(name, 1, more) {
        for (const char* conversation : {"before", "during"})
            rig_.add_github(conversation, std::string("o/") + conversation, 1, "once");
    }

    void start() {
        worker_.emplace(rig_.epilogue().worker());
        rig_.publish(told("before", "Done.").records());
        check_posted(1);
        eventually("the offsets have followed", [&] { return rig_.committed() == rig_.ends(); });
        before_ = rig_.ends();
    }

    /// While it lasts: more is told, the reason is said, nothing moves and nothing is given up.
    void check_lasts(const std::vector<V0Conversation>& conversations, const std::string& reason) {
        rig_.publish(records_of(conversations));
        eventually("the worker is unready because of " + reason, [&] {
            const auto ready = worker_->get("/readyz");
            return ready.status == 503 && ready.body.find(reason) != std::string::npos;
        });
        BOOST_TEST(worker_->get("/healthz").status == 200);
        BOOST_TEST(worker_->process().running());
        BOOST_TEST((stored() == before_));
        BOOST_TEST((rig_.committed() == before_));
        BOOST_TEST(rig_.platform().counts().at("attempts") == 1U);
        check_no_dead_letter();
    }

    /// Once it is mended, in the database alone.
    void check_goes_on() {
        check_posted(2);
        worker_->wait_ready(90s);
        eventually("the offsets have followed", [&] { return rig_.committed() == rig_.ends(); });
        BOOST_TEST((stored() == rig_.ends()));
        BOOST_TEST(rig_.platform().counts().at("attempts") == 2U);
        check_no_dead_letter();
    }

  private:
    PartitionOffsets stored() const {
        const auto rows = server_.query("SELECT next_offset FROM partition_progress", rig_.name());
        return {{0, std::stoll(rows.at(0).at(0).value())}};
    }
    void check_no_dead_letter() const {
        const auto rows = server_.query("SELECT COUNT(*) FROM dead_letters", rig_.name());
        BOOST_TEST(rows.at(0).at(0).value() == "0");
    }
    void check_posted(std::size_t posts) const {
        eventually("so many posts are visible: " + std::to_string(posts), 120s,
                   [&] { return rig_.platform().counts().at("visible") == posts; });
    }

    const Database& server_;
    const Rig rig_;
    std::optional<WorkerProcess> worker_;
    PartitionOffsets before_;
};

/// Inserts into a table of its own until there is little room left: too little for the batch to come, enough
/// for the table to be dropped again.
void fill(const Database& server, const std::string& database) {
    constexpr std::int64_t enough_to_drop = 4'000'000;
    server.query("CREATE TABLE filler (body LONGBLOB) ENGINE=InnoDB", database);
    server.query("INSERT INTO filler VALUES (REPEAT('x', 8000000))", database);  // the file grows to its end
    const std::string room =
        "SELECT DATA_FREE FROM information_schema.TABLES WHERE TABLE_NAME='filler' AND TABLE_SCHEMA='" +
        database + "'";
    while (std::stoll(server.query(room).at(0).at(0).value()) > enough_to_drop)
        server.query("INSERT INTO filler VALUES (REPEAT('x', 500000))", database);
}

/// Makes room. That needs a little room itself, which the worker's next try may just have taken.
void empty(const Database& server, const std::string& database) {
    std::string why;
    try {
        eventually("there is room again", [&] {
            try {
                server.query("DROP TABLE IF EXISTS filler", database);
                return true;
            } catch (const std::runtime_error& error) {
                why = error.what();
                return false;
            }
        });
    } catch (const GaveUp& late) {
        throw std::runtime_error(late.what() + (": " + why));
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_grant_that_is_taken_away_is_waited_for) {
    const Database& server = server_of_this_program();
    Outage outage(server, "granted");
    // A grant on a table is looked at for each statement, one on a database only when it is chosen.
    const std::string user = server.user() + "@'127.0.0.1'";
    for (const auto& row : server.query("SHOW TABLES", "granted"))
        server.query("GRANT ALL ON granted.`" + row.at(0).value() + "` TO " + user);
    server.query("REVOKE ALL ON granted.* FROM " + user);
    outage.start();
    server.query("REVOKE INSERT ON granted.deliveries FROM " + user);
    outage.check_lasts({told("during", "Done.")}, "denied");
    server.query("GRANT INSERT ON granted.deliveries TO " + user);
    outage.check_goes_on();
}

BOOST_AUTO_TEST_CASE(a_database_that_is_read_only_is_waited_for) {
    const Database& server = server_of_this_program();
    Outage outage(server, "readable");
    outage.start();
    server.query("SET GLOBAL read_only=1");
    outage.check_lasts({told("during", "Done.")}, "read-only");
    server.query("SET GLOBAL read_only=0");
    outage.check_goes_on();
}

BOOST_AUTO_TEST_CASE(a_database_without_room_is_waited_for) {
    const Database server(chosen_database(), {"--innodb-file-per-table=0",
                                              "--innodb-data-file-path=ibdata1:12M:autoextend:max:24M"});
    server.create_database("filled");
    Outage outage(server, "filled", settings_for(server, "filled"));
    outage.start();
    fill(server, "filled");
    // One batch that needs more than what fits between the filler's rows.
    constexpr int conversations = 400;
    constexpr std::size_t words = 16000;
    std::vector<V0Conversation> scripts{told("during", "Done.")};
    for (int i = 0; i < conversations; ++i)
        scripts.push_back(told("large-" + std::to_string(i), std::string(words, 'w')));
    outage.check_lasts(scripts, "is full");
    empty(server, "filled");
    outage.check_goes_on();
}
