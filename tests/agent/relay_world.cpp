#include "tests/agent/relay_world.h"

#include <algorithm>
#include <csignal>
#include <map>

#include <nlohmann/json.hpp>

#include "agent/calls.h"
#include "base/ids.h"
#include "base/process/ports.h"
#include "tests/support/eventually.h"
#include "tests/support/kafka_records.h"

namespace epilogue::testing {
namespace {

using Json = nlohmann::json;

const std::string relays_key = "a-key-of-the-relay";

}  // namespace

RelayWorld::RelayWorld(const std::string& name, const std::string& version, RelayDoors doors)
    : doors_(doors),
      relay_port_(doors.relay_port != 0 ? doors.relay_port : process::free_port()),
      server_(version, "UTC", doors.webhook ? webhooks() : ""),
      rig_(name, 3),
      servers_(servers()),
      relays_(relay_settings()),
      worker_(rig_.epilogue().worker()) {
    start_relay();
}

void RelayWorld::start_relay() {
    relay_.emplace(relays_.start({"relay"}, {{"EPILOGUE_RELAY_SERVERS", servers_}}), relay_port_);
    relay_->wait_ready(patience);
}

void RelayWorld::kill_relay() {
    relay_->process().signal(SIGKILL);
    if (!relay_->process().wait(patience)) throw std::runtime_error("the relay does not end");
}

void RelayWorld::watch(const ScriptedConversation& conversation, std::int64_t number) {
    rig_.add_github(conversation->id(), "octo/relay", number, "every_turn");
    watched_.push_back(conversation->id());
}

std::string RelayWorld::missing(bool in_order) const {
    std::map<std::string, std::vector<std::string>> told;
    for (const Record& record : read_topic(broker_of_this_program().bootstrap(), rig_.name())) {
        auto& ids = told[*record.key];
        const auto id = Json::parse(*record.value).at("id").get<std::string>();
        if (!record.headers.contains("run_over") && std::find(ids.begin(), ids.end(), id) == ids.end())
            ids.push_back(id);
    }
    for (const std::string& each : watched_) {
        std::vector<std::string> log;
        for (const auto& event : expect(agent::ConversationCalls(server_.client(), each).events()))
            log.push_back(event->id);
        auto& ids = told[normalise_conversation_id(each).text()];
        if (!in_order) {
            std::sort(log.begin(), log.end());
            std::sort(ids.begin(), ids.end());
        }
        if (log != ids)
            return each + ": the log has " + std::to_string(log.size()) + " events, the topic " +
                   std::to_string(ids.size()) + " or others";
    }
    return "";
}

std::string RelayWorld::open_turns() const {
    std::string text;
    for (const Row& row :
         rig_.query("SELECT conversation_id, fold FROM conversations WHERE turn_open=1 OR due_at IS "
                    "NOT NULL")) {
        text += "\nopen: " + row.at(0).value_or("") + " " + row.at(1).value_or("");
        for (const Record& record : read_topic(broker_of_this_program().bootstrap(), rig_.name())) {
            if (record.key != row.at(0)) continue;
            const Json event = Json::parse(*record.value);
            text += "\n  " + event.value("timestamp", "") + " " + event.value("id", "").substr(0, 8) + " " +
                    event.value("kind", "") + " " + event.value("key", "");
            if (event.contains("value") && event["value"].is_string())
                text += "=" + event["value"].get<std::string>();
            for (const auto& [name, value] : record.headers) text += " " + name + ":" + value;
        }
    }
    return text;
}

std::string RelayWorld::report() {
    return "topic: " + missing(true) + open_turns() +
           "\nstatus: " + relays_.run({"relay", "status", "--json"}).out +
           "\nrelay: " + relay_->process().err() + "\nworker: " + worker_.process().err();
}

std::string RelayWorld::webhooks() const {
    const auto receiver = doors_.receiver != 0 ? doors_.receiver : relay_port_;
    Json spec{{"base_url", "http://127.0.0.1:" + std::to_string(receiver)}, {"flush_delay", 1}};
    // The server's own key says whose log it is.
    if (!doors_.is_compared) spec["headers"] = {{"Authorization", "Bearer " + relays_key}};
    if (doors_.receiver != 0) spec.update({{"num_retries", 2}, {"retry_delay", 1}});
    return Json::array({spec}).dump();
}

std::string RelayWorld::servers() const {
    if (doors_.followed != Followed::whole_server && !doors_.is_compared) return "";
    const std::string all = doors_.followed == Followed::whole_server ? ", all = true" : "";
    return "[{url = \"" + server_url() + "\", key = \"lab-key\"" + all + "}]";
}

double RelayWorld::relay_metric(const std::string& series) const {
    const auto metrics = relay_->metrics();
    const auto found = metrics.find(series);
    return found == metrics.end() ? 0 : found->second;
}

std::string RelayWorld::server_url() const {
    return "http://127.0.0.1:" + std::to_string(server_.port());
}

std::vector<int> RelayWorld::times_told() const {
    std::map<std::string, int> told;
    for (const Record& record : read_topic(broker_of_this_program().bootstrap(), rig_.name()))
        ++told[Json::parse(*record.value).at("id").get<std::string>()];
    std::vector<int> times;
    for (const std::string& each : watched_)
        for (const auto& event : expect(agent::ConversationCalls(server_.client(), each).events()))
            times.push_back(told[event->id]);
    return times;
}

std::string RelayWorld::bring_once() const {
    auto once = relays_.start({"relay", "--once", server_url(), "--key", "env:SERVER_KEY"},
                              {{"SERVER_KEY", "lab-key"}});
    if (!once.wait(patience)) throw std::runtime_error("relay --once does not end: " + once.err());
    return once.out() + once.err();
}

Settings RelayWorld::relay_settings() const {
    Settings settings = rig_.settings();
    settings["relay.http_listen"] = "127.0.0.1:" + std::to_string(relay_port_);
    settings["relay.keys"] = std::vector<std::string>{doors_.is_compared ? "lab-key" : relays_key};
    if (doors_.followed == Followed::waited_for) {
        settings["agent_server.url"] = server_url();
        settings["agent_server.session_api_key"] = "lab-key";
    }
    return settings;
}

}  // namespace epilogue::testing
