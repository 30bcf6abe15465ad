// Jira: comments on issues, of Cloud and of Data Center. (sinks.md §2.3, contract §6)
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "sinks/jira/jira_target.h"
#include "sinks/port/http_api.h"
#include "sinks/port/remote_post.h"
#include "sinks/port/sink.h"

namespace epilogue {

struct JiraSettings {
    std::string api_url;          ///< of the site, without "/rest/…"
    std::string email;            ///< with the token, of Cloud; empty: the token is Data Center's
    std::string token;            ///< empty: every write is unauthorised, without a request
    std::string mac_key;          ///< of the markers
    std::string version;          ///< ours, for the User-Agent
    std::string budget = "auto";  ///< [jira] budget
};

/// Thread-safe; remembers nothing but who the token makes us. One create() is one request.
class JiraSink final : public Sink {
  public:
    explicit JiraSink(JiraSettings settings);

    /// Wiki markup; the marker is its last line, a small one that a reader sees: wiki markup has no comments.
    std::string render(const Summary& summary, const DeliveryId& delivery_id) const override;

    /// Reads the comments, the newest first, back to five minutes before the first attempt. One is ours when
    /// a whole line of it is the row's marker and we are its author.
    Dialogue<LookupResult> find(Post post) override;

    /// Posts a comment.
    Dialogue<Attempt> create(Post post) override;

    /// Deletes the comment; true also when it was gone before.
    Dialogue<bool> remove(Post post, Receipt duplicate) override;

    /// Everything counts together, by token.
    Quota quota(const Target& target) const override;

    std::vector<Dialogue<TokenStatus>> check_tokens() override;

  private:
    /// Why nothing may be asked for the target: no token, or another Jira than ours; "" when it may.
    std::string objection_to(const JiraTarget& place) const;
    std::string comments_url(const JiraTarget& place) const;
    /// The comments with the post's marker, or why they could not be read.
    Dialogue<ReadOf<std::vector<RemotePost>>> read_marked(Post post, JiraTarget place) const;
    /// Our account, or why Jira could not be asked for it.
    Dialogue<ReadOf<Account>> ask_who_we_are();
    Dialogue<TokenStatus> check_token() const;

    const JiraSettings settings_;
    const HttpApi api_;
    OwnAccount me_;
};

}  // namespace epilogue
