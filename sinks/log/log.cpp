#include "sinks/log/log.h"

#include <string_view>

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/redacted.h"
#include "base/text.h"
#include "sinks/format/outcome_body.h"
#include "sinks/format/strip_unsafe.h"
#include "sinks/port/remote_post.h"
#include "sinks/port/transport.h"

namespace epilogue {

namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Summary& summary) {
    std::string text;
    for (const auto& part : {summary.headline, summary.final_message, summary.facts, summary.link}) {
        if (trimmed(part).empty()) continue;
        if (!text.empty()) text += "\n\n";
        text += redacted(without_unseen(part));
    }
    return text;
}

/// The members of `first` and then those of `second`, both of which are texts of objects that have some.
std::string joined(const std::string& first, std::string_view second) {
    return first.substr(0, first.size() - 1) + "," + std::string(second.substr(1));
}

}  // namespace

std::string LogSink::render(const Summary& summary, const DeliveryId& delivery_id) const {
    return text_of(summary) + "\n" + outcome_body(summary, delivery_id);
}

Dialogue<LookupResult> LogSink::find(Post) {
    LookupResult lookup;
    lookup.ok = true;
    co_return lookup;
}

Dialogue<Attempt> LogSink::create(Post post) {
    // A body that was frozen before there were outcomes is the text alone.
    const auto last_line = std::string_view(post.body).substr(post.body.rfind('\n') + 1);
    const bool has_outcome = last_line.size() < post.body.size() && is_outcome_body(last_line);
    const auto text = post.body.substr(0, post.body.size() - (has_outcome ? last_line.size() + 1 : 0));
    // JSON escapes line ends, so the text and the ids stay on one line.
    const auto first = json_line(Json{
        {"conversation_id", post.conversation_id}, {"delivery_id", post.delivery_id}, {"summary", text}});
    auto request = log_line(has_outcome ? joined(first, last_line) : first);
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
