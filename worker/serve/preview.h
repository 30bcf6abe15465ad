// What a callback would post now: made by the sink that would post it, and kept from leaving.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/http_message.h"
#include "base/ids.h"
#include "sinks/registry.h"
#include "worker/apply/planner.h"
#include "worker/mysql/mysql_store.h"

namespace epilogue {

/// What stands behind a preview.
enum class PreviewBasis {
    delivery,   ///< a post that is owed: the oldest open one
    last_turn,  ///< the conversation's last end
    open_turn,  ///< no turn has ended yet: the present one, as if it finished now
    nothing,    ///< nothing was read of the conversation: an empty turn stands for it
};
std::string_view name_of(PreviewBasis basis);

struct Preview {
    PreviewBasis basis = PreviewBasis::nothing;
    std::string note;  ///< for people: what the basis means, and whether it would be posted at all
    ConversationId conversation_id;
    TurnKey turn_key;
    std::string verdict;
    std::string source;  ///< the summary source that its words are of
    DeliveryId delivery_id;
    std::string sink;
    std::string target;
    /// The write, secrets hidden; of the `log` processor the method is LOG and the body its line. nullopt:
    /// nothing would be posted, or the platform could not be asked where.
    std::optional<HttpRequest> request;
    std::string cause;      ///< why there is no request
    bool may_pass = false;  ///< that may be otherwise the next time
};

/// The preview of one callback; nullopt when there is none. Posts nothing and changes nothing; a review
/// thread is asked for on the platform, as before each post. Errors: the database's; poison when the row's
/// processor cannot be used. `http_timeout`: of the questions to the platform together.
Result<std::optional<Preview>> preview(MysqlStore& store, const Planner& planner, const SinkSettings& sinks,
                                       std::chrono::milliseconds http_timeout, CallbackId callback_id);

}  // namespace epilogue
