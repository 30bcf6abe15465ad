// GitLab: notes on issues and merge requests, replies in their discussions. (sinks.md §2.3, contract §6)
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "sinks/gitlab/gitlab_target.h"
#include "sinks/port/http_api.h"
#include "sinks/port/remote_post.h"
#include "sinks/port/sink.h"

namespace epilogue {

struct GitlabSettings {
    std::string api_url = "https://gitlab.com/api/v4";
    std::string token;            ///< empty: every write is unauthorised, without a request
    std::string mac_key;          ///< of the markers
    std::string version;          ///< ours, for the User-Agent
    std::string budget = "auto";  ///< [gitlab] budget
};

/// Thread-safe; remembers nothing but who the token makes us. One create() is one request.
class GitlabSink final : public Sink {
  public:
    explicit GitlabSink(GitlabSettings settings);

    std::string render(const Summary& summary, const DeliveryId& delivery_id) const override;

    /// Reads the notes, newest first, back to five minutes before the first attempt; of a discussion all that
    /// it has. A note is ours when a whole line of it is the row's marker and we are its author.
    Dialogue<LookupResult> find(Post post) override;

    /// Posts a note, or a reply in the discussion.
    Dialogue<Attempt> create(Post post) override;

    /// Deletes the note; true also when it was gone before.
    Dialogue<bool> remove(Post post, Receipt duplicate) override;

    /// Everything counts together, by token.
    Quota quota(const Target& target) const override;

    std::vector<Dialogue<TokenStatus>> check_tokens() override;

  private:
    std::string place_url(const GitlabTarget& place) const;
    std::string note_url(const GitlabTarget& place, const std::string& id) const;
    /// The notes with the post's marker, or why they could not be read.
    Dialogue<ReadOf<std::vector<RemotePost>>> read_marked(Post post, GitlabTarget place) const;
    /// Our account, or why GitLab could not be asked for it.
    Dialogue<ReadOf<Account>> ask_who_we_are();
    Dialogue<TokenStatus> check_token() const;

    const GitlabSettings settings_;
    const HttpApi api_;
    OwnAccount me_;
};

}  // namespace epilogue
