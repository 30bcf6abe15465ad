// Where an agent server is: its base URL in parts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/egress.h"

namespace epilogue::agent {

struct Address {
    bool tls = false;
    std::string host;    ///< without the brackets of an IPv6 address
    std::string port;    ///< decimal
    std::string prefix;  ///< of every path, without a slash at its end; may be empty
    /// Where its host may lead, for an address that comes from data (HttpRequest::egress); null: anywhere.
    std::shared_ptr<const EgressRules> egress = {};

    /// "http://host:port/prefix".
    std::string url() const;
    /// The host as a URL has it, in lower case: with the brackets of an IPv6 address.
    std::string url_host() const;
    /// "host:port", as the Host header has it.
    std::string authority() const;
};

/// Reads "http[s]://host[:port][/prefix]". nullopt for any other form, also one with a user or a query.
std::optional<Address> parse_address(std::string_view url);

/// `text` as a value in a URL's path or query: everything but letters, digits and -._~ is percent-encoded.
std::string percent_encoded(std::string_view text);

}  // namespace epilogue::agent
