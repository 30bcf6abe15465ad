// Where an address that comes from data (a row, a registration) may lead: to public addresses of the
// internet, and to what the operator allows. Judged by the address that is connected to, whatever spelling or
// name led there. (contract §10 "Egress")
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace epilogue {

/// An IP address; one of IPv4 as ::ffff:a.b.c.d.
using IpAddress = std::array<std::uint8_t, 16>;

/// Reads "10.0.0.5", "fd00::1". nullopt for any other text, also for 0x7f.1, 010.0.0.1 and 127.1.
std::optional<IpAddress> parse_ip_address(std::string_view text);

/// The addresses that share a prefix.
struct Network {
    IpAddress address{};
    int bits = 0;  ///< of the sixteen bytes: 96 more than IPv4's

    /// Whether the other address has the prefix, too.
    bool contains(const IpAddress& other) const;
};

/// What is wrong with the address for a request that data asked for: "a loopback address"; "" when it is a
/// public one. IPv4 that is carried in IPv6 (mapped, NAT64, 6to4) is judged as what it carries.
std::string_view objection_to(const IpAddress& address);

/// The cause, for people, when `host` of a URL leads to `address` and that is barred: with what would allow
/// it.
std::string egress_refusal_of(std::string_view host, std::string_view address, std::string_view objection);

/// [egress]. Immutable.
class EgressRules {
  public:
    /// Public addresses alone.
    EgressRules() = default;
    /// And what `allowed` lists, each "10.0.0.0/8", "10.1.2.3", "host" or "host:port" (an IPv6 address with a
    /// port in brackets). What is none of these allows nothing; is_entry() tells.
    explicit EgressRules(const std::vector<std::string>& allowed);

    /// Whether the text is one of these.
    static bool is_entry(std::string_view text);

    /// Whether requests to that host of a URL (lower case, as libcurl reads it) may lead anywhere.
    bool allows_host(std::string_view host, std::uint16_t port) const;
    /// Why no connection to `address` may be made; "" when it may.
    std::string_view objection(const IpAddress& address) const;

  private:
    struct Host {
        std::string name;
        std::optional<std::uint16_t> port;  ///< nullopt: any
    };

    std::vector<Network> networks_;
    std::vector<Host> hosts_;
};

}  // namespace epilogue
