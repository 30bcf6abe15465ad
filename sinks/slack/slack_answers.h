// Slack's answers as values, and what they mean for a post: an `ok: false` in a 200 is an error too. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/http_message.h"
#include "base/ids.h"
#include "sinks/port/sink.h"

namespace epilogue {

/// Who a token makes us, as auth.test has it; an empty part was not given.
struct SlackAccount {
    std::string user_id;
    std::string bot_id;
};

struct SlackMessage {
    std::string ts;
    SlackAccount author;
    DeliveryId delivery_id;  ///< of our metadata; empty when it has none
};

struct SlackPage {
    std::vector<SlackMessage> messages;
    std::string next_cursor;  ///< empty: this is the last one
};

/// The account; nullopt when the answer is none, or names neither user nor bot.
std::optional<SlackAccount> read_slack_account(const HttpAnswer& answer);

/// The time of the message that was posted, which is its id; "" when the answer does not tell.
std::string read_slack_ts(const HttpAnswer& answer);

/// A page of messages; nullopt when the answer is none.
std::optional<SlackPage> read_slack_page(const HttpAnswer& answer);

/// `error` of an answer with `ok: false`; "" when there is none.
std::string slack_error(const HttpAnswer& answer);

/// True when there is no message of ours to be changed (any more).
bool has_nothing_to_change(const HttpAnswer& answer);

/// True when Slack took no offence but at the blocks: the same text without them may pass.
bool refuses_blocks(const HttpAnswer& answer);

/// What the answer to a new message means.
Attempt classify_slack_message(const HttpAnswer& answer);

/// Why a look-up that got this answer saw nothing.
LookupResult slack_lookup_failed(const HttpAnswer& answer);

}  // namespace epilogue
