#include "base/io/egress_guard.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/text.h"

namespace epilogue {
namespace {

struct UrlCleanup {
    void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
struct TextCleanup {
    void operator()(char* text) const { curl_free(text); }
};

/// A part of a URL as libcurl itself reads it, so that no spelling means one host here and another there.
std::string part_of(CURLU* url, CURLUPart part) {
    char* text = nullptr;
    if (curl_url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return "";
    const std::unique_ptr<char, TextCleanup> owned(text);
    return lowered(text);
}

std::optional<IpAddress> ip_address_in(const curl_sockaddr& address) {
    if (address.family == AF_INET6) {
        sockaddr_in6 in6{};
        std::memcpy(&in6, &address.addr, std::min<std::size_t>(sizeof in6, address.addrlen));
        IpAddress bytes{};
        std::memcpy(bytes.data(), &in6.sin6_addr, bytes.size());
        return bytes;
    }
    if (address.family != AF_INET) return std::nullopt;
    sockaddr_in in{};
    std::memcpy(&in, &address.addr, std::min<std::size_t>(sizeof in, address.addrlen));
    std::array<char, INET_ADDRSTRLEN> text{};
    if (inet_ntop(AF_INET, &in.sin_addr, text.data(), text.size()) == nullptr) return std::nullopt;
    return parse_ip_address(text.data());
}

std::string text_of(const curl_sockaddr& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (getnameinfo(&address.addr, address.addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) !=
        0)
        return "?";
    return text.data();
}

}  // namespace

EgressGuard::EgressGuard(const HttpRequest& request) : request_(request) {
    if (!request_.egress) return;
    const std::unique_ptr<CURLU, UrlCleanup> url(curl_url());
    if (!url || curl_url_set(url.get(), CURLUPART_URL, request_.url.c_str(), 0) != CURLUE_OK) return;
    host_ = part_of(url.get(), CURLUPART_HOST);
    const auto port = integer_in(part_of(url.get(), CURLUPART_PORT)).value_or(0);
    if (host_.ends_with('.')) host_.pop_back();
    is_host_allowed_ = request_.egress->allows_host(host_, static_cast<std::uint16_t>(port));
}

bool EgressGuard::install(CURL* easy) {
    if (!request_.egress) return true;
    // A connection that stands was judged for another request, or not at all: this one gets its own.
    return curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, &EgressGuard::open_socket) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, static_cast<void*>(this)) == CURLE_OK;
}

// libcurl calls it from C: no exception may pass, and what could not be judged is not connected to.
curl_socket_t EgressGuard::open_socket(void* context, curlsocktype, curl_sockaddr* address) {
    EgressGuard& guard = *static_cast<EgressGuard*>(context);
    try {
        if (auto refusal = guard.refusal_of(*address); !refusal.empty()) {
            guard.refusal_ = std::move(refusal);
            return CURL_SOCKET_BAD;
        }
    } catch (const std::exception&) {
        return CURL_SOCKET_BAD;
    }
    // It may be down today; another address of the host that is barred does not make the failure final.
    guard.has_open_address_ = true;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/// Why the address is not connected to; "" when it may be.
std::string EgressGuard::refusal_of(const curl_sockaddr& address) const {
    if (is_host_allowed_) return "";
    const auto ip = ip_address_in(address);
    const std::string_view objection = ip ? request_.egress->objection(*ip) : "no internet address";
    return objection.empty() ? "" : egress_refusal_of(host_, text_of(address), objection);
}

}  // namespace epilogue
