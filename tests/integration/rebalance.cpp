// Workers join and leave: what the others have to give up for it.
#define BOOST_TEST_MODULE rebalance
#include <map>
#include <set>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "tests/support/eventually.h"
#include "tests/support/rig.h"

namespace {

using namespace epilogue::testing;
using namespace std::chrono_literals;

constexpr int partitions = 6;

/// The partitions that the worker's log names in its lines of that message, one after the other.
std::vector<int> partitions_in_log(WorkerProcess& worker, const std::string& message) {
    std::vector<int> named;
    for (const std::string& line : epilogue::split(worker.process().err(), '\n')) {
        const auto json = nlohmann::json::parse(line, nullptr, false);
        if (!json.is_object() || json.value("message", "") != message) continue;
        for (const std::string& one : epilogue::split(json.at("partitions").get<std::string>(), ','))
            if (!one.empty()) named.push_back(std::stoi(one));
    }
    return named;
}

/// Those that it has now.
std::set<int> partitions_of(WorkerProcess& worker) {
    const auto assigned = partitions_in_log(worker, "partitions assigned");
    std::multiset<int> held(assigned.begin(), assigned.end());
    for (const int gone : partitions_in_log(worker, "partitions revoked"))
        if (const auto one = held.find(gone); one != held.end()) held.erase(one);
    return {held.begin(), held.end()};
}

void all_is_applied(const Rig& rig) {
    eventually("everything is applied", [&] { return rig.stored() == rig.ends(); });
}

/// One worker works, a second one joins and leaves: the first gives up only what the second has meanwhile.
void only_what_moves_is_given_up(const std::string& name,
                                 const std::map<std::string, std::string>& properties) {
    const Rig rig(name, partitions, {{"log.format", "json"}, {"kafka.properties", properties}});
    std::vector<Record> records;
    for (int i = 0; i < 60; ++i) {
        V0Conversation conversation("c" + std::to_string(i));
        const auto& own = conversation.user("Go on.").agent_asks("And now?").records();
        records.insert(records.end(), own.begin(), own.end());
    }
    auto stays = rig.epilogue().worker();
    eventually("it has all partitions", [&] { return partitions_of(stays).size() == partitions; });
    rig.publish(records);
    all_is_applied(rig);

    auto joins = rig.epilogue().worker();
    eventually("the second has its half", [&] { return partitions_of(joins).size() == partitions / 2; });
    BOOST_TEST(partitions_of(stays).size() == partitions / 2U);
    BOOST_TEST(partitions_in_log(stays, "partitions revoked").size() == partitions / 2U);
    rig.publish(records);
    all_is_applied(rig);

    BOOST_TEST((joins.process().stop(60s) == 0));
    eventually("the first has all again", [&] { return partitions_of(stays).size() == partitions; });
    BOOST_TEST(partitions_in_log(stays, "partitions revoked").size() == partitions / 2U);
    rig.publish(records);
    all_is_applied(rig);
}

}  // namespace

BOOST_AUTO_TEST_CASE(with_cooperative_assignment_a_worker_gives_up_only_the_partitions_that_move) {
    only_what_moves_is_given_up("rebalance", {{"partition.assignment.strategy", "cooperative-sticky"}});
}

BOOST_AUTO_TEST_CASE(under_the_consumer_protocol_a_worker_gives_up_only_the_partitions_that_move) {
    only_what_moves_is_given_up("protocol", {{"group.protocol", "consumer"}});
}
