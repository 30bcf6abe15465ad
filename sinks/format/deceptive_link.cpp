#include "sinks/format/deceptive_link.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/text.h"

namespace epilogue {
namespace {

constexpr std::string_view zero_width_space = "\xE2\x80\x8B";

/// Endings by which people take a word for a host. Not those that are endings of files as well (.py, .md,
/// .sh).
constexpr std::array<std::string_view, 30> host_endings{
    ".com", ".org",  ".net", ".edu",   ".gov",  ".mil",  ".io",  ".dev", ".app", ".ai",
    ".co",  ".info", ".biz", ".cloud", ".page", ".site", ".xyz", ".top", ".me",  ".tv",
    ".uk",  ".de",   ".eu",  ".fr",    ".ru",   ".cn",   ".jp",  ".us",  ".ch",  ".nl",
};

constexpr std::string_view of_hosts = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:";

struct Address {
    std::string scheme;     ///< lower case, with its colon; empty: relative
    std::string authority;  ///< lower case; of mail: what follows the last '@'

    std::string host() const {
        const auto name = authority.substr(authority.rfind('@') + 1);
        return name.substr(0, name.find(':'));
    }
};

Address address_of(std::string_view url) {
    Address address;
    const auto colon = url.find(':');
    const auto stop = url.find_first_of("/?#\\");
    if (colon != std::string_view::npos && colon < stop) {
        address.scheme = lowered(url.substr(0, colon + 1));
        url.remove_prefix(colon + 1);
    }
    if (address.scheme == "mailto:") {
        const auto recipient = url.substr(0, url.find('?'));
        address.authority = lowered(recipient.substr(recipient.rfind('@') + 1));
        return address;
    }
    // Browsers read a backslash as a slash, and any number of either before the host.
    const auto first = std::min(url.find_first_not_of("/\\"), url.size());
    if (address.scheme.empty() && first < 2) return address;
    url.remove_prefix(first);
    address.authority = lowered(url.substr(0, url.find_first_of("/?#\\")));
    return address;
}

/// The host that a word of a link's text names.
std::optional<std::string> host_named(std::string_view text) {
    const auto scheme = text.find("://");
    const bool has_scheme = scheme != std::string_view::npos;
    if (has_scheme) text.remove_prefix(scheme + 3);
    auto host = lowered(text.substr(0, text.find_first_of("/?#\\:")));
    host = host.substr(host.rfind('@') + 1);
    while (host.ends_with('.')) host.pop_back();
    const bool is_host = has_scheme || host.starts_with("www.") ||
                         std::any_of(host_endings.begin(), host_endings.end(), [&](std::string_view ending) {
                             return host.size() > ending.size() && host.ends_with(ending);
                         });
    return is_host && !host.empty() ? std::optional(host) : std::nullopt;
}

bool same_site(std::string_view named, std::string_view host) {
    return host == named || host.ends_with("." + std::string(named)) || named == "www." + std::string(host);
}

}  // namespace

bool is_deceptive_url(std::string_view url) {
    const auto address = address_of(url);
    const bool mail = address.scheme == "mailto:";
    const bool web = address.scheme == "http:" || address.scheme == "https:";
    if (!mail && !web) return !address.scheme.empty() || !address.authority.empty();
    return address.authority.find_first_not_of(of_hosts) != std::string::npos ||
           url.find('\\') != std::string_view::npos;
}

bool is_deceptive_link(std::string_view text, std::string_view url) {
    if (is_deceptive_url(url)) return true;
    const auto host = address_of(url).host();
    if (host.starts_with("xn--") || host.find(".xn--") != std::string::npos) return true;
    auto plain = replaced(text, zero_width_space, "");
    for (char& c : plain)
        if (std::string_view(" \t\n()<>[]{},;\"'`|").find(c) != std::string_view::npos) c = ' ';
    for (const auto& part : split(plain, ' '))
        if (const auto named = host_named(part); named && !same_site(*named, host)) return true;
    return false;
}

}  // namespace epilogue
