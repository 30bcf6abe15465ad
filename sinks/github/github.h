// GitHub: comments on issues and pull requests, replies in review threads. (sinks.md §2.3, contract §6)
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "sinks/github/github_access.h"
#include "sinks/github/github_target.h"
#include "sinks/port/http_api.h"
#include "sinks/port/remote_post.h"
#include "sinks/port/sink.h"

namespace epilogue {

struct GithubSettings {
    std::string api_url = "https://api.github.com";
    std::string token = {};   ///< neither this nor an App: every write is unauthorised, without a request
    std::int64_t app_id = 0;  ///< of an App; 0: none
    std::string private_key = {};  ///< the App's, as PEM
    std::string mac_key = {};      ///< of the markers
    std::string version = {};      ///< ours, for the User-Agent
    std::string budget = "auto";   ///< [github] budget
    std::function<Instant()> now = system_now;
};

/// Thread-safe; remembers nothing but its right to post (github_access.h) and who that makes us.
class GithubSink final : public Sink {
  public:
    explicit GithubSink(GithubSettings settings);

    std::string render(const Summary& summary, const DeliveryId& delivery_id) const override;

    /// Reads the comments changed since five minutes before the first attempt, all pages; for a review thread
    /// both the pull request's review comments and its conversation. A comment is ours when a whole line of
    /// it is the row's marker and we are its author: the token's account, or the App's bot. A token that may
    /// not ask who it is (one of an App, made elsewhere) leaves that open until its first comment; till then
    /// the marker decides: the author of the oldest comment with it is us, because its MAC was not known
    /// before.
    Dialogue<LookupResult> find(Post post) override;

    /// Posts a comment on the issue or pull request, or a reply in the thread of review_comment_id: to the
    /// comment that begins it. When that one is gone, which GitHub says before anything is written, the post
    /// goes to the pull request's conversation, with a link to where the thread was.
    /// With `comment_id` the post is written into that comment, when it is ours and stands there; else it
    /// becomes a comment of its own. Writing it again changes nothing. With `notify` the comment that tells
    /// of it is the one that is looked for.
    Dialogue<Attempt> create(Post post) override;

    /// Deletes the comment; true also when it was gone before.
    Dialogue<bool> remove(Post post, Receipt duplicate) override;

    /// Everything counts together, by token; of an App by installation.
    Quota quota(const Target& target) const override;
    bool writes_into_one(const Target& target) const override;

    std::vector<Dialogue<TokenStatus>> check_tokens() override;

  private:
    std::string repo_url(const GithubTarget& place) const;
    std::string conversation_url(const GithubTarget& place) const;
    std::string thread_link(const GithubTarget& place) const;
    /// The comments of `list` with the post's marker, or why they could not be read.
    Dialogue<ReadOf<std::vector<RemotePost>>> read_marked(Post post, GithubTarget place, std::string list);
    /// The comment that is written into; nullopt when it is gone, or not ours.
    Dialogue<tl::expected<std::optional<RemotePost>, Attempt>> shown(GithubTarget place);
    /// nullopt: there is nothing to write into.
    Dialogue<std::optional<Attempt>> edit(Post post, GithubTarget place);
    Dialogue<Attempt> post_new(Post post, GithubTarget place);
    std::string edited_url(const GithubTarget& place) const;
    Dialogue<Attempt> comment(GithubTarget place, std::string url, std::string body);
    Dialogue<Attempt> reply(Post post, GithubTarget place);
    /// Our account, or why GitHub could not be asked for it.
    Dialogue<ReadOf<Account>> ask_who_we_are();
    Dialogue<TokenStatus> check_token();
    Dialogue<TokenStatus> check_app();

    const GithubSettings settings_;
    const HttpApi api_;
    GithubAccess access_;
    OwnAccount me_;
};

}  // namespace epilogue
