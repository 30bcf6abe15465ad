// The posting protocol of one delivery (sinks.md §2): lease -> look-up when the last try is unknown ->
// durable intent -> one request -> classify -> record. One transaction a step; no database session is held
// over HTTP.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "sinks/port/sink.h"
#include "worker/deliver/permits.h"
#include "worker/deliver/sender_clock.h"
#include "worker/store/callback_rows.h"
#include "worker/store/delivery_rows.h"

namespace epilogue {

using Sinks = std::map<std::string, std::unique_ptr<Sink>>;

struct SenderRules {
    std::string owner;
    std::chrono::milliseconds lease{60000};
    std::chrono::milliseconds http_timeout{20000};
    std::chrono::seconds heal_after{60};  ///< a check for twins so long after a post; 0: none
};

/// What a sender tells its observer (metrics). Every function may be called from any sender's thread.
struct SenderObserver {
    std::function<void(const std::string& sink, DeliveryState, std::int64_t rows)> entered = [](auto&&, auto,
                                                                                                auto) {};
    std::function<void(const std::string& sink, Answer)> answered = [](auto&&, auto) {};
    std::function<void(const std::string& sink, std::string_view result)> looked = [](auto&&, auto) {};
    std::function<void(const std::string& sink, std::chrono::duration<double>)> visible = [](auto&&, auto) {};
    std::function<void(std::string_view where)> suppressed = [](auto) {};
    std::function<void(const std::string& sink)> healed = [](auto&&) {};
    std::function<void()> fenced = [] {};
    /// A post fell due before its summary was frozen: the summary was frozen as it was.
    std::function<void(const std::string& source)> froze = [](auto&&) {};
};

/// Thread-safe: deliveries are independent of each other.
class Sender {
  public:
    /// What a delivery is taken up for.
    enum class Errand { post, probe, heal };

    Sender(Store& store, const Sinks& sinks, SenderRules rules, SenderObserver observer, SenderClock clock)
        : store_(store),
          sinks_(sinks),
          rules_(std::move(rules)),
          observer_(std::move(observer)),
          clock_(std::move(clock)) {}

    /// Claims the delivery and does the next step, at most one call of its sink; returns at once when it is
    /// not due, leased by another sender, or not the oldest open one of its callback, and when its turn has
    /// not come (permits.h) or its credential is refused (credentials.h). True when it did something. Errors:
    /// the database's; the row then waits for its lease to pass.
    Result<bool> deliver(const std::string& delivery_id);

    /// The same for a delivery that is parked for its credential, when that is due to be tried again.
    Result<bool> probe(const std::string& delivery_id);

    /// Looks whether a SENT delivery has twins on the platform and removes all but the oldest. True when it
    /// looked.
    Result<bool> heal(const std::string& delivery_id);

    /// Parks and lets go what waits for the credential.
    Result<void> settle(const std::string& credential);

  private:
    struct Job;

    enum class Leave;

    Result<void> claim(const std::string& delivery_id, Errand errand, Job& job);
    void address(const CallbackRow& callback, Job& job) const;
    Result<Leave> prepare(Transaction& transaction, Job& job);
    Result<Leave> ask_leave(Transaction& transaction, Job& job);
    Result<Leave> prepare_heal(Transaction& transaction, Job& job);
    Result<bool> attempt(const std::string& delivery_id, Errand errand);
    Result<void> work(Job& job);
    DeliveryEvent look(Job& job);
    Result<bool> look_first(Job& job);
    Result<DeliveryEvent> send(Job& job);
    Result<void> record(Job& job, const DeliveryEvent& event);
    Result<void> pace(Transaction& transaction, const Job& job, DeliveryRow& next, Instant now) const;
    Result<void> leave_heal_due(const Job& job);
    bool may_heal(const Job& job) const;
    bool needs_heal(const Job& job, const DeliveryEvent& event, const DeliveryRow& next) const;
    bool remove_twins(const Job& job, const LookupResult& sighting);
    bool lease_holds(const Job& job) const;

    Store& store_;
    const Sinks& sinks_;
    const SenderRules rules_;
    const SenderObserver observer_;
    const SenderClock clock_;
};

}  // namespace epilogue
