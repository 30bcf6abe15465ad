#include "worker/worker.h"

#include <cstdlib>
#include <thread>

#include "base/ids.h"
#include "base/stoppable_wait.h"
#include "base/thread_name.h"
#include "base/version.h"
#include "sinks/registry.h"
#include "worker/agents/agent_server_source.h"
#include "worker/agents/reconciler.h"
#include "worker/agents/summarisers.h"
#include "worker/consume/consumer_log.h"
#include "worker/consume/dispatch_report.h"
#include "worker/consume/loop.h"
#include "worker/consume/poller.h"
#include "worker/mysql/migrate.h"
#include "worker/mysql/mysql_store.h"
#include "worker/serve/callback_api.h"
#include "worker/serve/gauges.h"
#include "worker/serve/http_endpoints.h"
#include "worker/settings.h"
#include "worker/store/dead_letter_rows.h"
#include "worker/store/delivery_rows.h"
#include "worker/store/reconcile_rows.h"
#include "worker/store/summary_rows.h"

namespace epilogue {
namespace {

constexpr std::chrono::seconds loop_stalls_after{60};
constexpr int summariser_threads = 8;

/// Waits for the database and checks its tables; the worker is unready meanwhile. An empty id: stopped.
Result<Installation> wait_for_tables(const Config& config, MysqlStore& store, Readiness& readiness,
                                     const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        auto session = MysqlSession::open(mysql_settings(config));
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

SenderObserver observing(Metrics& metrics) {
    SenderObserver observer;
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

SummariserObserver observing(Metrics& metrics, Outbox& outbox) {
    SummariserObserver observer;
    observer.froze = [&](const std::string& source, std::string_view result) {
        metrics.summary(source, result);
    };
    observer.released = [&](const DeliveryRow& row) { outbox.add({row.id, row.sink}); };
    return observer;
}

ReconcileObserver observing(Metrics& metrics, Outbox& outbox, Summarisers& summarisers) {
    ReconcileObserver observer;
    observer.over = [&](ReconcileReason why, std::string_view result) {
        metrics.catch_up(name_of(why), result);
    };
    observer.applied = [&](const BatchReport& report) {
        dispatch_report(report, metrics, outbox);
        for (const TurnId& turn : report.owed) summarisers.add(turn);
    };
    return observer;
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

/// All parts of one running worker. Members are built top down and destroyed bottom up.
class Worker {
  public:
    Worker(const Config& config, const std::string& owner, const Installation& installation, Metrics& metrics,
           Readiness& readiness, StoreObserver store_observer)
        : config_(config),
          readiness_(readiness),
          loop_store_(mysql_settings(config), store_observer),
          post_store_(mysql_settings(config), store_observer),
          planner_(installation.id, summary_rules(config), ask_rules(config)),
          batch_(loop_store_, planner_, batch_rules(config)),
          sinks_(make_sinks(sink_settings(config))),
          sender_(post_store_, sinks_, sender_rules(config, owner), observing(metrics),
                  system_sender_clock()),
          outbox_(post_store_, sender_, config.worker.senders,
                  [&](const std::string& why) { readiness.set("senders", why); }),
          agents_(endpoints_in(post_store_), session_key_sealer(config.security.keys),
                  agent_directory_rules(config)),
          final_messages_(
              [this](const std::string& conversation_id) { return agents_.server_of(conversation_id); }),
          summariser_(post_store_, final_messages_, summariser_rules(config, owner),
                      observing(metrics, outbox_)),
          summarisers_(post_store_, final_messages_, summariser_, summariser_threads,
                       [&](const std::string& why) { readiness.set("summarisers", why); }),
          queues_(
              {config.worker.batch_max_records, config.worker.batch_max_bytes, config.worker.batch_max_wait}),
          consumer_(kafka_settings(config), config.kafka.topic, config.kafka.group),
          poller_(consumer_, queues_, {metrics, readiness},
                  {.topic = config.kafka.topic, .brokers = config.kafka.brokers}),
          log_(consumer_, config.kafka.start),
          loop_({queues_, log_}, {loop_store_, batch_},
                {.outbox = outbox_,
                 .summary_owed = [this](const TurnId& turn) { summarisers_.add(turn); },
                 .dead_letter = [this](const DeadLetterRow& letter) { forward(letter); }},
                {metrics, readiness},
                {.group = config.kafka.group,
                 .topic = config.kafka.topic,
                 .owner = owner,
                 .random01 = system_sender_clock().random01}),
          gauges_(queues_, log_, post_store_, {metrics, readiness}, config.kafka.topic),
          reconciler_(post_store_, planner_, logs_of(agents_), reconcile_rules(config, owner),
                      observing(metrics, outbox_, summarisers_)),
          adopter_(post_store_, planner_, adoption_rules(config, installation), [&] { metrics.adopted(); }) {}

    bool turns() const { return std::chrono::steady_clock::now() - loop_.last_turn() < loop_stalls_after; }

    Result<void> run(const std::stop_token& stop) {
        TRY_VOID(poller_.open());
        outbox_.start();
        summarisers_.start();
        reconciler_.start();
        auto gauges = named_thread("gauges", [this](const auto& s) { gauges_.run(s); });
        auto adopter = named_thread("adopter", [this](const auto& s) { adopter_.run(s); });
        auto loop = named_thread("loop", [this](const auto& s) { loop_.run(s); });
        auto poll = named_thread("poll", [this](const auto& s) {
            poller_.run(s);
            poller_.close(config_.worker.drain / 2);
        });
        wait_for_stop(stop);
        const auto deadline = std::chrono::steady_clock::now() + config_.worker.drain;
        readiness_.set("worker", "draining");
        stop_and_join(loop);
        reconciler_.stop();
        for (auto* thread : {&adopter, &gauges, &poll}) stop_and_join(*thread);
        summarisers_.stop();
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        if (!outbox_.drain(std::max(left, std::chrono::milliseconds{0})))
            log_warn("some posts did not end in time; they will be looked for before they are tried again");
        return {};
    }

  private:
    static void stop_and_join(std::jthread& thread) {
        thread.request_stop();
        thread.join();
    }

    /// Also to [kafka] dead_letter_topic, when it is set. The row is the record; a failed copy is only said.
    void forward(const DeadLetterRow& letter) {
        if (config_.kafka.dead_letter_topic.empty()) return;
        if (!dead_letters_) {
            auto opened = KafkaProducer::open(kafka_settings(config_), config_.kafka.dead_letter_topic);
            if (opened)
                dead_letters_ = std::move(*opened);
            else
                log_warn("the dead letter topic cannot be written", {{"why", opened.error().text}});
        }
        if (!dead_letters_) return;
        const auto produced = dead_letters_->produce(letter.key.value_or(""), letter.value,
                                                     {{"reason", letter.reason},
                                                      {"topic", letter.topic},
                                                      {"partition", std::to_string(letter.partition)},
                                                      {"offset", std::to_string(letter.offset.value)}});
        if (!produced)
            log_warn("a dead letter was not copied to its topic", {{"why", produced.error().text}});
    }

    const Config& config_;
    Readiness& readiness_;
    MysqlStore loop_store_;
    MysqlStore post_store_;
    Planner planner_;
    Batch batch_;
    Sinks sinks_;
    Sender sender_;
    Outbox outbox_;
    AgentDirectory agents_;
    AgentServerSource final_messages_;
    Summariser summariser_;
    Summarisers summarisers_;
    PartitionQueues queues_;
    KafkaConsumer consumer_;
    Poller poller_;
    ConsumerLog log_;
    std::unique_ptr<KafkaProducer> dead_letters_;  ///< the loop's
    Loop loop_;
    Gauges gauges_;
    Reconciler reconciler_;
    Adopter adopter_;
};

}  // namespace

Result<void> run_worker(const Config& config, const std::stop_token& stop) {
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
    TRY(const Installation installation, wait_for_tables(config, store, readiness, stop));
    if (installation.id.empty()) return {};
    const DrainLimit limit(stop, config.worker.drain);
    Worker worker(config, worker_name(), installation, metrics, readiness, store_observer);
    running = &worker;
    auto result = worker.run(stop);
    running = nullptr;
    log_info("drained");
    return result;
}

}  // namespace epilogue
