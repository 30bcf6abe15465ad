#include "base/io/kafka_hooks.h"

#include <array>

#include "base/io/log.h"

namespace epilogue {

std::string without_noise(std::string_view text) {
    if (text.starts_with("[thrd:"))
        if (const auto end = text.find("]: "); end != std::string_view::npos) text.remove_prefix(end + 3);
    if (const auto tried = text.rfind(" (after "); tried != std::string_view::npos && text.ends_with(')'))
        text.remove_suffix(text.size() - tried);
    return std::string(text);
}

void KafkaHooks::install(rd_kafka_conf_t* conf) {
    rd_kafka_conf_set_opaque(conf, this);
    rd_kafka_conf_set_log_cb(conf, on_log);
    rd_kafka_conf_set_error_cb(conf, on_error);
    std::array<char, 32> protocol{};
    std::size_t size = protocol.size();
    if (rd_kafka_conf_get(conf, "security.protocol", protocol.data(), &size) == RD_KAFKA_CONF_OK)
        protocol_ = protocol.data();
    if (!token_) return;
    rd_kafka_conf_set_oauthbearer_token_refresh_cb(conf, on_token_wanted);
    rd_kafka_conf_enable_sasl_queue(conf, 1);
}

void KafkaHooks::start(rd_kafka_t* client) const {
    if (!token_) return;
    // Refused only where the mechanism is another one: then no token is ever wanted.
    rd_kafka_error_destroy(rd_kafka_sasl_background_callbacks_enable(client));
}

std::string KafkaHooks::last_failure() const {
    const std::lock_guard lock(mutex_);
    return last_failure_;
}

std::string KafkaHooks::take_news() {
    const std::lock_guard lock(mutex_);
    return std::exchange(is_news_, false) ? last_failure_ : "";
}

std::string KafkaHooks::with_reason(const std::string& what) const {
    const std::string reason = last_failure();
    return reason.empty() ? what : what + ": " + reason;
}

void KafkaHooks::forget() {
    const std::lock_guard lock(mutex_);
    last_failure_.clear();
    is_news_ = false;
}

void KafkaHooks::failed(std::string_view reason) {
    const std::lock_guard lock(mutex_);
    last_failure_ = without_noise(reason);
    // A listener that wants TLS ends a connection without it, and says nothing.
    const bool is_ended = last_failure_.find(": Disconnected") != std::string::npos;
    if (is_ended && !protocol_.ends_with("ssl"))
        last_failure_ += "; perhaps the listener wants TLS: security.protocol is " + protocol_;
    is_news_ = true;
}

void KafkaHooks::on_log(const rd_kafka_t* client, int level, const char* facility, const char* text) {
    constexpr int warning = 4;  // syslog levels: smaller is worse
    if (level <= warning) log_debug("librdkafka", {{"facility", facility}, {"text", text}});
    // A broker that ends the connection is told at a lower level than other failures, and by no error event.
    auto* const hooks = client == nullptr ? nullptr : static_cast<KafkaHooks*>(rd_kafka_opaque(client));
    if (hooks != nullptr && std::string_view(facility) == "FAIL") hooks->failed(text);
}

void KafkaHooks::on_error(rd_kafka_t*, int error, const char* reason, void* opaque) {
    // That all brokers are down says less than why the last of them is.
    if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) return;
    static_cast<KafkaHooks*>(opaque)->failed(reason);
}

void KafkaHooks::on_token_wanted(rd_kafka_t* client, const char*, void* opaque) {
    auto& hooks = *static_cast<KafkaHooks*>(opaque);
    const auto token = hooks.token_();
    std::array<char, 512> why{};
    const bool is_taken =
        token &&
        rd_kafka_oauthbearer_set_token(
            client, token->text.reveal().c_str(),
            std::chrono::floor<std::chrono::milliseconds>(token->expires).time_since_epoch().count(),
            token->principal.c_str(), nullptr, 0, why.data(), why.size()) == RD_KAFKA_RESP_ERR_NO_ERROR;
    if (is_taken) return;
    const std::string reason = "no OAuth token: " + (token ? std::string(why.data()) : token.error().text);
    hooks.failed(reason);
    rd_kafka_oauthbearer_set_token_failure(client, reason.c_str());
}

}  // namespace epilogue
