#include "tests/sim/world.h"

#include <algorithm>

#include "base/ids.h"
#include "base/io/log.h"
#include "tests/sim/client.h"
#include "tests/sim/host.h"
#include "tests/sim/reference.h"
#include "tests/sim/workload.h"
#include "worker/registration.h"

namespace epilogue::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr minutes longest_convergence{25};
constexpr int fewest_faults = 3;

/// One for the process: what they count is not judged here, and building them is slow.
Metrics& shared_metrics() {
    static Metrics metrics;
    return metrics;
}
Readiness& shared_readiness() {
    static Readiness readiness;
    return readiness;
}

std::string headline_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::finished:
            return "**Finished**";
        case Verdict::awaiting_user_input:
            return "**Waiting for you**";
        case Verdict::error:
            return "**Ended with an error**";
        case Verdict::stuck:
            return "**Got stuck**";
        case Verdict::rejected:
            return "**Rejected**";
        case Verdict::stopped:
            return "**Stopped**";
        case Verdict::timeout:
            return "**No sign of life**";
    }
    return "";
}

class World {
  public:
    World(std::uint64_t seed, Trace::Level trace)
        : schedule_(seed, trace),
          chaos_ends_(schedule_.random.between(Micros(seconds{50}), Micros(seconds{150}))),
          database_(schedule_, oracle_),
          broker_(schedule_, database_, oracle_, schedule_.random.between(1, 3)),
          platform_(schedule_, oracle_),
          planner_(installation_id, {}) {}

    Outcome run() {
        workload_ =
            draw_workload(schedule_.random.fork(), schedule_.faults, broker_.partitions(), chaos_ends_);
        schedule_.faults.heal();
        register_early();
        schedule_.faults.resume();
        for (const Produced& record : workload_.records)
            schedule_.at(schedule_.now() + record.at,
                         [this, &record] { broker_.append(record.partition, record.key, record.value); });
        register_late();
        const int workers = schedule_.random.between(1, 3);
        for (int i = 0; i < workers; ++i)
            hosts_.push_back(std::make_unique<Host>(
                Surroundings{schedule_, database_, broker_, platform_, shared_metrics(), shared_readiness()},
                i));
        for (const auto& host : hosts_)
            schedule_.after(schedule_.random.between(Micros{0}, Micros(seconds{5})),
                            [&host = *host] { host.start(); });
        chaos();
        while (schedule_.step(chaos_ends_) && oracle_.violations().empty()) {
        }
        heal();
        converge();
        judge();
        return outcome();
    }

  private:
    RegistrationRequest request_of(std::size_t index) const {
        const WantedCallback& wanted = workload_.callbacks[index];
        RegistrationRequest request;
        request.conversation_id = workload_.conversations[wanted.conversation].id;
        request.processor_type = "github";
        request.processor_json = fmt::format(R"({{"repo":"o/r","number":{}}})", wanted.number);
        request.options = wanted.options;
        request.from_last = wanted.from_last;
        request.idempotency_key = key_of(index);
        return request;
    }
    static std::string key_of(std::size_t index) { return "k" + std::to_string(index); }

    void register_early() {
        Client& client = *clients_.emplace_back(std::make_unique<Client>(schedule_, database_));
        client.begin([this](Store& store) {
            for (std::size_t i = 0; i < workload_.callbacks.size(); ++i)
                if (!workload_.callbacks[i].late && !register_callback(store, planner_, request_of(i)))
                    return false;
            return true;
        });
        while (!client.is_done()) schedule_.step(Micros::max());
    }

    void register_late() {
        for (std::size_t i = 0; i < workload_.callbacks.size(); ++i) {
            if (!workload_.callbacks[i].late) continue;
            if (workload_.callbacks[i].foreign) {
                schedule_.after(workload_.callbacks[i].at, [this, i] { write_foreign(i); });
                continue;
            }
            Client& client = *clients_.emplace_back(std::make_unique<Client>(schedule_, database_));
            schedule_.after(workload_.callbacks[i].at, [this, &client, i] {
                client.begin([this, i](Store& store) {
                    const auto registered = register_callback(store, planner_, request_of(i));
                    if (registered)
                        schedule_.say("callback {} registered{}", registered->callback_id,
                                      registered->planned_sink.empty() ? "" : ", its last end is owed");
                    return registered.has_value();
                });
            });
        }
    }

    /// A row that somebody else writes, by plain SQL.
    void write_foreign(std::size_t index) {
        const RegistrationRequest request = request_of(index);
        const std::int64_t id = database_.next_callback++;
        foreign_[index] = id;
        database_.foreign[id] = {id, request.conversation_id, request.processor_type, request.processor_json,
                                 database_.now()};
        schedule_.say("somebody writes callback {} of {}", id, request.conversation_id);
    }

    /// What hits the machines from outside, again and again.
    void chaos() {
        schedule_.after(schedule_.random.between(Micros(seconds{1}), Micros(seconds{8})), [this] {
            if (schedule_.faults.healed()) return;
            Faults& faults = schedule_.faults;
            Host& host = *schedule_.random.one_of(hosts_);
            if (faults.strikes(Fault::rebalance)) broker_.rebalance_soon(seconds{1});
            if (schedule_.random.chance(5 * faults.rate(Fault::crash))) host.kill();
            if (schedule_.random.chance(5 * faults.rate(Fault::pause)))
                host.stall(schedule_.random.between(Micros(seconds{2}), Micros(seconds{100})));
            if (schedule_.random.chance(faults.rate(Fault::cut_off_from_broker)))
                host.cut_off(schedule_.random.between(Micros(seconds{2}), Micros(seconds{60})));
            if (!database_.is_down() && faults.strikes(Fault::database_down)) {
                schedule_.say("the database goes down");
                database_.go_down();
                schedule_.after(schedule_.random.between(Micros(seconds{1}), Micros(seconds{30})), [this] {
                    schedule_.say("the database is back");
                    database_.come_back();
                });
            }
            chaos();
        });
    }

    void heal() {
        // A schedule without faults proves little.
        const auto is_calm = [this] { return schedule_.faults.counts().kinds() < fewest_faults; };
        if (is_calm()) {
            schedule_.faults.count(Fault::rebalance);
            broker_.rebalance_soon(seconds{1});
        }
        const auto running = [this] {
            return std::find_if(hosts_.begin(), hosts_.end(), [](const auto& host) { return host->runs(); });
        };
        while (running() == hosts_.end()) schedule_.step(Micros::max());
        Host& chosen = **running();
        if (is_calm()) chosen.cut_off(schedule_.random.between(Micros(seconds{2}), Micros(seconds{20})));
        if (is_calm()) chosen.stall(schedule_.random.between(Micros(seconds{2}), Micros(seconds{20})));
        if (is_calm()) chosen.kill();
        const Micros until = schedule_.now() + seconds{5};
        while (schedule_.step(until) && oracle_.violations().empty()) {
        }
        schedule_.say("everything heals");
        schedule_.faults.heal();
        database_.come_back();
        for (const auto& host : hosts_) host->heal();
    }

    void converge() {
        const Micros until = schedule_.now() + longest_convergence;
        bool over = false;
        while (!over && schedule_.now() < until && oracle_.violations().empty()) {
            const Micros look_again = schedule_.now() + seconds{5};
            while (schedule_.step(look_again)) {
            }
            retry_parked();
            over = unfinished().empty();
        }
        if (!over && oracle_.violations().empty()) oracle_.complain("does not converge: " + unfinished());
    }

    /// The operator retries what waits for one.
    void retry_parked() {
        for (const auto& [ordinal, row] : database_.deliveries) {
            if (row.progress.state != DeliveryState::parked) continue;
            Client& client = *clients_.emplace_back(std::make_unique<Client>(schedule_, database_));
            client.begin([id = row.id](Store& store) {
                return resolve_delivery(store, id, OperatorAction::retry, "").has_value();
            });
        }
    }

    /// What is still to be done; empty: nothing.
    std::string unfinished() const {
        for (int partition = 0; partition < broker_.partitions(); ++partition) {
            const auto end = static_cast<std::int64_t>(broker_.log(partition).size());
            const auto row = database_.partitions.find(partition);
            const std::int64_t stored = row == database_.partitions.end() ? 0 : row->second.next_offset.value;
            if (stored != end) return fmt::format("partition {} is at {} of {}", partition, stored, end);
            const auto committed = broker_.committed(partition).value_or(NextOffset{0}).value;
            if (committed != end)
                return fmt::format("partition {}: {} of {} committed", partition, committed, end);
        }
        for (const auto& [id, row] : database_.conversations)
            if (due_at(row.conversation) && !std::holds_alternative<Open>(row.conversation.standing))
                return fmt::format("a timer of {} is standing", id);
        if (!database_.foreign.empty()) return "a callback waits to be adopted";
        for (const auto& client : clients_)
            if (!client->is_done()) return "a client is not done";
        for (const auto& [ordinal, row] : database_.deliveries)
            if (!is_final(row.progress.state) || row.heal_due_at)
                return fmt::format("delivery {} is {}{}", row.id, name_of(row.progress.state),
                                   row.heal_due_at ? ", to be checked for twins" : "");
        return platform_.requests_on_their_way > 0 ? "a request is on its way" : "";
    }

    void judge() {
        if (!oracle_.violations().empty()) return;
        std::vector<OwedPost> owed;
        for (std::size_t i = 0; i < workload_.callbacks.size(); ++i) {
            const WantedCallback& wanted = workload_.callbacks[i];
            const ToldConversation& conversation = workload_.conversations[wanted.conversation];
            const std::int64_t id =
                wanted.foreign ? foreign_.at(i) : database_.idempotency_keys.at(key_of(i));
            const auto& refused = platform_.refused();
            const bool optional = std::find(refused.begin(), refused.end(), wanted.number) != refused.end();
            for (const ToldTurn& turn :
                 reported_turns(turns_of(conversation, broker_), wanted, database_.registrations.at(id))) {
                const std::string name = std::to_string(id) + '\0' + conversation.id + '\0' + turn.key;
                owed.push_back({id, conversation.id, fmt::format("github:o/r#{}", wanted.number), turn.key,
                                uuid_v5(installation_id, name), headline_of(turn.verdict), turn.words,
                                optional});
            }
        }
        oracle_.judge(owed, platform_.posts());
        owed_ = static_cast<std::int64_t>(owed.size());
        if (database_.dead_letters.size() != workload_.poison)
            oracle_.complain(fmt::format("{} dead letters for {} poisonous records",
                                         database_.dead_letters.size(), workload_.poison));
    }

    Outcome outcome() {
        Outcome outcome;
        for (const std::string& violation : oracle_.violations()) schedule_.say("VIOLATION {}", violation);
        outcome.violations = oracle_.violations();
        outcome.faults = schedule_.faults.counts();
        outcome.records = static_cast<std::int64_t>(workload_.records.size());
        outcome.steps = schedule_.steps();
        outcome.owed = owed_;
        outcome.attempts = platform_.attempts;
        outcome.created = static_cast<std::int64_t>(platform_.posts().size());
        for (const SeenPost& post : platform_.posts()) outcome.twins += post.removed_by_us ? 1 : 0;
        outcome.virtual_hours = static_cast<double>(schedule_.now().count()) / 3.6e9;
        schedule_.say("end: {} owed, {} requests, {} posts", owed_, outcome.attempts, outcome.created);
        outcome.trace_hash = schedule_.trace.hash();
        return outcome;
    }

    Schedule schedule_;
    const Micros chaos_ends_;
    Oracle oracle_;
    Database database_;
    Broker broker_;
    Platform platform_;
    Planner planner_;
    Workload workload_;
    std::vector<std::unique_ptr<Client>> clients_;
    std::vector<std::unique_ptr<Host>> hosts_;
    std::map<std::size_t, std::int64_t> foreign_;  ///< callback ids of those that others wrote
    std::int64_t owed_ = 0;
};

}  // namespace

Outcome run_schedule(std::uint64_t seed, Trace::Level trace) {
    start_logging(LogLevel::error, LogFormat::text);
    World world(seed, trace);
    return world.run();
}

}  // namespace epilogue::sim
