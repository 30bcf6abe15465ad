#include "agent/address.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/text.h"

namespace epilogue::agent {
namespace {

bool is_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto [rest, fault] = std::from_chars(text.data(), text.data() + text.size(), port);
    return fault == std::errc() && rest == text.data() + text.size() && port > 0;
}

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// What may stand in a host: letters, digits and a few signs, nothing that a header or URL would act on.
bool is_host(std::string_view text, bool brackets) {
    const std::string_view signs = brackets ? ":.%" : "-._";
    return !text.empty() && std::all_of(text.begin(), text.end(), [signs](char c) {
        return is_plain(c) || signs.find(c) != std::string_view::npos;
    });
}

bool is_prefix(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return c > ' ' && c < 0x7F && c != '?' && c != '#' && c != '"'; });
}

}  // namespace

std::string Address::url_host() const {
    return lowered(host.find(':') == std::string::npos ? host : "[" + host + "]");
}

std::string Address::authority() const {
    return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
}

std::string Address::url() const {
    return (tls ? "https://" : "http://") + authority() + prefix;
}

std::optional<Address> parse_address(std::string_view url) {
    Address address;
    const std::string scheme = lowered(url.substr(0, url.find("://")));
    if (url.find("://") == std::string_view::npos || (scheme != "http" && scheme != "https"))
        return std::nullopt;
    address.tls = scheme == "https";
    url.remove_prefix(scheme.size() + 3);

    const std::string_view authority = url.substr(0, url.find('/'));
    std::string_view prefix = url.substr(authority.size());
    while (prefix.ends_with('/')) prefix.remove_suffix(1);
    const bool brackets = authority.starts_with('[');
    const std::size_t close = brackets ? authority.find(']') : 0;
    if (close == std::string_view::npos) return std::nullopt;
    const std::size_t colon = authority.find(':', close);
    const std::string_view host =
        brackets ? authority.substr(1, close - 1) : authority.substr(0, authority.find(':'));
    if (brackets && close + 1 != authority.size() && colon != close + 1) return std::nullopt;
    address.host = host;
    address.port = address.tls ? "443" : "80";
    if (colon != std::string_view::npos) address.port = authority.substr(colon + 1);
    address.prefix = prefix;
    if (!is_host(host, brackets) || !is_port(address.port) || !is_prefix(prefix)) return std::nullopt;
    return address;
}

std::string percent_encoded(std::string_view text) {
    std::string encoded;
    for (const char c : text) {
        if (is_plain(c) || c == '-' || c == '.' || c == '_' || c == '~') {
            encoded += c;
        } else {
            constexpr std::string_view digits = "0123456789ABCDEF";
            const auto byte = static_cast<unsigned char>(c);
            encoded += {'%', digits[byte >> 4U], digits[byte & 15U]};
        }
    }
    return encoded;
}

}  // namespace epilogue::agent
