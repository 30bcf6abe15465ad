// What the platforms hold: comments, the state of the places they stand in, and who may write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "ops/fake_platform/github_app.h"

namespace epilogue::fake_platform {

/// The account behind every accepted token.
inline constexpr int bot_id = 1;
inline constexpr const char* bot_login = "epilogue-bot";

struct Comment {
    std::int64_t id = 0;
    std::string platform;  ///< its prefix without the slash: "github"
    /// GitHub: "owner/repo#7", its review comments "owner/repo!7"; GitLab: "4455#7", "4455!7"; Slack: "C1";
    /// Jira and Linear: the key or id; a webhook: the path of its receiver; a mail: its first
    /// recipient.
    std::string place;
    std::string author;
    std::string body;
    /// What it replies to: GitHub: a review comment's id; GitLab: a discussion; Slack: its parent's time; of
    /// a webhook: its id; of Linear: the comment's id; of a mail: its Message-ID; or "".
    std::string thread{};
    std::string metadata{};  ///< Slack: as JSON; of a mail: its recipients; "": none
    Instant created_at{};
    Instant updated_at{};
    Instant hidden_until{};  ///< lists leave it out until then, as after a lagging read replica
};

enum class PlaceState { open, locked, gone, missing };

/// Not thread-safe: its owner locks.
class CommentStore {
  public:
    /// `now` is the platforms' clock.
    explicit CommentStore(std::function<Instant()> now = system_now) : now_(std::move(now)) {}

    Instant now() const { return now_(); }
    /// Adds `comment` under a new id, greater than all before; a time it lacks is now.
    const Comment& add(Comment comment);
    /// nullptr when there is none.
    const Comment* find(std::int64_t id) const;
    /// False when there is none.
    bool remove(std::int64_t id);
    /// New text, and new metadata where some is given, updated now; false when there is none.
    bool edit(std::int64_t id, std::string body, std::optional<std::string> metadata = {});
    /// Keeps a comment out of lists until then.
    void hide(std::int64_t id, Instant until);
    /// What is hidden shows up so much sooner.
    void pass(Micros time);
    /// What a list of this place shows now, oldest first.
    std::vector<const Comment*> listed(const std::string& platform, const std::string& place) const;
    /// Everything that exists, hidden or not, by id.
    const std::map<std::int64_t, Comment>& comments() const { return comments_; }
    /// Ids from this one on are not given yet.
    std::int64_t next_id() const { return next_id_; }

    /// Open unless set otherwise.
    PlaceState state(const std::string& platform, const std::string& place) const;
    void set_state(const std::string& platform, const std::string& place, PlaceState state);

    /// Only these tokens are accepted from now on; none: any that is not empty.
    void set_tokens(std::set<std::string> tokens) { tokens_ = std::move(tokens); }
    bool accepts(const std::string& token) const;

    /// What every token of a platform may do, separated by commas, as the platform spells it.
    const std::string& scopes(const std::string& platform) const { return scopes_.at(platform); }
    void set_scopes(const std::string& platform, std::string scopes) {
        scopes_.at(platform) = std::move(scopes);
    }
    bool has_scope(const std::string& platform, const std::string& scope) const;

    /// Whether "Authorization: Bearer …" holds an accepted token.
    bool accepts_bearer(const std::string& credential) const;

    /// The App that GitHub knows.
    const GithubApp& app() const { return app_; }
    GithubApp& app() { return app_; }

    /// Counts a request that a platform reads; returns how many there were, for rate-limit headers.
    std::size_t count_request() { return ++requests_; }

  private:
    std::function<Instant()> now_;
    std::map<std::int64_t, Comment> comments_;
    std::map<std::pair<std::string, std::string>, std::set<std::int64_t>> by_place_;  // platform and place
    std::map<std::pair<std::string, std::string>, PlaceState> states_;
    std::set<std::string> tokens_;
    std::map<std::string, std::string> scopes_{
        {"github", "repo"}, {"gitlab", "api"}, {"slack", "chat:write,channels:history,groups:history"}};
    GithubApp app_;
    std::int64_t next_id_ = 1001;
    std::size_t requests_ = 0;
};

}  // namespace epilogue::fake_platform
