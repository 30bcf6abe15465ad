#include "sinks/webhook/webhook.h"

#include <utility>

#include <fmt/format.h>

#include "sinks/format/outcome_body.h"
#include "sinks/port/http_answer.h"
#include "sinks/port/remote_post.h"
#include "sinks/webhook/webhook_signature.h"

namespace epilogue {
namespace {

constexpr const char* secrets_of_rows = "[webhook] secrets";
constexpr std::size_t max_answer_bytes = std::size_t{1} << 20U;  ///< it is not read, only taken

/// A receiver, as settings and target say; without secrets when nothing may be sent there.
struct Receiver {
    std::string url;
    std::vector<std::string> keys;
    std::string setting;  ///< where its secrets are configured
    bool is_from_row = false;
};

std::vector<std::string> keys_of(const std::vector<std::string>& secrets) {
    std::vector<std::string> keys;
    for (const std::string& secret : secrets)
        if (auto key = webhook_key(secret)) keys.push_back(std::move(*key));
    return keys;
}

std::string setting_of(const std::string& endpoint) {
    return "[webhook.endpoints." + endpoint + "]";
}

Receiver receiver_of(const WebhookSettings& settings, const WebhookTarget& target) {
    if (target.endpoint.empty()) return {target.url, keys_of(settings.secrets), secrets_of_rows, true};
    const std::string setting = setting_of(target.endpoint);
    const auto found = settings.endpoints.find(target.endpoint);
    if (found == settings.endpoints.end()) return {"", {}, setting, false};
    return {found->second.url, keys_of(found->second.secrets), setting, false};
}

std::string signatures(const Receiver& receiver, const Post& post, const std::string& timestamp) {
    std::string all;
    for (const std::string& key : receiver.keys)
        all +=
            (all.empty() ? "" : " ") + webhook_signature(key, post.delivery_id.text(), timestamp, post.body);
    return all;
}

Dialogue<TokenStatus> check_secrets(std::string setting, std::vector<std::string> secrets) {
    const bool has_key = !keys_of(secrets).empty();
    co_return TokenStatus{.setting = std::move(setting),
                          .state = has_key ? TokenState::accepted : TokenState::missing,
                          .in_doubt = InDoubt::sends_again,
                          .is_asked = false};
}

}  // namespace

WebhookSink::WebhookSink(WebhookSettings settings) : settings_(std::move(settings)) {}

std::string WebhookSink::render(const Summary& summary, const DeliveryId& delivery_id) const {
    return outcome_body(summary, delivery_id);
}

Dialogue<LookupResult> WebhookSink::find(Post) {
    LookupResult lookup;
    lookup.ok = true;
    co_return lookup;
}

Dialogue<Attempt> WebhookSink::create(Post post) {
    const auto* target = target_in<WebhookTarget>(post.target);
    if (target == nullptr) co_return not_sent(Answer::refused, "the target is no webhook");
    const Receiver receiver = receiver_of(settings_, *target);
    if (receiver.keys.empty())
        co_return not_sent(Answer::unauthorised, "no secret to sign with: set " + receiver.setting);
    const auto since_epoch = settings_.now().time_since_epoch();
    const std::string timestamp =
        fmt::format("{}", std::chrono::duration_cast<std::chrono::seconds>(since_epoch).count());
    const std::string& id = post.delivery_id.text();
    HttpRequest request;
    request.method = "POST";
    request.url = receiver.url;
    request.headers = {
        "Content-Type: application/json",  "webhook-id: " + id,
        "webhook-timestamp: " + timestamp, "webhook-signature: " + signatures(receiver, post, timestamp),
        "Idempotency-Key: \"" + id + "\"", "User-Agent: epilogue/" + settings_.version};
    request.body = post.body;
    request.max_answer_bytes = max_answer_bytes;
    if (receiver.is_from_row) request.egress = settings_.egress;
    const auto answer = co_await request;
    auto attempt = classify_webhook(answer);
    if (attempt.answer == Answer::sent) attempt.receipt.remote_id = id;
    co_return attempt;
}

Dialogue<bool> WebhookSink::remove(Post, Receipt) {
    co_return false;
}

Quota WebhookSink::quota(const Target& target) const {
    const auto* place = target_in<WebhookTarget>(target);
    const Receiver receiver = receiver_of(settings_, place == nullptr ? WebhookTarget{} : *place);
    const auto credential =
        credential_of("webhook", receiver.keys.empty() ? "" : receiver.keys.front(), receiver.url);
    return {.credential = credential,
            .setting = receiver.setting,
            .window = credential,
            .look_window = credential,
            .limits = {}};
}

std::vector<Dialogue<TokenStatus>> WebhookSink::check_tokens() {
    std::vector<Dialogue<TokenStatus>> checks;
    // Who names receivers by [webhook.endpoints] alone needs none for addresses.
    if (!settings_.secrets.empty() || settings_.endpoints.empty())
        checks.push_back(check_secrets(secrets_of_rows, settings_.secrets));
    for (const auto& [name, endpoint] : settings_.endpoints)
        checks.push_back(check_secrets(setting_of(name), endpoint.secrets));
    return checks;
}

Attempt classify_webhook(const HttpAnswer& answer) {
    Attempt attempt;
    attempt.platform = platform_state(answer);
    attempt.cause = answer.outcome == HttpOutcome::answered ? fmt::format("{}", answer.status) : answer.cause;
    if (answer.outcome == HttpOutcome::uncertain) return attempt;
    if (answer.outcome == HttpOutcome::not_sent) {
        attempt.answer = answer.is_barred ? Answer::refused : Answer::retry;
        if (answer.is_barred) attempt.platform = PlatformState::not_asked;
        return attempt;
    }
    const int status = answer.status;
    const auto wait = retry_after(answer, time_of(answer));
    if (status / 100 == 2) {
        attempt.answer = Answer::sent;
        attempt.cause.clear();
    } else if (status == 429 || (status == 503 && wait)) {
        attempt.answer = Answer::retry;
        attempt.rate_limited = true;
        attempt.not_before = wait;
    } else if (status == 401 || status == 403) {
        attempt.answer = Answer::unauthorised;
        attempt.scope_is_target = true;
    } else if (status >= 500 || status == 408 || status == 425) {
        // Taken or not: what is sent again has the same id.
        attempt.answer = Answer::retry;
    } else {
        attempt.answer = Answer::refused;
        if (status == 410) attempt.cause = "410: the receiver is gone for good";
        if (status / 100 == 3) attempt.cause += ": redirects are not followed";
    }
    return attempt;
}

}  // namespace epilogue
