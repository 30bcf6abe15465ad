#include "tests/chaos/nemesis.h"

#include <algorithm>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/io/mysql.h"
#include "tests/chaos/platform_log.h"
#include "tests/support/eventually.h"

namespace epilogue::testing {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

const Json slow_post{{"do", "delay"}, {"ms", 150}, {"method", "POST"}, {"times", -1}};

/// A transaction of the test's own that holds the row of a delivery.
class RowLock {
  public:
    RowLock(const Database& server, const std::string& database, const std::string& delivery_id)
        : session_(std::move(MysqlSession::open(server.settings(database)).value())) {
        if (!session_->run("BEGIN")) throw std::runtime_error("the test cannot lock a row");
        session_->query("SELECT state FROM deliveries WHERE delivery_id=? FOR UPDATE", {delivery_id}).value();
    }

  private:
    std::unique_ptr<MysqlSession> session_;  // its end is a rollback
};

/// Those that lock a delivery's row just now. One that does it twice in a row waits for it.
std::set<std::string> sessions_that_lock(const Rig& rig) {
    std::set<std::string> sessions;
    for (const Row& row : rig.query("SELECT id FROM information_schema.processlist WHERE command='Execute' "
                                    "AND info LIKE 'SELECT delivery_id%FOR UPDATE'"))
        sessions.insert(row.at(0).value());
    return sessions;
}

}  // namespace

void slow_posts(const FakePlatformProcess& platform) {
    platform.rules(Json::array({slow_post}));
}

std::string_view name_of(ChaosFault fault) {
    switch (fault) {
        case ChaosFault::kill_with_request_open:
            return "kill with a request open";
        case ChaosFault::kill_before_record:
            return "kill between answer and record";
        case ChaosFault::pause:
            return "pause";
        case ChaosFault::terminate:
            return "terminate";
        case ChaosFault::restart_broker:
            return "restart the broker";
        case ChaosFault::restart_database:
            return "restart the database";
        case ChaosFault::kill_sessions:
            return "kill database sessions";
        case ChaosFault::break_network:
            return "break the network";
    }
    return "";
}

Nemesis::Nemesis(const Rig& rig, WorkerProcesses& pool, FaultProxy& to_database, FaultProxy& to_platform,
                 Timing timing, Random random, Say say, Say complain)
    : rig_(rig),
      pool_(pool),
      to_database_(to_database),
      to_platform_(to_platform),
      timing_(timing),
      random_(random),
      say_(std::move(say)),
      complain_(std::move(complain)),
      first_network_(random_.between(0, 5)) {}

void Nemesis::inject(ChaosFault fault) {
    let_go_on();
    switch (fault) {
        case ChaosFault::kill_with_request_open:
            return kill_with_request_open();
        case ChaosFault::kill_before_record:
            return kill_before_record();
        case ChaosFault::pause:
            return pause();
        case ChaosFault::terminate:
            return terminate();
        case ChaosFault::restart_broker:
            return restart_broker();
        case ChaosFault::restart_database:
            return restart_database();
        case ChaosFault::kill_sessions:
            return kill_sessions();
        case ChaosFault::break_network:
            return break_network();
    }
}

std::string Nemesis::any_hold() {
    return may_lose_requests_ && random_.chance(0.5) ? "hang" : "apply_then_hang";
}

std::size_t Nemesis::any_running() {
    return random_.one_of(pool_.running());
}

/// Lets the platform hold the next posts, and says whose they are: `count` of them when they come soon, at
/// least one when any come at all.
std::vector<Nemesis::Held> Nemesis::hold(const std::string& deed, std::size_t count) {
    const FakePlatformProcess& platform = rig_.platform();
    for (const auto& request : requests_of(platform.log(requests_read_)))
        requests_read_ = std::max(requests_read_, request.n);
    const auto held_before = platform.counts().at("held_total");
    platform.rules(Json::array({{{"do", deed}, {"method", "POST"}, {"times", count}}, slow_post}));
    try {
        platform.wait_for("held_total", held_before + 1, 30s);
        platform.wait_for("held_total", held_before + count, 1s);
    } catch (const GaveUp&) {
        // Fewer do as well.
    }
    slow_posts(platform);
    std::vector<Held> all;
    for (const auto& request : requests_of(platform.log(requests_read_))) {
        if (!request.held || request.delivery_id.empty()) continue;
        const auto rows = rig_.query("SELECT owner FROM deliveries WHERE state='SENDING' AND delivery_id='" +
                                     request.delivery_id + "'");
        for (const std::size_t place : pool_.running())
            if (!rows.empty() && pool_.owns(place, rows[0].at(0).value_or("")))
                all.push_back({request.n, request.delivery_id, rows[0].at(0).value(), place});
    }
    return all;
}

bool Nemesis::is_unrecorded(const Held& held) const {
    return rig_.number("SELECT COUNT(*) FROM deliveries WHERE state='SENDING' AND delivery_id='" +
                       held.delivery_id + "' AND owner='" + held.owner + "'") == 1;
}

void Nemesis::kill_with_request_open() {
    constexpr std::size_t requests = 5;
    const auto held = hold(any_hold(), requests);
    std::set<std::size_t> places;
    for (const Held& request : held) places.insert(request.place);
    pool_.kill9({places.begin(), places.end()});
    std::set<std::size_t> hit;
    for (const Held& request : held)
        if (is_unrecorded(request)) hit.insert(request.place);
    hits_.kills += static_cast<int>(places.size());
    hits_.kills_with_request_open += static_cast<int>(hit.size());
    rig_.platform().release();
    say_(fmt::format("{} killed, {} with a request open", places.size(), hit.size()));
}

void Nemesis::kill_before_record() {
    const auto held = hold("apply_then_hang", 1);
    if (held.empty()) return say_("nobody posts");
    const Held& request = held.front();
    const RowLock lock(server_of_this_program(), rig_.name(), request.delivery_id);
    rig_.platform().release();
    // It has read the answer, and cannot write it down.
    bool waits = false;
    try {
        std::set<std::string> locking;
        waits = eventually("the worker waits for the row", 4s, [&] {
            const auto before = std::exchange(locking, sessions_that_lock(rig_));
            return std::any_of(before.begin(), before.end(),
                               [&](const std::string& session) { return locking.contains(session); });
        });
    } catch (const GaveUp&) {
        // It was faster, or its session is gone; the kill counts for no more than a kill.
    }
    pool_.kill9({request.place});
    ++hits_.kills;
    const auto answered = requests_of(rig_.platform().log(request.request - 1)).front().status == 201;
    const bool unrecorded = is_unrecorded(request);
    hits_.kills_before_record += waits && answered && unrecorded ? 1 : 0;
    say_(fmt::format("killed, {} and {}, {}", answered ? "answered" : "not answered",
                     unrecorded ? "not recorded" : "recorded",
                     waits ? "on its way to the record" : "not seen on its way to the record"));
}

void Nemesis::pause() {
    if (pool_.running().size() < 2) return say_("too few are left to pause one");
    const auto held = hold(any_hold(), 2);
    const std::size_t place = held.empty() ? any_running() : held.front().place;
    pool_.stop(place);
    say_(fmt::format("{} is paused, {} of its requests open", pool_.name(place),
                     std::count_if(held.begin(), held.end(),
                                   [&](const Held& request) { return request.place == place; })));
}

void Nemesis::let_go_on() {
    for (std::size_t place = 0; place < pool_.places(); ++place) {
        if (!pool_.is_stopped(place) || pool_.stopped_for(place) < timing_.lease + 1s) continue;
        if (broker_of_this_program().group(rig_.name()).client_ids.contains(pool_.name(place))) continue;
        ++hits_.pauses;
        say_(fmt::format(
            "{} goes on after {} ms", pool_.name(place),
            std::chrono::duration_cast<std::chrono::milliseconds>(pool_.stopped_for(place)).count()));
        pool_.go_on(place);
    }
}

void Nemesis::terminate() {
    const std::size_t place = any_running();
    const std::string name = pool_.name(place);
    const auto status = pool_.terminate(place, timing_.drain + 2s);
    ++hits_.terminations;
    if (status != 0)
        complain_(fmt::format("{} did not end well after SIGTERM: {}", name,
                              status ? std::to_string(*status) : "it did not end"));
    say_(name + " was told to end");
}

void Nemesis::restart_broker() {
    KafkaBroker& broker = broker_of_this_program();
    const bool hard = random_.chance(0.5);
    hard ? broker.kill9() : broker.stop();
    broker.start_again();
    ++hits_.broker_restarts;
    say_(hard ? "broker killed and started again" : "broker stopped and started again");
}

void Nemesis::restart_database() {
    Database& server = server_of_this_program();
    const bool hard = random_.chance(0.5);
    hard ? server.kill9() : server.stop();
    server.start_again();
    ++hits_.database_restarts;
    say_(hard ? "database killed and started again" : "database stopped and started again");
}

void Nemesis::kill_sessions() {
    const Database& server = server_of_this_program();
    int killed = 0;
    for (const Row& row :
         server.query("SELECT id FROM information_schema.processlist WHERE user='" + server.user() + "'")) {
        if (random_.chance(0.5)) continue;
        try {
            server.query("KILL " + row.at(0).value());
            ++killed;
        } catch (const std::exception&) {
            // It has gone by itself.
        }
    }
    hits_.killed_sessions += killed;
    say_(fmt::format("{} database sessions killed", killed));
}

void Nemesis::break_network() {
    mend_network();
    constexpr int kinds = 6;
    std::string what;
    switch ((first_network_ + hits_.broken_networks) % kinds) {
        case 0:
            what = "answers of COMMIT are lost";
            to_database_.plan({.action = ProxyAction::lose_answer, .at = Request::commit, .times = 3});
            to_database_.plan(
                {.action = ProxyAction::cut_behind, .at = Request::commit, .times = 3, .reset = true});
            break;
        case 1:
            what = "COMMITs and statements are lost";
            to_database_.plan({.action = ProxyAction::lose_request, .at = Request::commit, .times = 3});
            to_database_.plan(
                {.action = ProxyAction::lose_answer, .at = Request::statement, .after = 20, .times = 3});
            break;
        case 2:
            what = fmt::format("{} connections to the database are cut", to_database_.cut_all(true));
            break;
        case 3:
            what = "the way to the database is slow";
            to_database_.set({.delay = 20ms});
            break;
        case 4:
            what = "the platform's answers are lost";
            to_platform_.plan({.action = ProxyAction::lose_answer, .times = 4});
            to_platform_.plan({.action = ProxyAction::cut_behind, .times = 2, .reset = true});
            break;
        default:
            what = "requests to the platform come late, or never";
            to_platform_.plan({.action = ProxyAction::deliver_late, .times = 3});
            if (may_lose_requests_) to_platform_.plan({.action = ProxyAction::lose_request, .times = 2});
            break;
    }
    ++hits_.broken_networks;
    say_(what);
}

void Nemesis::mend_network() {
    for (FaultProxy* proxy : {&to_database_, &to_platform_}) {
        proxy->forget_plans();
        proxy->release();
        proxy->set({});
    }
}

void Nemesis::heal() {
    mend_network();
    slow_posts(rig_.platform());
    eventually("every paused worker goes on", [&] {
        let_go_on();
        return pool_.running().size() == pool_.places();
    });
    rig_.platform().release();
}

}  // namespace epilogue::testing
