#include "tests/support/mysql_requests.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace epilogue::testing {
namespace {

constexpr std::size_t header = 4;  // three bytes of length, one of sequence
constexpr char com_query = 0x03;
constexpr char com_stmt_prepare = 0x16;
constexpr char com_stmt_execute = 0x17;

/// A little-endian number of `bytes` bytes.
std::uint32_t number_at(std::string_view text, std::size_t at, std::size_t bytes) {
    constexpr unsigned bits_per_byte = 8;
    std::uint32_t number = 0;
    for (std::size_t i = bytes; i > 0; --i)
        number = (number << bits_per_byte) | static_cast<unsigned char>(text.at(at + i - 1));
    return number;
}

bool begins_with_word(std::string_view text, std::string_view word) {
    if (text.size() < word.size()) return false;
    const auto same = [](char a, char b) { return std::toupper(static_cast<unsigned char>(a)) == b; };
    return std::equal(word.begin(), word.end(), text.begin(), same);
}

Request kind_of(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\n"), text.size()));
    constexpr std::array<std::pair<std::string_view, Request>, 4> words{
        {{"BEGIN", Request::begin},
         {"START TRANSACTION", Request::begin},
         {"COMMIT", Request::commit},
         {"ROLLBACK", Request::rollback}}};
    for (const auto& [word, kind] : words)
        if (begins_with_word(text, word)) return kind;
    return Request::statement;
}

/// The client's first packet asks for TLS: from then on nothing can be read.
bool asks_for_tls(std::string_view packet) {
    constexpr std::uint32_t client_ssl = 0x800;
    constexpr std::size_t bare_request = header + 32;
    return packet.size() == bare_request && (number_at(packet, header, 4) & client_ssl) != 0;
}

}  // namespace

std::vector<WireRequest> MysqlRequests::from_client(std::string_view bytes) {
    from_client_ += bytes;
    std::vector<WireRequest> requests;
    while (!opaque_ && from_client_.size() >= header) {
        const std::size_t length = header + number_at(from_client_, 0, 3);
        if (from_client_.size() < length) return requests;
        requests.push_back(request_of(from_client_.substr(0, length)));
        from_client_.erase(0, length);
    }
    if (opaque_ && !from_client_.empty()) {
        requests.push_back({std::move(from_client_), Request::other, {}});
        from_client_.clear();
    }
    return requests;
}

WireRequest MysqlRequests::request_of(std::string packet) {
    if (!logged_in_) {
        logged_in_ = true;
        opaque_ = asks_for_tls(packet);
    }
    const bool is_command = packet[3] == 0 && packet.size() > header;  // each command counts from 0 again
    const char command = is_command ? packet[header] : char{};
    WireRequest request{std::move(packet), Request::other, {}};
    if (command == com_query || command == com_stmt_prepare) request.text = request.bytes.substr(header + 1);
    if (command == com_query) request.kind = kind_of(request.text);
    if (command == com_stmt_prepare) {
        request.kind = Request::prepare;
        being_prepared_ = request.text;
        awaited_ = Awaited::prepared_id;
        from_server_.clear();
    }
    if (command == com_stmt_execute) {
        request.text = prepared_[number_at(request.bytes, header + 1, 4)];
        request.kind = kind_of(request.text);
    }
    return request;
}

void MysqlRequests::from_server(std::string_view bytes) {
    if (awaited_ == Awaited::nothing) return;
    from_server_ += bytes;
    if (from_server_.size() < header || from_server_.size() < header + number_at(from_server_, 0, 3)) return;
    if (awaited_ == Awaited::greeting) {
        const std::size_t after_version = from_server_.find('\0', header + 1) + 1;
        if (after_version != 0 && after_version + 4 <= from_server_.size())
            session_ = number_at(from_server_, after_version, 4);
    } else if (from_server_[header] == 0) {
        prepared_[number_at(from_server_, header + 1, 4)] = being_prepared_;
    }
    awaited_ = Awaited::nothing;
    from_server_.clear();
}

}  // namespace epilogue::testing
