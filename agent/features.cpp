#include "agent/features.h"

#include <array>
#include <charconv>

namespace epilogue::agent {

std::optional<Version> parse_version(std::string_view text) {
    std::array<int, 3> numbers{};
    std::size_t read = 0;
    const char* at = text.data();
    const char* const end = at + text.size();
    for (int& number : numbers) {
        const auto [rest, fault] = std::from_chars(at, end, number);
        if (fault != std::errc() || number < 0) break;
        ++read;
        at = rest;
        if (at == end || *at != '.') break;
        ++at;
    }
    if (read < 2) return std::nullopt;
    return Version{numbers[0], numbers[1], read == 3 ? numbers[2] : 0};
}

Features features_of(std::string_view version) {
    constexpr Version header_auth_since{1, 12, 0};
    constexpr Version final_response_since{1, 17, 0};
    constexpr Version first_frame_auth_since{1, 18, 1};
    constexpr Version no_generate_title_since{1, 19, 0};
    constexpr Version interrupt_since{1, 23, 0};
    constexpr Version goals_since{1, 29, 0};
    constexpr Version log_as_written_since{1, 22, 1};
    constexpr Version answers_pings_since{1, 22,
                                          1};  // seen there and later; what is between 1.7.3 and it, nowhere
    constexpr Version session_socket_since{1, 45, 0};

    Features features;
    features.version = version;
    const auto known = parse_version(version);
    if (!known) return features;
    if (*known >= first_frame_auth_since)
        features.socket_auth = SocketAuth::first_frame;
    else if (*known >= header_auth_since)
        features.socket_auth = SocketAuth::header;
    features.final_response = *known >= final_response_since;
    features.generate_title = *known < no_generate_title_since;
    features.interrupt = *known >= interrupt_since;
    features.goals = *known >= goals_since;
    features.answers_pings = *known >= answers_pings_since;
    features.session_socket = *known >= session_socket_since;
    features.log_as_written = *known >= log_as_written_since;
    return features;
}

}  // namespace epilogue::agent
