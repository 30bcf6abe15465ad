#include "sinks/log/log.h"

#include <nlohmann/json.hpp>

#include "base/redacted.h"
#include "base/text.h"
#include "sinks/format/strip_unsafe.h"
#include "sinks/port/remote_post.h"
#include "sinks/port/transport.h"

namespace epilogue {

std::string LogSink::render(const Summary& summary, const DeliveryId&) const {
    std::string text;
    for (const auto& part : {summary.headline, summary.final_message, summary.facts, summary.link}) {
        if (trimmed(part).empty()) continue;
        if (!text.empty()) text += "\n\n";
        text += redacted(without_unseen(part));
    }
    return text;
}

Dialogue<LookupResult> LogSink::find(Post) {
    LookupResult lookup;
    lookup.ok = true;
    co_return lookup;
}

Dialogue<Attempt> LogSink::create(Post post) {
    // JSON escapes line ends, so the text and the ids stay on one line.
    const nlohmann::ordered_json line{
        {"summary", post.body}, {"conversation_id", post.conversation_id}, {"delivery_id", post.delivery_id}};
    auto request = log_line(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    const auto answer = co_await request;
    if (answer.outcome != HttpOutcome::answered) co_return not_sent(Answer::retry, answer.cause);
    Attempt attempt;
    attempt.answer = Answer::sent;
    attempt.receipt.remote_id = post.delivery_id;
    co_return attempt;
}

Dialogue<bool> LogSink::remove(Post, Receipt) {
    co_return false;
}

}  // namespace epilogue
