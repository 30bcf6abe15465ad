// The platforms that every worker posts to: GitHub, GitLab and Slack as the fake platform serves them, in
// virtual time and by a clock of their own. They know no idempotency keys: each request that reaches one
// becomes a post. They show posts late, in short pages, between those of other people; some copy ours.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/http_message.h"
#include "ops/fake_platform/comment_store.h"
#include "sinks/port/sink.h"
#include "sinks/port/sink_settings.h"
#include "sinks/port/transport.h"
#include "tests/oracle/oracle.h"
#include "tests/sim/places.h"
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
    Platform(Schedule& schedule, Oracle& oracle);

    /// One request that got through, applied or looked up; the platform's own answer.
    HttpAnswer serve(const HttpRequest& request);
    /// A platform's refusal of that request, in its own words.
    HttpAnswer refuse(const HttpRequest& request, int status,
                      std::optional<std::chrono::seconds> retry_after = {});
    /// No look-up sees yet what stands there.
    void forbid(const HttpRequest& request);
    void refused_for_good(std::int64_t number) { refused_.push_back(number); }
    void limit(std::string budget) { budget_ = std::move(budget); }
    /// From now on GitHub is posted to as an App, whose tokens live so long.
    void become_app(std::chrono::seconds lifetime);
    /// The product's sinks, as they are, for one worker; the judge is told of their look-ups that saw
    /// nothing.
    std::map<std::string, std::unique_ptr<Sink>> sinks() const;
    /// A summary as its posts show it.
    std::string rendered(const std::string& sink, const Summary& summary, const DeliveryId& id) const;

    /// Asked of each request that reaches the platform, by the number of its thread; `posts`: it is not a
    /// look-up.
    std::function<std::optional<Refusal>(std::int64_t number, bool posts)> meet = [](auto, bool) {
        return std::nullopt;
    };

    const std::vector<SeenPost>& posts() const { return posts_; }
    /// Numbers of the threads that refused something for good.
    const std::vector<std::int64_t>& refused() const { return refused_; }
    std::int64_t attempts = 0;
    std::int64_t requests_on_their_way = 0;  ///< that will be applied after their sender gave up

  private:
    using Comment = fake_platform::Comment;

    bool is_app() const { return store_.app().id != 0; }
    SinkSettings settings() const;
    void begin_place(const HttpRequest& request);
    void add_other(const std::string& platform, const std::string& place, const std::string& body);
    void note_post(const Comment& comment);
    void copy(std::int64_t id);
    void judge_removal(const HttpRequest& request);

    Schedule& schedule_;
    Oracle& oracle_;
    const Micros skew_;         ///< of the platforms' clocks
    const bool tells_account_;  ///< GitHub says who the token makes us
    fake_platform::CommentStore store_;
    std::vector<SeenPost> posts_;
    std::map<std::int64_t, std::size_t> by_id_;  ///< of our comments, in posts_
    std::set<std::int64_t> begun_;               ///< threads that a worker has asked about
    std::vector<std::int64_t> refused_;
    std::string budget_;
    std::map<std::string, std::unique_ptr<Sink>> judges_;  ///< render what is compared at the end
};

/// One worker's way to the platforms.
class SimNetwork {
  public:
    SimNetwork(Platform& platform, Process& process) : platform_(platform), process_(process) {}

    Transport transport();

  private:
    HttpAnswer send(const HttpRequest& request);
    HttpAnswer post(const HttpRequest& request);
    HttpAnswer look_up(const HttpRequest& request);
    HttpAnswer remove(const HttpRequest& request);
    void travel();
    std::optional<HttpAnswer> met(const HttpRequest& request, bool posts);
    HttpAnswer lost(const char* why);
    HttpAnswer arrived(HttpAnswer answer);

    Platform& platform_;
    Process& process_;
};

}  // namespace epilogue::sim
