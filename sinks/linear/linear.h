// Linear: comments on issues. (sinks.md §2.3, contract §6)
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/ids.h"
#include "sinks/linear/linear_target.h"
#include "sinks/port/http_api.h"
#include "sinks/port/post_place.h"
#include "sinks/port/sink.h"

namespace epilogue {

struct LinearSettings {
    std::string api_url;  ///< of the GraphQL API
    std::string token;    ///< of workspaces without one of their own; empty: every write is unauthorised
    std::map<std::string, std::string> workspaces = {};  ///< what rows call the workspace -> token
    std::string version = {};                            ///< ours, for the User-Agent
    std::string budget = "auto";                         ///< [linear] budget
};

/// The id of the delivery's comment: the delivery's own, marked as a UUID of version 4, which is what Linear
/// takes.
std::string linear_comment_id(const DeliveryId& delivery_id);

/// Linear lets who makes a comment choose its id, and takes an id once. So a comment is looked up by it, and
/// a second one of a delivery cannot be. Thread-safe; remembers nothing.
class LinearSink final : public Sink {
  public:
    explicit LinearSink(LinearSettings settings);

    /// Markdown without a marker: the comment's id says whose it is.
    std::string render(const Summary& summary, const DeliveryId& delivery_id) const override;
    /// Asks for the comment of our id. It is ours when we wrote it.
    Dialogue<LookupResult> find(Post post) override;
    /// Posts a comment under our id. After a final no it is looked for: the id may be taken, by ourselves.
    Dialogue<Attempt> create(Post post) override;
    /// Deletes the comment.
    Dialogue<bool> remove(Post post, Receipt duplicate) override;
    /// Everything counts together, by token.
    Quota quota(const Target& target) const override;
    std::vector<Dialogue<TokenStatus>> check_tokens() override;
    DuplicateCheck duplicate_check() const override { return DuplicateCheck::never; }

  private:
    /// One token, with what is needed to use it.
    struct Access {
        Access(const LinearSettings& settings, std::string of, const std::string& its_token);

        std::string setting() const;

        const std::string workspace;  ///< lower case; empty: of those that have none of their own
        const std::string token;
        const HttpApi api;
    };

    using Place = PostPlace<LinearTarget, const Access>;
    Place place_of(const Post& post) const;
    /// The token for a row; null when it names its issue by the key, and a workspace that has none.
    const Access* access_of(const LinearTarget& place) const;
    static Dialogue<LookupResult> look(Post post, const Access* at);
    static Dialogue<TokenStatus> check_token(const Access* at);

    const std::string budget_;
    std::map<std::string, Access> accesses_;  // by workspace; "" is always there
};

}  // namespace epilogue
