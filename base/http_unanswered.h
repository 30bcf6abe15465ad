// What a transport returns for a request that got no answer.
#pragma once

#include <string>
#include <utility>

#include "base/http_message.h"

namespace epilogue {

/// `outcome`: not_sent or uncertain; `cause`: what happened, for people, without secrets.
inline HttpAnswer unanswered(HttpOutcome outcome, std::string cause) {
    HttpAnswer answer;
    answer.outcome = outcome;
    answer.cause = std::move(cause);
    return answer;
}

/// Provably nothing of it was sent.
inline HttpAnswer unsent(std::string cause) {
    return unanswered(HttpOutcome::not_sent, std::move(cause));
}

}  // namespace epilogue
