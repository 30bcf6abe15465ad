// Jira: comments on issues, of Cloud and of Data Center. (sinks.md §2.3, contract §6)
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/ids.h"
#include "sinks/jira/jira_sites.h"
#include "sinks/jira/jira_target.h"
#include "sinks/port/post_place.h"
#include "sinks/port/remote_post.h"
#include "sinks/port/sink.h"

namespace epilogue {

struct JiraSettings {
    JiraSite usual;                         ///< of rows that name no site
    std::map<std::string, JiraSite> sites;  ///< by what rows call them
    std::string mac_key;                    ///< of the markers
    std::string version;                    ///< ours, for the User-Agent
    std::string budget = "auto";            ///< [jira] budget
};

/// Thread-safe; remembers nothing but who each token makes us. One create() is one request.
class JiraSink final : public Sink {
  public:
    explicit JiraSink(JiraSettings settings);

    /// Wiki markup; the marker is its last line, a small one that a reader sees: wiki markup has no comments.
    std::string render(const Summary& summary, const DeliveryId& delivery_id) const override;

    /// Reads the comments, the newest first, back to five minutes before the first attempt. One is ours when
    /// a whole line of it is the row's marker and we are its author.
    Dialogue<LookupResult> find(Post post) override;

    /// Posts a comment; at a site that is not configured nothing is asked, and it waits for one.
    Dialogue<Attempt> create(Post post) override;

    /// Deletes the comment; true also when it was gone before.
    Dialogue<bool> remove(Post post, Receipt duplicate) override;

    /// Everything counts together, by token; a site that is not configured is a credential of its own.
    Quota quota(const Target& target) const override;

    std::vector<Dialogue<TokenStatus>> check_tokens() override;

  private:
    using Access = JiraSites::Access;

    using Place = PostPlace<JiraTarget, Access>;
    Place place_of(const Post& post);
    /// The comments with the post's marker, or why they could not be read.
    Dialogue<ReadOf<std::vector<RemotePost>>> read_marked(Post post, JiraTarget place, Access* at) const;
    /// Our account at a site, or why that could not be asked for it.
    static Dialogue<ReadOf<Account>> ask_who_we_are(Access* at);
    static Dialogue<TokenStatus> check_token(const Access* at);

    const std::string mac_key_;
    const std::string budget_;
    JiraSites sites_;
};

}  // namespace epilogue
