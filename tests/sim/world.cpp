#include "tests/sim/world.h"

#include <algorithm>

#include "base/ids.h"
#include "base/io/log.h"
#include "schemas/summary.h"
#include "tests/sim/client.h"
#include "tests/sim/reference.h"
#include "worker/apply/registration.h"
#include "worker/deliver/operator_verdict.h"
#include "worker/sources/registry.h"
#include "worker/store/callback_rows.h"
#include "worker/store/delivery_rows.h"

namespace epilogue::sim {
namespace {

using std::chrono::seconds;

/// One for the process: what they count is not judged here, and building them is slow.
Metrics& shared_metrics() {
    static Metrics metrics;
    return metrics;
}
Readiness& shared_readiness() {
    static Readiness readiness;
    return readiness;
}

std::string key_of(std::size_t index) {
    return "k" + std::to_string(index);
}

}  // namespace

World::World(std::uint64_t seed, Trace::Level trace, const ConfigExtensions& summary)
    : schedule(seed, trace),
      database(schedule, oracle),
      broker(schedule, database, oracle, schedule.random.between(1, 3)),
      platform(schedule, oracle),
      summary_(summary_rules(summary)),
      asking_({.by_default = schedule.random.chance(0.7), .deadline = seconds{30}}),
      planner_(installation_id, summary_, asking_) {
    start_logging(LogLevel::error, LogFormat::text);
}

World::~World() = default;

void World::set_up(Workload told, int workers) {
    workload = std::move(told);
    const bool was_healed = schedule.faults.healed();
    schedule.faults.heal();
    register_early();
    if (!was_healed) schedule.faults.resume();
    for (const Produced& record : workload.records)
        schedule.at(schedule.now() + record.at + record.on_its_way, [this, &record] {
            broker.append(record.partition, record.key, record.value, record.on_its_way, record.marks);
        });
    register_late();
    for (int i = 0; i < workers; ++i)
        hosts.push_back(std::make_unique<Host>(
            Surroundings{schedule, database, broker, platform, shared_metrics(), shared_readiness(), asking_,
                         summary_, batch, agent_logs.get(), agent_patience, told_agents.get()},
            i));
    for (const auto& host : hosts)
        schedule.after(schedule.random.between(Micros{0}, Micros(seconds{5})),
                       [&host = *host] { host.start(); });
}

void World::run_until(Micros time) {
    while (schedule.step(time) && is_sound()) {
    }
}

void World::heal() {
    schedule.say("everything heals");
    schedule.faults.heal();
    database.come_back();
    for (const auto& host : hosts) host->heal();
}

void World::converge(Micros longest) {
    const Micros until = schedule.now() + longest;
    bool over = false;
    while (!over && schedule.now() < until && oracle.violations().empty()) {
        const Micros look_again = schedule.now() + seconds{5};
        while (schedule.step(look_again)) {
        }
        retry_parked();
        over = unfinished().empty();
    }
    if (!over && oracle.violations().empty()) oracle.complain("does not converge: " + unfinished());
}

void World::retry_parked() {
    for (const auto& [ordinal, row] : database.deliveries) {
        if (row.progress.state != DeliveryState::parked) continue;
        Client& client = *clients_.emplace_back(std::make_unique<Client>(schedule, database));
        client.begin([id = row.id](Store& store) {
            return resolve_delivery(store, id, OperatorAction::retry, "").has_value();
        });
    }
}

std::string World::unfinished() const {
    std::size_t produced = 0;
    for (int partition = 0; partition < broker.partitions(); ++partition)
        produced += broker.log(partition).size();
    if (produced < workload.records.size()) return "a record is on its way";
    if (told_agents && told_agents->is_busy()) return "an agent works";
    for (int partition = 0; partition < broker.partitions(); ++partition) {
        const auto end = static_cast<std::int64_t>(broker.log(partition).size());
        const auto row = database.partitions.find(partition);
        const std::int64_t stored = row == database.partitions.end() ? 0 : row->second.next_offset.value;
        if (stored != end) return fmt::format("partition {} is at {} of {}", partition, stored, end);
        const auto committed = broker.committed(partition).value_or(NextOffset{0}).value;
        if (committed != end)
            return fmt::format("partition {}: {} of {} committed", partition, committed, end);
    }
    for (const auto& [id, row] : database.conversations)
        if (due_at(row.conversation) &&
            (agent_logs || !std::holds_alternative<Open>(row.conversation.turn_state)))
            return fmt::format("a timer of {} is pending", id);
    for (const auto& [id, gap] : database.gaps)
        if (agent_logs && !gap.is_done) return "a gap is not asked about";
    if (!database.catch_ups.empty())
        return fmt::format("the agent server is to be asked about {}", database.catch_ups.begin()->first);
    if (!database.foreign.empty()) return "a callback waits to be adopted";
    for (const auto& client : clients_)
        if (!client->is_done()) return "a client is not done";
    for (const auto& [ordinal, row] : database.deliveries)
        if (!is_final(row.progress.state) || row.dedup_due_at)
            return fmt::format("delivery {} is {}{}", row.id, name_of(row.progress.state),
                               row.dedup_due_at ? ", to be checked for twins" : "");
    if (const auto& owed = database.owed_summaries; !owed.empty())
        return fmt::format("the summary of {}, turn {} is owed", owed.begin()->conversation_id,
                           owed.begin()->turn_key);
    return platform.requests_on_their_way > 0 ? "a request is on its way" : "";
}

void World::judge() {
    if (!oracle.violations().empty()) return;
    std::vector<testing::OwedPost> owed;
    for (std::size_t i = 0; i < workload.callbacks.size(); ++i) {
        const WantedCallback& wanted = workload.callbacks[i];
        const ToldConversation& conversation = workload.conversations[wanted.conversation];
        const CallbackId id = wanted.foreign ? foreign_.at(i) : database.idempotency_keys.at(key_of(i));
        const auto& refused = platform.refused();
        const bool optional = std::find(refused.begin(), refused.end(), wanted.number) != refused.end();
        const bool from_topic =
            conversation.in_topic && !database.caught_up.contains(ConversationId(conversation.id));
        const auto turns = from_topic ? *conversation.in_topic : turns_of(conversation, broker, seen_by(id));
        for (const ExpectedTurn& turn : reported_turns(turns, wanted, seen_by(id))) {
            const std::string name = std::to_string(id.value) + '\0' + conversation.id + '\0' + turn.key;
            owed.push_back(
                {id.value, conversation.id, place_of(wanted.number).name, turn.key,
                 uuid_v5(installation_id, name),
                 conversation.is_forgotten ? "**Outcome not known**" : testing::headline_of(turn.verdict),
                 turn.words, optional});
        }
    }
    oracle.judge(owed, platform.posts());
    judge_summaries();
    owed_ = static_cast<std::int64_t>(owed.size());
    if (database.dead_letters.size() != workload.poison)
        oracle.complain(fmt::format("{} dead letters for {} poisonous records", database.dead_letters.size(),
                                    workload.poison));
}

/// A catch-up that is the first to tell of a conversation gives each callback its place in the log.
RegistrationSeen World::seen_by(CallbackId callback_id) const {
    const CallbackRow& row = database.callbacks.at(callback_id);
    const RegistrationSeen& seen = database.registrations.at(callback_id);
    if (!seen.untold || !database.caught_up.contains(row.conversation_id)) return seen;
    Folding folding;
    for (const TimedEvent& event : agent_logs->events_of(row.conversation_id))
        if (Database::start + event.at <= row.adopted_at)
            folding.take(event.value, Database::start + event.at);
    folding.pass(row.adopted_at);
    return folding.seen();
}

/// Every post of a turn shows the summary that was frozen.
void World::judge_summaries() {
    for (const testing::SeenPost& post : platform.posts()) {
        const auto ordinal = database.ordinals.find(DeliveryId(post.delivery_id));
        if (ordinal == database.ordinals.end()) continue;  // a phantom
        const DeliveryRow& row = database.deliveries.at(ordinal->second);
        const auto summary =
            summary_from_json(database.summaries.at({row.conversation_id, row.turn_key}).body);
        if (post.body != platform.rendered(row.sink, *summary, row.id))
            oracle.complain(fmt::format("{} says something else than the turn's summary: {}",
                                        post.delivery_id, post.body));
    }
}

Outcome World::outcome() {
    Outcome outcome;
    for (const std::string& violation : oracle.violations()) schedule.say("VIOLATION {}", violation);
    outcome.violations = oracle.violations();
    outcome.faults = schedule.faults.counts();
    outcome.records = static_cast<std::int64_t>(workload.records.size());
    outcome.steps = schedule.steps();
    outcome.owed = owed_;
    outcome.attempts = platform.attempts;
    outcome.created = static_cast<std::int64_t>(platform.posts().size());
    for (const testing::SeenPost& post : platform.posts()) outcome.duplicates += post.removed_by_us ? 1 : 0;
    outcome.virtual_hours = static_cast<double>(schedule.now().count()) / 3.6e9;
    schedule.say("end: {} owed, {} requests, {} posts", owed_, outcome.attempts, outcome.created);
    outcome.trace_hash = schedule.trace.hash();
    return outcome;
}

RegistrationRequest World::request_of(std::size_t index) const {
    const WantedCallback& wanted = workload.callbacks[index];
    RegistrationRequest request;
    request.conversation_id = workload.conversations[wanted.conversation].id;
    const Place place = place_of(wanted.number);
    request.processor_type = place.sink;
    request.processor_json = place.processor_json;
    if (wanted.only_from_here()) request.processor_json.insert(1, R"("only_from_here":true,)");
    request.options = wanted.options;
    request.options.from_last = wanted.from_last;
    request.watch = watch_rules(batch);
    request.idempotency_key = key_of(index);
    return request;
}
void World::register_early() {
    Client& client = *clients_.emplace_back(std::make_unique<Client>(schedule, database));
    client.begin([this](Store& store) {
        for (std::size_t i = 0; i < workload.callbacks.size(); ++i)
            if (!workload.callbacks[i].late && !register_callback(store, planner_, request_of(i)))
                return false;
        return true;
    });
    while (!client.is_done()) schedule.step(Micros::max());
}

void World::register_late() {
    for (std::size_t i = 0; i < workload.callbacks.size(); ++i) {
        if (!workload.callbacks[i].late) continue;
        if (workload.callbacks[i].foreign) {
            schedule.after(workload.callbacks[i].at, [this, i] { write_foreign(i); });
            continue;
        }
        Client& client = *clients_.emplace_back(std::make_unique<Client>(schedule, database));
        schedule.after(workload.callbacks[i].at, [this, &client, i] {
            client.begin([this, i](Store& store) {
                const auto registered = register_callback(store, planner_, request_of(i));
                if (registered)
                    schedule.say("callback {} registered{}", registered->callback_id.value,
                                 registered->planned_sink.empty() ? "" : ", its last end is owed");
                return registered.has_value();
            });
        });
    }
}

void World::write_foreign(std::size_t index) {
    const RegistrationRequest request = request_of(index);
    const CallbackId id{database.next_callback++};
    foreign_[index] = id;
    database.foreign[id] = {id, request.conversation_id, request.processor_type, request.processor_json,
                            database.now()};
    schedule.say("somebody writes callback {} of {}", id.value, request.conversation_id);
}

}  // namespace epilogue::sim
