#include "sinks/topic/topic.h"

#include <utility>

#include "sinks/format/outcome_body.h"
#include "sinks/port/remote_post.h"
#include "sinks/port/topic_request.h"

namespace epilogue {
namespace {

constexpr const char* setting = "[outcomes] topic";
constexpr const char* no_topic = "no topic: set [outcomes] topic";

PlatformState state_of(const HttpAnswer& answer) {
    return answer.outcome == HttpOutcome::answered ? PlatformState::answered : PlatformState::failed;
}

TopicRecord record_of(const std::string& topic, const Post& post) {
    return {.topic = topic,
            .key = post.conversation_id.text(),
            .delivery_id = post.delivery_id.text(),
            .value = post.body};
}

}  // namespace

std::string TopicSink::render(const Summary& summary, const DeliveryId& delivery_id) const {
    return outcome_body(summary, delivery_id);
}

Dialogue<LookupResult> TopicSink::find(Post post) {
    if (topic_.empty()) co_return forbidden(no_topic);
    auto request = topic_search(record_of(topic_, post), look_up_from(post));
    const auto answer = co_await request;
    LookupResult lookup = lookup_failed(answer.cause);
    lookup.platform = state_of(answer);
    if (answer.outcome != HttpOutcome::answered) co_return lookup;
    lookup.ok = true;
    if (answer.status == found_status)
        lookup.found = {{.remote_id = post.delivery_id.text(), .remote_url = {}}};
    co_return lookup;
}

Dialogue<Attempt> TopicSink::create(Post post) {
    if (target_in<TopicTarget>(post.target) == nullptr)
        co_return not_sent(Answer::refused, "the target is no topic");
    if (topic_.empty()) co_return not_sent(Answer::unauthorised, no_topic);
    auto request = topic_write(record_of(topic_, post));
    const auto answer = co_await request;
    Attempt attempt = not_sent(Answer::unknown, answer.cause);
    attempt.platform = state_of(answer);
    if (answer.outcome == HttpOutcome::not_sent) attempt.answer = Answer::retry;
    if (answer.outcome != HttpOutcome::answered) co_return attempt;
    attempt.answer = Answer::sent;
    attempt.receipt.remote_id = post.delivery_id.text();
    co_return attempt;
}

Dialogue<bool> TopicSink::remove(Post, Receipt) {
    co_return false;
}

Quota TopicSink::quota(const Target&) const {
    const auto credential = credential_of("topic", topic_);
    return {.credential = credential,
            .setting = setting,
            .window = credential,
            .look_window = credential,
            .limits = {}};
}

std::vector<Dialogue<TokenStatus>> TopicSink::check_tokens() {
    std::vector<Dialogue<TokenStatus>> checks;
    checks.push_back(check_topic(topic_));
    return checks;
}

Dialogue<TokenStatus> TopicSink::check_topic(std::string topic) {
    if (topic.empty()) co_return TokenStatus{.setting = setting};
    auto request = topic_search({.topic = topic, .key = {}, .delivery_id = {}, .value = {}}, system_now());
    const auto answer = co_await request;
    TokenStatus report = token_status(setting, answer);
    report.needed = "write and read the topic";
    report.identity = topic;
    if (answer.outcome != HttpOutcome::answered) co_return report;
    report.state = TokenState::accepted;
    report.look_up = Permission::yes;
    co_return report;
}

}  // namespace epilogue
