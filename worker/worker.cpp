#include "worker/worker.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <thread>

#include "base/ids.h"
#include "base/stoppable_wait.h"
#include "base/thread_name.h"
#include "base/version.h"
#include "sinks/registry.h"
#include "worker/consume/dead_letter_topic.h"
#include "worker/deliver/delivery_log.h"
#include "worker/deliver/sinks_in_use.h"
#include "worker/mysql/migrate.h"
#include "worker/mysql/mysql_store.h"
#include "worker/parts.h"
#include "worker/serve/callback_api.h"
#include "worker/serve/gauges.h"
#include "worker/serve/http_endpoints.h"
#include "worker/serve/janitor.h"
#include "worker/settings.h"
#include "worker/sources/registry.h"

namespace epilogue {
namespace {

/// Waits for the database and checks its tables; the worker is unready meanwhile. An empty id: stopped.
Result<Installation> wait_for_tables(const Reloader& settings, MysqlStore& store, Readiness& readiness,
                                     const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        auto session = MysqlSession::open(mysql_settings(*settings.current()));
        const auto status =
            session ? migration_status(**session) : Result<MigrationStatus>(Failure(session.error()));
        if (status && status->present < status->needed)
            return fatal("the database's tables are older than this version needs: run epilogue migrate");
        auto found = status ? store.installation() : Result<Installation>(Failure(status.error()));
        if (found) {
            readiness.set("database", "");
            return std::move(*found);
        }
        if (found.error().remedy == Remedy::fatal) return Failure(found.error());
        readiness.set("database", found.error().text);
        constexpr std::chrono::seconds again{1};
        wait_or_stop(stop, again);
    }
    return Installation{};
}

/// Counts posts in the metrics and writes them to the log.
SenderObserver observing_posts(Metrics& metrics, DeliveryLog& log) {
    SenderObserver observer;
    observer.changed = [&log](const DeliveryRow& row) { log.changed(row); };
    observer.settled = &DeliveryLog::settled;
    observer.called = [&metrics](const std::string& sink, std::string_view call,
                                 std::chrono::duration<double> after) { metrics.called(sink, call, after); };
    observer.visible_after_event = [&metrics](const std::string& sink, std::chrono::duration<double> after) {
        metrics.visible_after_event(sink, after);
    };
    observer.entered = [&](const std::string& sink, DeliveryState state, std::int64_t rows) {
        metrics.delivery_entered(sink, name_of(state), static_cast<double>(rows));
    };
    observer.answered = [&](const std::string& sink, Answer answer) {
        metrics.attempt(sink, name_of(answer));
    };
    observer.looked = [&](const std::string& sink, std::string_view result) { metrics.lookup(sink, result); };
    observer.visible = [&](const std::string& sink, std::chrono::duration<double> after) {
        metrics.visible_after(sink, after);
    };
    observer.suppressed = [&](std::string_view where) { metrics.suppressed(where); };
    observer.duplicate_removed = [&](const std::string& sink) { metrics.healed(sink); };
    observer.fenced = [&] { metrics.fenced(); };
    observer.froze = [&](const std::string& source) {
        metrics.summary(source, name_of(FinalMessageReply::Kind::late));
    };
    return observer;
}

/// The series of each sink, which begin at 0.
void expect_sinks(const std::vector<std::string>& sinks, Metrics& metrics) {
    std::vector<std::string> classes;
    for (const Answer answer :
         {Answer::sent, Answer::retry, Answer::refused, Answer::unauthorised, Answer::unknown})
        classes.emplace_back(name_of(answer));
    for (const std::string& sink : sinks)
        metrics.expect_sink(sink, classes, {"found", "absent", "failed", "forbidden"});
}

/// What the parts do, as metrics, /readyz and the dead letter topic tell it.
PartsObserver observing(Telemetry telemetry, DeliveryLog& deliveries, DeadLetterTopic& dead_letters) {
    Metrics& metrics = telemetry.metrics;
    Readiness& readiness = telemetry.readiness;
    return {.sender = observing_posts(metrics, deliveries),
            .summary_froze = [&metrics](const std::string& source,
                                        std::string_view result) { metrics.summary(source, result); },
            .reconciled = [&metrics](ReconcileReason why,
                                     std::string_view result) { metrics.catch_up(name_of(why), result); },
            .adopted = [&metrics] { metrics.adopted(); },
            .dead_letter = [&dead_letters](const DeadLetterRow& letter) { dead_letters.copy(letter); },
            .trouble = [&readiness](const std::string& part,
                                    const std::string& why) { readiness.set(part, why); }};
}

/// From `stop` on at most `drain`: then the process ends, whatever holds a thread up (a row that a paused
/// worker has locked, say). What is under way is found by the next worker, as after a kill.
class DrainLimit {
  public:
    DrainLimit(std::stop_token stop, std::chrono::milliseconds drain)
        : thread_(named_thread("drain limit", [stop = std::move(stop), drain](const auto& over) {
              std::stop_source either;
              const std::stop_callback on_stop(stop, [&] { either.request_stop(); });
              const std::stop_callback on_over(over, [&] { either.request_stop(); });
              wait_for_stop(either.get_token());
              if (!wait_or_stop(over, drain)) return;
              log_warn("the drain did not end in time: what is under way is found by the next worker");
              std::_Exit(0);
          })) {}

  private:
    std::jthread thread_;
};

/// One running worker: its parts over Kafka, MySQL and the platforms, and their threads.
class Worker {
  public:
    Worker(const Config& config, const std::string& owner, const Installation& installation,
           Telemetry telemetry, const StoreObserver& store_observer)
        : config_(config),
          readiness_(telemetry.readiness),
          loop_store_(mysql_settings(config), store_observer, static_cast<std::size_t>(appliers(config))),
          post_store_(mysql_settings(config), store_observer, post_sessions(config)),
          sinks_(make_sinks(sink_settings(config))),
          agents_(endpoints_in(post_store_), session_key_sealer(config.security.keys),
                  agent_directory_rules(config)),
          notes_(post_store_),
          final_messages_(make_asking_sources(asker_settings(telemetry.metrics))),
          consumer_(kafka_settings(config), config.kafka.topic, config.kafka.group,
                    config.kafka.dead_letter_topic),
          dead_letters_(kafka_settings(config), config.kafka.dead_letter_topic),
          parts_({loop_store_, post_store_, consumer_, sinks_, sink_transport(config), *final_messages_,
                  logs_of(agents_)},
                 parts_rules(config, owner, installation), observing(telemetry, deliveries_, dead_letters_),
                 telemetry),
          gauges_(parts_.queues, parts_.log, post_store_, telemetry, config.kafka.topic, sinks_.names()),
          janitor_(post_store_, retention_rules(config),
                   [this] { return parts_.queues.positions().contains(0); },
                   {.removed = [&metrics = telemetry.metrics](std::string_view what, std::int64_t count) {
                       metrics.retention_removed(what, static_cast<double>(count));
                   }}) {
        expect_sinks(sinks_.names(), telemetry.metrics);
    }

    bool turns() const {
        return std::all_of(parts_.appliers.begin(), parts_.appliers.end(),
                           [](const Applier& applier) { return applier.loop.is_turning(); });
    }

    /// Takes what can be taken while it runs. Thread-safe.
    void reload(const Config& config) {
        sinks_.replace(make_sinks(sink_settings(config)));
        for (MysqlStore* store : {&loop_store_, &post_store_})
            store->change_password(config.database.password.reveal());
    }

    Result<void> run(const std::stop_token& stop) {
        TRY_VOID(parts_.poller.open());
        parts_.outbox.start();
        parts_.summarisers.start();
        parts_.reconciler.start();
        auto gauges = named_thread("gauges", [this](const auto& s) { gauges_.run(s); });
        auto janitor = named_thread("janitor", [this](const auto& s) { janitor_.run(s); });
        auto adopter = named_thread("adopter", [this](const auto& s) { parts_.adopter.run(s); });
        std::vector<std::jthread> loops;
        for (Applier& applier : parts_.appliers)
            loops.push_back(named_thread("loop", [&applier](const auto& s) { applier.loop.run(s); }));
        auto poll = named_thread("poll", [this](const auto& s) {
            parts_.poller.run(s);
            parts_.poller.close(config_.worker.drain / 2);
        });
        wait_for_stop(stop);
        const auto deadline = std::chrono::steady_clock::now() + config_.worker.drain;
        readiness_.set("worker", "draining");
        for (std::jthread& loop : loops) loop.request_stop();
        for (std::jthread& loop : loops) loop.join();
        parts_.reconciler.stop();
        for (auto* thread : {&adopter, &janitor, &gauges, &poll}) stop_and_join(*thread);
        parts_.summarisers.stop();
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        if (!parts_.outbox.drain(std::max(left, std::chrono::milliseconds{0})))
            log_warn("some posts did not end in time; they will be looked for before they are tried again");
        return {};
    }

  private:
    AskerSettings asker_settings(Metrics& metrics) {
        return {
            .sections = config_.extensions,
            .find_server = [this](const ConversationId& id) { return agents_.server_of(id); },
            .notes = &notes_,
            .asked = [&metrics](std::string_view source,
                                std::string_view result) { metrics.summary_asked(source, result); },
            .llm_used = [&metrics](const std::string& model, std::int64_t tokens_in, std::int64_t tokens_out,
                                   double cost) { metrics.llm_used(model, tokens_in, tokens_out, cost); }};
    }

    static void stop_and_join(std::jthread& thread) {
        thread.request_stop();
        thread.join();
    }

    const Config& config_;
    Readiness& readiness_;
    MysqlStore loop_store_;
    MysqlStore post_store_;
    SinksInUse sinks_;
    AgentDirectory agents_;
    StoredSummaryNotes notes_;
    const std::unique_ptr<FinalMessageSource> final_messages_;
    KafkaConsumer consumer_;
    DeliveryLog deliveries_;
    DeadLetterTopic dead_letters_;  ///< the loops'
    Parts parts_;
    Gauges gauges_;
    Janitor janitor_;
};

}  // namespace

Result<void> run_worker(Reloader& settings, const std::stop_token& stop) {
    const auto first = settings.current();
    const Config& config = *first;
    Metrics metrics;
    Readiness readiness;
    std::atomic<const Worker*> running = nullptr;
    CallbackApi api(config, {mysql_settings(config), watch_rules(config),
                             [&](Store& store) { return planner_for(config, store); }});
    const auto address = parse_listen_address(config.worker.http_listen).value_or(ListenAddress{});
    TRY(const auto endpoints,
        HttpEndpoints::listen(address.host, address.port,
                              {[&] {
                                   metrics.ready(readiness.missing().empty());
                                   return metrics.text();
                               },
                               [&] { return readiness.missing(); }, [&] { return readiness.history(); },
                               [&] {
                                   const Worker* worker = running;
                                   return worker == nullptr || worker->turns();
                               },
                               &api}));
    log_info("listening", {{"address", address.host + ":" + std::to_string(endpoints->port())}});
    const StoreObserver store_observer{[&](auto seconds) { metrics.committed(seconds); },
                                       [&] { metrics.ambiguous_commit(); },
                                       [&](auto cause) { metrics.undone(cause); }};
    MysqlStore store(mysql_settings(config), store_observer);
    settings.on_reload([&](const Config& now) {
        api.reload(now);
        store.change_password(now.database.password.reveal());
    });
    // Ends before what it tells; a worker is told nothing any more once it has run.
    const auto reloads = named_thread("reload", [&](const auto& over) { settings.run(over); });
    TRY(const Installation installation, wait_for_tables(settings, store, readiness, stop));
    if (installation.id.empty()) return {};
    const DrainLimit limit(stop, config.worker.drain);
    Worker worker(config, worker_name(), installation, {metrics, readiness}, store_observer);
    running = &worker;
    settings.on_reload([&](const Config& now) {
        api.reload(now);
        worker.reload(now);
    });
    auto result = worker.run(stop);
    settings.on_reload({});
    running = nullptr;
    log_info("drained");
    return result;
}

}  // namespace epilogue
