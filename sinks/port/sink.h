// The port behind which a platform stands: look, then write. A sink does no I/O: each operation is a
// dialogue, which says what request it wants next. One dialogue applies at most one write, beside those that
// can be repeated without harm.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/instant.h"
#include "base/result.h"
#include "schemas/summary.h"
#include "sinks/port/dialogue.h"
#include "sinks/port/quota.h"
#include "sinks/port/target.h"
#include "sinks/port/token_status.h"

namespace epilogue {

/// One post that is owed, as its durable row has it.
struct Post {
    DeliveryId delivery_id;
    ConversationId conversation_id;
    Target target;
    std::string
        body;  ///< rendered, cut to size, frozen; holds the marker where the platform's text carries it
    Instant intent_at;  ///< when the first attempt was made durable: look-ups start a little before it
    std::vector<DeliveryId> newer = {};  ///< posts of later turns, where Sink::writes_into_one says so
};

/// A post that is visible on the platform.
struct Receipt {
    std::string remote_id;
    std::string remote_url;
};

/// What a write's answer means for the row. (sinks.md §2: C)
enum class Answer {
    sent,          ///< the platform has it; the receipt is filled
    retry,         ///< a definite no that may become a yes: rate limit, connection refused
    refused,       ///< a definite and final no: not found, locked, invalid
    unauthorised,  ///< a definite no to this credential, until it is mended
    unknown,       ///< it may or may not have been applied
};

constexpr std::string_view name_of(Answer answer) {
    constexpr std::string_view names[] = {"sent", "retry", "refused", "unauthorised", "unknown"};
    return names[static_cast<std::size_t>(answer)];
}

/// What a call shows of the platform as a whole.
enum class PlatformState {
    not_asked,  ///< nothing: no request was made
    answered,   ///< it is there, whatever it answered
    failed,     ///< no connection, no answer in time, or a 5xx
};

struct Attempt {
    Answer answer = Answer::unknown;
    Receipt receipt;            ///< when sent
    std::string cause;          ///< short, for people, without secrets: "403 rate limited"
    bool rate_limited = false;  ///< when retry: refused for its rate
    std::optional<std::chrono::seconds> not_before;  ///< when rate limited: the platform's own waiting time
    bool is_estimate = false;  ///< `not_before` is only the least: the platform named no time
    PlatformState platform = PlatformState::not_asked;
    bool scope_is_target = false;  ///< when unauthorised: at this place; the credential works elsewhere
};

/// What a look-up found: all visible posts of ours with the row's whole marker, oldest first.
struct LookupResult {
    bool ok = false;         ///< false: the look-up failed; `cause` says why and nothing may be concluded
    bool forbidden = false;  ///< it failed and will fail again: no permission
    std::vector<Receipt> found;
    std::string cause;
    bool rate_limited = false;                       ///< it failed because of its rate
    std::optional<std::chrono::seconds> not_before;  ///< when rate limited: the platform's own waiting time
    bool is_estimate = false;  ///< `not_before` is only the least: the platform named no time
    PlatformState platform = PlatformState::not_asked;
};

/// Whether a post that was made is looked at again, to remove a duplicate of it. (contract §10)
enum class DuplicateCheck {
    always,         ///< a while after each post
    after_unknown,  ///< only when it was once not known whether an attempt had been applied
    never,          ///< nothing can be looked at, or duplicates cannot be removed
};

/// Thread-safe: many dialogues go on at the same time. A sink outlives its dialogues; what they learn for one
/// another (who a token makes us) is its own. Nothing throws.
class Sink {
  public:
    Sink() = default;
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;
    virtual ~Sink() = default;

    /// The frozen body for `delivery_id`: sanitised, cut to size, marked. Pure: same input, same bytes.
    virtual std::string render(const Summary& summary, const DeliveryId& delivery_id) const = 0;
    /// Looks for our marker at the target.
    virtual Dialogue<LookupResult> find(Post post) = 0;
    /// At most one write that the platform may have applied and that must not be repeated: another only after
    /// a definite no.
    virtual Dialogue<Attempt> create(Post post) = 0;
    /// Removes a duplicate of ours; true when it is gone.
    virtual Dialogue<bool> remove(Post post, Receipt duplicate) = 0;
    /// Whose limits the calls for this target count against. Pure, and quick: asked in a transaction.
    virtual Quota quota(const Target&) const { return {}; }
    /// A dialogue for each token we have for the platform: what it tells of that one, asked by reads alone.
    /// Empty for a sink without tokens. Behind one that is unreachable the others need not be asked.
    virtual std::vector<Dialogue<TokenStatus>> check_tokens() { return {}; }
    /// Whether all posts for this target are written into one message: then they are made one at a time, and
    /// each is told which are newer than it. Pure, and quick: asked in a transaction.
    virtual bool writes_into_one(const Target&) const { return false; }
    /// When duplicates are looked for.
    virtual DuplicateCheck duplicate_check() const { return DuplicateCheck::always; }
};

}  // namespace epilogue
