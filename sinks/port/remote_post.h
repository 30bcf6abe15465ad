// A post as a platform shows it, who wrote it, and what all sinks say of looking, posting and
// deleting in the same way.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/http_message.h"
#include "base/instant.h"
#include "sinks/port/sink.h"

namespace epilogue {

struct Account {
    std::int64_t id = 0;  ///< 0: not given
    std::string name;     ///< empty: not given

    /// By id; by name, in either case, when one of the two lacks an id.
    bool same_as(const Account& other) const;
    /// True when the platform told neither id nor name.
    bool unnamed() const { return id == 0 && name.empty(); }
};

struct RemotePost {
    std::int64_t id = 0;
    std::string url;
    std::string body;
    Account author;
    std::optional<Instant> created_at;
};

/// Who a credential makes us: what one dialogue learned, for those after it. Thread-safe.
class OwnAccount {
  public:
    /// nullopt: not asked yet; unnamed: the platform does not tell this credential who it is.
    std::optional<Account> known() const;
    /// What the platform answered, or the author of a post of ours; one with a name stays.
    void remember(const Account& me);

  private:
    mutable std::mutex mutex_;
    std::optional<Account> me_;
};

/// What a look-up has read on its way, or what becomes of it when that could not be read.
template <class What>
struct ReadOf {
    ReadOf(What read) : what(std::move(read)) {}
    ReadOf(LookupResult failed) : failure(std::move(failed)) {}

    std::optional<What> what;
    LookupResult failure;  ///< when there is nothing
};

/// Those of `marked` that `me` wrote, oldest first, each once. When the platform does not tell who we are,
/// the author of the oldest is us: its marker was not known before.
LookupResult own_posts(std::vector<RemotePost> marked, Account me);

/// A look-up of which nothing may be concluded.
LookupResult lookup_failed(std::string cause);
/// The same, after the platform has answered: with something that is of no use.
LookupResult unusable_answer(std::string cause);
/// A look-up that failed when the platform had given a part of its answer: that says nothing of the platform
/// as a whole. As `failure` otherwise.
LookupResult later_page_failed(LookupResult failure);
/// A look-up of which nothing may be concluded, and it will fail again when it is tried again.
LookupResult forbidden(std::string cause);

/// A look-up that was not made, because there is no right to: as an attempt to post found.
LookupResult not_looked(const Attempt& no_right);

/// An attempt that was not made, because what it needed to know could not be read.
Attempt not_written(const LookupResult& failure);

/// A report on a token that has got `answer` so far: accepted by a 2xx, refused by a 401, else unreachable.
TokenStatus token_status(std::string setting, const HttpAnswer& answer);
/// May::yes when one of `wanted` is among the scopes, unknown when they are not told.
Permission permission_by(const TokenStatus& report, const std::vector<std::string_view>& wanted);

/// An attempt that made no request.
Attempt not_sent(Answer answer, std::string cause);

/// How often a list of several pages is read. Its pages are counted from its beginning: what is removed while
/// they are read moves a post from a page that is still to come to one that was read, and it would be missed.
constexpr int readings_of_pages = 2;

/// From when on a look-up reads: five minutes before the first attempt, for the platform's clock is not ours.
Instant look_up_from(const Post& post);

/// What GitHub and GitLab name a post by.
bool is_number(std::string_view id);

/// The answer to a DELETE: the post is gone, now or before.
bool is_deleted(const HttpAnswer& answer);

}  // namespace epilogue
