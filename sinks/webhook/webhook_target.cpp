#include "sinks/webhook/webhook_target.h"

#include <algorithm>
#include <string_view>

#include "base/ids.h"
#include "base/text.h"
#include "sinks/port/text_rules.h"

namespace epilogue {
namespace {

constexpr std::size_t max_name_bytes = 64;
constexpr std::size_t max_url_bytes = 2000;

bool is_name(std::string_view text) {
    return !text.empty() && text.size() <= max_name_bytes &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; });
}

/// A user and password in front of the host are a way to hide it; a fragment is never sent.
bool is_url(std::string_view text) {
    const std::string scheme = lowered(text.substr(0, text.find("://")));
    if (text.size() > max_url_bytes || (scheme != "http" && scheme != "https")) return false;
    const std::string_view rest = text.substr(std::min(scheme.size() + 3, text.size()));
    const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
    return !authority.empty() && authority.find_first_of("@\\") == std::string_view::npos &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f' && c != '#'; });
}

constexpr TextRule name_rule{is_name, "the name of a [webhook.endpoints.<name>]"};
constexpr TextRule url_rule{is_url,
                            "http[s]://HOST[:PORT][/PATH][?QUERY], without a user, of 2,000 bytes at most"};

WebhookTarget read_short(const ProcessorReader& json) {
    const bool has_url = json.member("url").is_given();
    if (has_url && json.member("endpoint").is_given()) json.refuse("url", "none beside \"endpoint\"");
    if (has_url) return {.endpoint = {}, .url = json.text("url", url_rule)};
    return {.endpoint = json.text("endpoint", name_rule), .url = {}};
}

void write_short(const ProcessorWriter& json, const WebhookTarget& target) {
    json.optional_text("endpoint", target.endpoint);
    json.optional_text("url", target.url);
}

}  // namespace

std::string WebhookTarget::describe() const {
    if (!endpoint.empty()) return endpoint;
    constexpr std::size_t digits = 8;
    const std::size_t query = url.find('?');
    if (query == std::string::npos) return url;
    return url.substr(0, query) + "?" + sha256_hex(url.substr(query)).substr(0, digits);
}

std::vector<ProcessorShape> webhook_shapes() {
    return {shape_of("webhook", "", read_short, write_short)};
}

std::vector<WantedPart> webhook_members() {
    return {{"endpoint"}, {"url"}};
}

}  // namespace epilogue
