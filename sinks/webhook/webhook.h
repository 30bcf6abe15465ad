// The `webhook` processor: the outcome as JSON, signed, to a receiver of one's own. (sinks.md §2.3)
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/egress.h"
#include "base/ids.h"
#include "base/instant.h"
#include "sinks/port/sink.h"
#include "sinks/webhook/webhook_target.h"

namespace epilogue {

struct WebhookSettings {
    struct Endpoint {
        std::string url;
        std::vector<std::string> secrets;
    };
    std::vector<std::string> secrets;           ///< of addresses in rows; empty: every such write is
                                                ///< unauthorised, without a request
    std::map<std::string, Endpoint> endpoints;  ///< by the names that rows use
    std::shared_ptr<const EgressRules> egress;  ///< of addresses in rows; endpoints may be anywhere
    std::function<Instant()> now = system_now;  ///< what signatures are dated by
    std::string version;                        ///< ours, for the User-Agent
};

/// A receiver cannot be looked at, so this sink is at-least-once: find() sees nothing, and what may have
/// arrived is sent again, under the same webhook-id, by which the receiver drops repeats.
class WebhookSink final : public Sink {
  public:
    explicit WebhookSink(WebhookSettings settings);

    /// The outcome as JSON: sinks/format/outcome_body.h.
    std::string render(const Summary& summary, const DeliveryId& delivery_id) const override;
    /// Never fails, and never finds anything.
    Dialogue<LookupResult> find(Post post) override;
    /// One POST, signed with every secret of its receiver and dated now.
    Dialogue<Attempt> create(Post post) override;
    /// False: what arrived stays.
    Dialogue<bool> remove(Post post, Receipt duplicate) override;
    /// Each receiver's host for itself: one that is down holds up no other.
    Quota quota(const Target& target) const override;
    /// Whether there is something to sign with, for each receiver that is configured, and for those that rows
    /// name by their address. No request is made.
    std::vector<Dialogue<TokenStatus>> check_tokens() override;
    DuplicateCheck duplicate_check() const override { return DuplicateCheck::never; }

  private:
    const WebhookSettings settings_;
};

/// What the receiver's answer means. Its body is not repeated: it may be of a host that no reader may ask.
Attempt classify_webhook(const HttpAnswer& answer);

}  // namespace epilogue
