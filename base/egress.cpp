#include "base/egress.h"

#include <algorithm>
#include <charconv>

#include <arpa/inet.h>

#include "base/text.h"

namespace epilogue {
namespace {

constexpr int ipv4_prefix_bits = 96;
constexpr int ip_bits = 128;

/// IPv4 at `offset` of an IPv6 address, as ::ffff:a.b.c.d.
IpAddress ipv4_in(const IpAddress& address, std::size_t offset) {
    IpAddress carried{};
    carried[10] = carried[11] = 0xFF;
    std::copy_n(address.begin() + static_cast<std::ptrdiff_t>(offset), 4, carried.begin() + 12);
    return carried;
}

/// A number from 0 to `most` that fills the text.
std::optional<int> number_in(std::string_view text, int most) {
    int number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number >= 0 && number <= most ? std::optional(number) : std::nullopt;
}

/// "10.0.0.0/8", or one address.
std::optional<Network> parse_network(std::string_view text) {
    const std::size_t slash = text.find('/');
    const auto address = parse_ip_address(text.substr(0, slash));
    if (!address) return std::nullopt;
    if (slash == std::string_view::npos) return Network{*address, ip_bits};
    const bool is_ipv4 = text.find(':') == std::string_view::npos;
    const auto bits = number_in(text.substr(slash + 1), is_ipv4 ? ip_bits - ipv4_prefix_bits : ip_bits);
    if (!bits) return std::nullopt;
    return Network{*address, is_ipv4 ? *bits + ipv4_prefix_bits : *bits};
}

bool is_host(std::string_view text) {
    const bool in_brackets = text.starts_with('[') && text.ends_with(']');
    if (in_brackets) return parse_ip_address(text.substr(1, text.size() - 2)).has_value();
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
    });
}

struct HostAndPort {
    std::string name;
    std::optional<std::uint16_t> port;
};

std::optional<HostAndPort> parse_host(std::string_view text) {
    const std::string lower = lowered(text);
    const std::size_t colon = lower.ends_with(']') ? std::string::npos : lower.rfind(':');
    HostAndPort host{lower.substr(0, colon), std::nullopt};
    if (colon != std::string::npos) {
        const auto port = number_in(std::string_view(lower).substr(colon + 1), UINT16_MAX);
        if (!port) return std::nullopt;
        host.port = static_cast<std::uint16_t>(*port);
    }
    if (!is_host(host.name)) return std::nullopt;
    return host;
}

struct Reserved {
    Network network;
    std::string_view what;
};

/// What is no host of the public internet, by IANA's registries of special-purpose addresses.
const std::vector<Reserved>& reserved() {
    const auto row = [](std::string_view network, std::string_view what) {
        return Reserved{parse_network(network).value(), what};
    };
    static const std::vector<Reserved> all{
        row("0.0.0.0/8", "an address of this machine"),
        row("10.0.0.0/8", "a private address"),
        row("100.64.0.0/10", "an address of a carrier's own network"),
        row("127.0.0.0/8", "a loopback address"),
        row("168.63.129.16", "the address of a cloud's metadata"),
        row("169.254.0.0/16", "a link-local address, where clouds keep their metadata"),
        row("172.16.0.0/12", "a private address"),
        row("192.0.0.0/24", "a reserved address"),
        row("192.0.2.0/24", "an address of documentation"),
        row("192.88.99.0/24", "a reserved address"),
        row("192.168.0.0/16", "a private address"),
        row("198.18.0.0/15", "an address of test networks"),
        row("198.51.100.0/24", "an address of documentation"),
        row("203.0.113.0/24", "an address of documentation"),
        row("224.0.0.0/4", "a multicast address"),
        row("240.0.0.0/4", "a reserved address"),
        row("::ffff:0:0/96", ""),  // all other IPv4
        row("::1", "a loopback address"),
        row("::", "an address of this machine"),
        row("fc00::/7", "a private address"),
        row("fe80::/10", "a link-local address"),
        row("ff00::/8", "a multicast address"),
        row("2001::/23", "a reserved address"),
        row("2001:db8::/32", "an address of documentation"),
        row("3fff::/20", "an address of documentation"),
        row("2000::/3", ""),  // all other public IPv6
        row("::/0", "a reserved address"),
    };
    return all;
}

/// What an IPv6 address carries; itself when it carries nothing.
IpAddress unwrapped(const IpAddress& address) {
    static const Network nat64 = parse_network("64:ff9b::/96").value();
    static const Network six_to_four = parse_network("2002::/16").value();
    if (nat64.contains(address)) return ipv4_in(address, 12);
    if (six_to_four.contains(address)) return ipv4_in(address, 2);
    return address;
}

}  // namespace

std::optional<IpAddress> parse_ip_address(std::string_view text) {
    IpAddress address{};
    const std::string terminated(text);
    if (inet_pton(AF_INET6, terminated.c_str(), address.data()) == 1) return address;
    std::array<std::uint8_t, 4> ipv4{};
    if (inet_pton(AF_INET, terminated.c_str(), ipv4.data()) != 1) return std::nullopt;
    std::copy(ipv4.begin(), ipv4.end(), address.begin() + 12);
    return ipv4_in(address, 12);
}

bool Network::contains(const IpAddress& other) const {
    const auto whole = static_cast<std::size_t>(bits / 8);
    if (!std::equal(address.begin(), address.begin() + static_cast<std::ptrdiff_t>(whole), other.begin()))
        return false;
    const int rest = bits % 8;
    if (rest == 0) return true;
    return (static_cast<unsigned>(address.at(whole) ^ other.at(whole)) >> static_cast<unsigned>(8 - rest)) ==
           0;
}

std::string_view objection_to(const IpAddress& address) {
    const IpAddress meant = unwrapped(address);
    for (const auto& [network, what] : reserved())
        if (network.contains(meant)) return what;
    return "a reserved address";
}

std::string egress_refusal_of(std::string_view host, std::string_view address, std::string_view objection) {
    std::string text(host);
    if (host != address && text != "[" + std::string(address) + "]")
        text += " leads to " + std::string(address);
    return text + ", " + std::string(objection) + ": add \"" + std::string(host) +
           "\" to [egress] allow if requests for addresses in rows may go there";
}

EgressRules::EgressRules(const std::vector<std::string>& allowed) {
    for (const std::string& entry : allowed) {
        if (const auto network = parse_network(entry))
            networks_.push_back(*network);
        else if (auto host = parse_host(entry))
            hosts_.push_back({std::move(host->name), host->port});
    }
}

bool EgressRules::is_entry(std::string_view text) {
    return parse_network(text).has_value() || parse_host(text).has_value();
}

bool EgressRules::allows_host(std::string_view host, std::uint16_t port) const {
    return std::any_of(hosts_.begin(), hosts_.end(), [&](const Host& each) {
        return each.name == host && each.port.value_or(port) == port;
    });
}

std::string_view EgressRules::objection(const IpAddress& address) const {
    const IpAddress meant = unwrapped(address);
    const bool is_allowed = std::any_of(networks_.begin(), networks_.end(), [&](const Network& each) {
        return each.contains(address) || each.contains(meant);
    });
    return is_allowed ? std::string_view() : objection_to(address);
}

}  // namespace epilogue
