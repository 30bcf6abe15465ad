// The platform that every worker posts to. It knows no idempotency keys: each request that reaches it becomes
// a post. It shows them late, loses its answers, applies requests long after they were given up.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sinks/port/sink.h"
#include "tests/oracle/oracle.h"
#include "tests/sim/process.h"

namespace epilogue::sim {

using testing::Oracle;
using testing::SeenPost;

/// What a request gets instead of being applied, or looked at.
struct Refusal {
    Answer answer = Answer::retry;  ///< by rate; unauthorised; or unknown: the platform is down
    std::optional<std::chrono::seconds> not_before;
};

class Platform {
  public:
    Platform(Schedule& schedule, Oracle& oracle) : schedule_(schedule), oracle_(oracle) {}

    /// A request that gets through.
    std::string apply(const std::string& place, const Post& post);
    /// Posts that a look-up sees now, oldest first.
    std::vector<Receipt> look(const DeliveryId& delivery_id);
    bool remove(const std::string& remote_id);
    /// No look-up sees it yet.
    void forbid(const DeliveryId& delivery_id);
    void refuse(std::int64_t number) { refused_.push_back(number); }
    /// Two credentials, one for odd places and one for even ones, each a window of its own.
    Quota quota_of(const Target& target) const;
    void limit(std::vector<RateLimit> limits) { limits_ = std::move(limits); }

    /// Asked of each request that reaches the platform; `posts`: it is not a look-up.
    std::function<std::optional<Refusal>(const Target&, const DeliveryId& delivery_id, bool posts)> meet =
        [](auto&&, auto&&, bool) { return std::nullopt; };

    const std::vector<SeenPost>& posts() const { return posts_; }
    /// Numbers of the threads that refused something for good.
    const std::vector<std::int64_t>& refused() const { return refused_; }
    std::int64_t attempts = 0;
    std::int64_t requests_on_their_way = 0;  ///< that will be applied after their sender gave up

  private:
    Schedule& schedule_;
    Oracle& oracle_;
    std::vector<SeenPost> posts_;
    std::vector<Micros> hidden_until_;
    std::map<std::string, std::vector<std::size_t>> by_delivery_;
    std::vector<std::int64_t> refused_;
    std::vector<RateLimit> limits_;
};

/// A summary as its posts show it.
std::string rendered(const Summary& summary);

/// One worker's way to it.
class SimSink final : public Sink {
  public:
    SimSink(Platform& platform, Process& process) : platform_(platform), process_(process) {}

    std::string render(const Summary& summary, const DeliveryId& delivery_id) const override;
    Dialogue<LookupResult> find(Post post) override { co_return look(post); }
    Dialogue<Attempt> create(Post post) override { co_return send(post); }
    Dialogue<bool> remove(Post, Receipt duplicate) override { co_return remove(duplicate); }
    Quota quota(const Target& target) const override { return platform_.quota_of(target); }

  private:
    LookupResult look(const Post& post);
    Attempt send(const Post& post);
    bool remove(const Receipt& duplicate);
    static Attempt lost(const char* why);
    static LookupResult down(const char* why);

    Platform& platform_;
    Process& process_;
};

}  // namespace epilogue::sim
