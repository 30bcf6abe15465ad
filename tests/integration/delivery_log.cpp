// What a worker's log says of its posts.
#define BOOST_TEST_MODULE delivery_log
#include <sstream>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/eventually.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"

namespace {

using namespace epilogue::testing;
using Json = nlohmann::json;

/// The lines about deliveries, oldest first; each line of the log is an object.
std::vector<Json> delivery_lines(WorkerProcess& worker) {
    std::vector<Json> found;
    std::istringstream lines(worker.process().err());
    for (std::string line; std::getline(lines, line);) {
        Json told = Json::parse(line, nullptr, false);
        if (told.is_object() && told.value("message", "") == "delivery") found.push_back(std::move(told));
    }
    return found;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_post_can_be_followed_from_owed_to_visible_by_its_trace_id) {
    const Rig rig("followed", 1, {{"log.format", "json"}});
    rig.platform().rules(
        {{{"do", "status"}, {"status", 429}, {"headers", {{"retry-after", "1"}}}, {"method", "POST"}}});
    auto worker = rig.epilogue().worker();
    const std::int64_t callback = rig.add_github("followed", "o/followed", 7, "once");
    rig.publish(V0Conversation("followed").user("Go.").agent_finishes("Secret plans.").records());
    eventually("it is sent",
               [&] { return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT'") == 1; });

    std::vector<Json> lines;
    eventually("its line is written", [&] {
        lines = delivery_lines(worker);
        return !lines.empty() && lines.back()["state"] == "SENT";
    });
    std::vector<std::string> states;
    for (const Json& line : lines) {
        states.push_back(line["state"]);
        BOOST_TEST(line["conversation"] == "followed");
        BOOST_TEST(line["callback"] == callback);
        BOOST_TEST(line["sink"] == "github");
        BOOST_TEST(line["target"] == lines[0]["target"]);
        BOOST_TEST(line["trace_id"] == lines[0]["trace_id"]);
        BOOST_TEST(line["trace_id"].get<std::string>().size() == 32U);
    }
    const std::vector<std::string> wanted{"PLANNED", "SENDING", "RETRY", "SENDING", "SENT"};
    BOOST_TEST(states == wanted, boost::test_tools::per_element());
    BOOST_TEST(lines.at(2)["attempt"] == 1);
    BOOST_TEST(contains(lines.at(2)["why"].get<std::string>(), "429"));
    BOOST_TEST(!contains(worker.process().err(), "Secret plans"));
}
