// `epilogue relay` and its webhook door, with a real broker, a real database and real HTTP.
#define BOOST_TEST_MODULE relay_webhook
#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <set>
#include <thread>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "base/ids.h"
#include "base/io/http.h"
#include "tests/support/eventually.h"
#include "tests/support/ports.h"
#include "tests/support/rig.h"
#include "tests/support/text.h"
#include "tests/support/unready.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using nlohmann::json;

const std::string key = "a-servers-key";
const std::string other_key = "another-servers-key";

Settings relay_settings(const Settings& more = {}) {
    return merged({Settings{{"relay.keys", std::vector<std::string>{key, other_key}}}, more});
}

/// A relay on a port of its own, which a successor can have.
WorkerProcess start_relay(const Epilogue& epilogue, unsigned short port) {
    return {epilogue.start({"relay"}, {{"EPILOGUE_RELAY_HTTP_LISTEN", "127.0.0.1:" + std::to_string(port)}}),
            port};
}
WorkerProcess ready_relay(const Epilogue& epilogue, unsigned short port = free_port()) {
    auto relay = start_relay(epilogue, port);
    relay.wait_ready(patience);
    return relay;
}

HttpAnswer post(const WorkerProcess& relay, const std::string& path, const std::string& body,
                const std::string& with_key = key) {
    HttpRequest request;
    request.method = "POST";
    request.url = relay.url(path);
    request.headers = {"Content-Type: application/json", "X-Session-API-Key: " + with_key};
    request.body = body;
    request.timeout = std::chrono::seconds(30);
    return HttpClient().send(request);
}

std::string event(const std::string& id, const std::string& text = "") {
    return json{{"id", id}, {"kind", "PauseEvent"}, {"source", "user"}, {"text", text}}.dump();
}

/// The topic's events of each conversation, in its order, each once; ends of runs apart.
struct Told {
    std::vector<std::string> ids;
    std::map<std::string, json> events;
    std::vector<json> runs_over;
    std::size_t records = 0;
};
std::map<std::string, Told> told(const KafkaBroker& broker, const std::string& topic) {
    std::map<std::string, Told> conversations;
    for (const Record& record : read_topic(broker.bootstrap(), topic)) {
        Told& told = conversations[*record.key];
        const json value = json::parse(*record.value);
        const auto& id = value.at("id");
        const std::string name = id.is_string() ? id.get<std::string>() : id.dump();
        ++told.records;
        if (!told.events.emplace(name, value).second) continue;
        if (record.headers.contains("run_over"))
            told.runs_over.push_back(value);
        else
            told.ids.push_back(name);
    }
    return conversations;
}

/// 1.58 writes members that are null into webhooks, and leaves them out of its log.
json without_nulls(const json& value) {
    if (!value.is_structured()) return value;
    json result = value.is_array() ? json::array() : json::object();
    for (const auto& [name, member] : value.items()) {
        if (value.is_array())
            result.push_back(without_nulls(member));
        else if (!member.is_null())
            result[name] = without_nulls(member);
    }
    return result;
}

std::vector<json> lines_of(const std::string& file) {
    std::ifstream opened(std::string(EPILOGUE_SOURCE_DIR) + "/tests/data/recordings/" + file);
    BOOST_REQUIRE_MESSAGE(opened, file);
    std::vector<json> lines;
    for (std::string line; std::getline(opened, line);) lines.push_back(json::parse(line));
    return lines;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_acknowledged_is_in_the_topic_under_its_conversation) {
    const Rig rig("acknowledged", 3, relay_settings());
    auto relay = ready_relay(rig.epilogue());
    BOOST_TEST(post(relay, "/hook/events/0B9C7C1E-1111-4222-8333-444455556666",
                    "[" + event("a") + "," + event("b") + "]")
                   .status == 200);
    BOOST_TEST(post(relay, "/event-webhook/batch",
                    R"([{"method":"POST","path":"sessions/v0/events/1.json",)"
                    R"("content":"{\"id\":1,\"action\":\"run\"}"}])")
                   .status == 200);
    BOOST_TEST(
        post(relay, "/event-webhook/sessions/v0/events/2.json", R"({"id":2,"action":"finish"})").status ==
        200);
    BOOST_TEST(post(relay, "/events/refused", "[" + event("c") + "]", "no-key").status == 401);
    auto conversations = told(broker_of_this_program(), rig.name());
    BOOST_TEST(conversations.size() == 2U);
    BOOST_TEST((conversations["0b9c7c1e111142228333444455556666"].ids == std::vector<std::string>{"a", "b"}));
    BOOST_TEST((conversations["v0"].ids == std::vector<std::string>{"1", "2"}));
    const auto metrics = relay.metrics();
    BOOST_TEST(total(metrics, "epilogue_relay_events_total",
                     {R"(door="webhook")", R"(outcome="acknowledged")"}) == 4);
    BOOST_TEST(total(metrics, "epilogue_relay_requests_total", {R"(status="401")"}) == 1);
    BOOST_TEST(total(metrics, "epilogue_relay_bytes_under_way") == 0);
}

BOOST_AUTO_TEST_CASE(whose_a_conversation_is_outlives_the_relay_and_no_key_is_kept) {
    const Rig rig("owned", 1, relay_settings());
    {
        auto first = ready_relay(rig.epilogue());
        BOOST_TEST(post(first, "/events/mine", "[" + event("a") + "]").status == 200);
        BOOST_TEST(first.process().stop(patience) == 0);
    }
    auto second = ready_relay(rig.epilogue());
    BOOST_TEST(post(second, "/events/mine", "[" + event("b") + "]", other_key).status == 403);
    BOOST_TEST(post(second, "/events/mine", "[" + event("c") + "]").status == 200);
    BOOST_TEST(
        (told(broker_of_this_program(), rig.name())["mine"].ids == std::vector<std::string>{"a", "c"}));
    const auto rows = rig.query("SELECT owner FROM relay_owners");
    BOOST_REQUIRE(rows.size() == 1U);
    BOOST_TEST(!contains(*rows[0][0], key));
    BOOST_TEST(!contains(second.process().err(), key));
}

BOOST_AUTO_TEST_CASE(recorded_webhooks_give_each_conversations_persisted_events_and_the_ends_of_its_runs) {
    for (const std::string& version : {std::string("v1.7.3"), std::string("v1.58.0")}) {
        const Rig rig("recorded-" + version.substr(1), 3, relay_settings());
        auto relay = ready_relay(rig.epilogue());
        // As they came: batches that were refused then and sent again are here twice.
        for (const json& hook : lines_of(version + "/with_webhook/hooks.jsonl"))
            BOOST_TEST(post(relay, hook.at("path"), hook.at("body")).status == 200);
        const auto conversations = told(broker_of_this_program(), rig.name());
        for (const std::string& name :
             {std::string("w1_ok"), std::string("w2_500_then_ok"), std::string("w3_always_500_then_followup"),
              std::string("w4_slow_receiver")}) {
            const auto log = lines_of(version + "/with_webhook/" + name + ".rest.jsonl");
            const auto is_its = [&](const auto& conversation) {
                return conversation.second.events.contains(log.at(0).at("id"));
            };
            const auto found = std::ranges::find_if(conversations, is_its);
            BOOST_REQUIRE_MESSAGE(found != conversations.end(), version << " " << name);
            const Told& told = found->second;
            std::vector<std::string> ids;
            for (const json& logged : log) {
                ids.push_back(logged.at("id"));
                BOOST_TEST((without_nulls(told.events.at(ids.back())) == without_nulls(logged)),
                           version << " " << name << " " << ids.back());
            }
            // 1.7 lets later batches overtake.
            auto in_topic = told.ids;
            if (version == "v1.7.3") {
                std::ranges::sort(in_topic);
                std::ranges::sort(ids);
            }
            BOOST_TEST(in_topic == ids, boost::test_tools::per_element());
            const std::size_t runs = name == "w3_always_500_then_followup" ? 2 : 1;
            BOOST_TEST(told.runs_over.size() == runs, version << " " << name);
            for (const json& over : told.runs_over) {
                BOOST_TEST(over.at("value").at("execution_status") == "finished");
                BOOST_TEST(over.dump().size() < 400U);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(while_kafka_is_away_it_is_503_with_flat_memory_and_goes_on_when_it_is_back) {
    KafkaBroker broker;
    const Rig rig(
        broker, server_of_this_program(),
        {.name = "away",
         .more = relay_settings({{"relay.buffer_bytes", 1048576}, {"relay.max_event_bytes", 262144}})});
    auto relay = ready_relay(rig.epilogue());
    const std::string large = "[" + event("large", std::string(200'000, 'x')) + "]";
    BOOST_TEST(post(relay, "/events/c", large).status == 200);
    broker.stop();
    std::vector<std::jthread> senders;
    std::atomic<bool> over = false;
    std::atomic<int> refused = 0;
    std::atomic<int> wrong = 0;
    for (int i = 0; i < 8; ++i)
        senders.emplace_back([&] {
            while (!over) ++(post(relay, "/events/c", large).status == 503 ? refused : wrong);
        });
    eventually("so many were refused that they would fill the memory", [&] { return refused > 2000; });
    wait_unready(relay, "kafka: ");
    // What came is more than twice that.
    BOOST_TEST(total(relay.metrics(), "process_resident_memory_bytes") < 200e6);
    BOOST_TEST(wrong == 0);
    over = true;
    senders.clear();
    broker.start_again();
    eventually("it is taken again",
               [&] { return post(relay, "/events/c", "[" + event("after") + "]").status == 200; });
    relay.wait_ready(patience);
    BOOST_TEST(told(broker, rig.name())["c"].events.contains("after"));
}

BOOST_AUTO_TEST_CASE(a_relay_that_is_killed_loses_nothing_of_senders_that_send_again) {
    const Rig rig("killed", 3, relay_settings());
    const auto port = free_port();
    std::optional<WorkerProcess> relay(ready_relay(rig.epilogue(), port));
    constexpr int conversations = 6;
    constexpr int batches = 60;
    std::atomic<int> sent = 0;
    std::vector<std::jthread> senders;
    for (int c = 0; c < conversations; ++c)
        senders.emplace_back([&, c] {
            const std::string url =
                "http://127.0.0.1:" + std::to_string(port) + "/events/c" + std::to_string(c);
            for (int b = 0; b < batches; ++b) {
                HttpRequest request;
                request.method = "POST";
                request.url = url;
                request.headers = {"X-Session-API-Key: " + key};
                request.body =
                    "[" + event(std::to_string(2 * b)) + "," + event(std::to_string(2 * b + 1)) + "]";
                eventually("a batch is taken", [&] { return HttpClient().send(request).status == 200; });
                ++sent;
            }
        });
    for (int kill = 1; kill <= 5; ++kill) {
        eventually("the senders are under way", [&] { return sent > kill * conversations * batches / 7; });
        relay->process().kill9();
        relay.emplace(start_relay(rig.epilogue(), port));
    }
    senders.clear();
    std::vector<std::string> all;
    for (int i = 0; i < 2 * batches; ++i) all.push_back(std::to_string(i));
    const auto in_topic = told(broker_of_this_program(), rig.name());
    BOOST_TEST(in_topic.size() == std::size_t{conversations});
    for (const auto& [id, told] : in_topic) BOOST_TEST(told.ids == all, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(it_starts_without_its_dependencies_and_says_what_is_missing) {
    KafkaBroker broker;
    const Rig rig(broker, server_of_this_program(), {.name = "without", .more = relay_settings()});
    broker.stop();
    auto relay = start_relay(rig.epilogue(), free_port());
    wait_unready(relay, "topic: ");
    BOOST_TEST(post(relay, "/events/c", "[" + event("a") + "]").status == 503);
    broker.start_again();
    relay.wait_ready(patience);
    BOOST_TEST(post(relay, "/events/c", "[" + event("a") + "]").status == 200);
    BOOST_TEST(relay.process().stop(patience) == 0);
}

BOOST_AUTO_TEST_CASE(an_event_above_the_topics_limit_is_trimmed_and_taken) {
    const auto& broker = broker_of_this_program();
    broker.create_topic("narrow", 1, {{"max.message.bytes", "300000"}});
    const Rig rig(broker, server_of_this_program(),
                  {.name = "trimmed", .partitions = 0, .topic = "narrow", .more = relay_settings()});
    auto relay = ready_relay(rig.epilogue());
    BOOST_TEST(post(relay, "/events/c", "[" + event("large", std::string(2'000'000, 'x')) + "]").status ==
               200);
    const json value = told(broker, "narrow")["c"].events.at("large");
    BOOST_TEST(value.at("text").get<std::string>().ends_with("[trimmed: was 2000000 bytes]"));
    BOOST_TEST(total(relay.metrics(), "epilogue_relay_trimmed_total") == 1);
}

BOOST_AUTO_TEST_CASE(an_end_that_came_by_a_webhook_is_posted_once) {
    const Rig rig("posted", 1, relay_settings({{"worker.settle_ms", 100}}));
    auto relay = ready_relay(rig.epilogue());
    auto worker = rig.epilogue().worker();
    const auto hooks = lines_of("v1.58.0/with_webhook/hooks.jsonl");
    const std::string conversation = "1e7471745d5149d9b371656e5656cbe9";  // w2_500_then_ok
    (void)rig.add_github(conversation, "octo-org/octo-repo", 7, "every_turn");
    for (int round = 0; round < 2; ++round)
        for (const json& hook : hooks)
            if (contains(hook.at("path").get<std::string>(), conversation))
                BOOST_TEST(post(relay, hook.at("path"), hook.at("body")).status == 200);
    rig.platform().wait_for("visible", 1, patience);
    eventually("all records are applied", [&] { return rig.stored() == rig.ends(); });
    BOOST_TEST(rig.platform().visible().size() == 1U);
}
