// GitLab: notes on issues and merge requests, replies in their discussions. (sinks.md §2.3, contract §6)
#pragma once

#include <map>
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
    std::string token = {};  ///< empty: a write that has no other is unauthorised, without a request
    std::map<std::string, std::string> namespaces = {};  ///< tokens by the path of a group or project
    std::string mac_key = {};                            ///< of the markers
    std::string version = {};                            ///< ours, for the User-Agent
    std::string budget = "auto";                         ///< [gitlab] budget
};

/// Thread-safe; remembers nothing but who each token makes us.
class GitlabSink final : public Sink {
  public:
    explicit GitlabSink(GitlabSettings settings);

    std::string render(const Summary& summary, const DeliveryId& delivery_id) const override;

    /// Reads the notes, newest first, back to five minutes before the first attempt; of a discussion all that
    /// it has. A note is ours when a whole line of it is the row's marker and we are its author.
    Dialogue<LookupResult> find(Post post) override;

    /// Posts a note, or a reply in the discussion. With `note_id` the post is written into that note, when it
    /// is ours; else it becomes a note of its own. Writing it again changes nothing. With `notify` the note
    /// that tells of it is the one that is looked for.
    Dialogue<Attempt> create(Post post) override;

    /// Deletes the note; true also when it was gone before.
    Dialogue<bool> remove(Post post, Receipt duplicate) override;

    /// Everything counts together, by token.
    Quota quota(const Target& target) const override;
    bool writes_into_one(const Target& target) const override;

    std::vector<Dialogue<TokenStatus>> check_tokens() override;

  private:
    /// A request by the right that we have at the place.
    HttpRequest request(const GitlabTarget& place, const char* method, std::string url,
                        std::string body = {}) const;
    /// The namespace whose token is used at the place; "": none of them.
    std::string namespace_of(const GitlabTarget& place) const;
    /// "" when there is none.
    const std::string& token_at(const GitlabTarget& place) const;
    std::string place_url(const GitlabTarget& place) const;
    std::string note_url(const GitlabTarget& place, const std::string& id) const;
    /// The notes with the post's marker, or why they could not be read.
    Dialogue<ReadOf<std::vector<RemotePost>>> read_marked(Post post, GitlabTarget place) const;
    /// The note that is written into; nullopt when it is gone, or not ours.
    Dialogue<tl::expected<std::optional<RemotePost>, Attempt>> shown(GitlabTarget place);
    /// nullopt: there is nothing to write into.
    Dialogue<std::optional<Attempt>> edit(Post post, GitlabTarget place);
    Dialogue<Attempt> post_new(Post post, GitlabTarget place);
    /// Our account, or why GitLab could not be asked for it.
    Dialogue<ReadOf<Account>> ask_who_we_are(GitlabTarget place);
    Dialogue<TokenStatus> check_token(std::string setting, std::string token) const;

    const GitlabSettings settings_;
    const HttpApi api_;
    std::map<std::string, OwnAccount> accounts_;  // by token; all there are
};

}  // namespace epilogue
