#include "sinks/log/log.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/redacted.h"
#include "base/text.h"
#include "sinks/format/strip_unsafe.h"

namespace epilogue {

LogSink::LogSink(WriteLine write) : write_(std::move(write)) {}

std::string LogSink::render(const Summary& summary, const DeliveryId&) const {
    std::string text;
    for (const auto& part : {summary.headline, summary.final_message, summary.facts, summary.link}) {
        if (trimmed(part).empty()) continue;
        if (!text.empty()) text += "\n\n";
        text += redacted(without_unseen(part));
    }
    return text;
}

LookupResult LogSink::find(const Post&) {
    LookupResult lookup;
    lookup.ok = true;
    return lookup;
}

Attempt LogSink::create(const Post& post) {
    // JSON escapes line ends, so the text and the ids stay on one line.
    const nlohmann::ordered_json line{
        {"summary", post.body}, {"conversation_id", post.conversation_id}, {"delivery_id", post.delivery_id}};
    Attempt attempt;
    if (!write_(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))) {
        attempt.answer = Answer::retry;
        attempt.cause = "the line could not be written";
        return attempt;
    }
    attempt.answer = Answer::sent;
    attempt.receipt.remote_id = post.delivery_id;
    return attempt;
}

bool LogSink::remove(const Post&, const Receipt&) {
    return false;
}

}  // namespace epilogue
