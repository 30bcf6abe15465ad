// What a version of the agent server can do. Decided by its version, never guessed from a 404, which a server
// also gives for a conversation that is not there.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace epilogue::agent {

struct Version {
    int major = 0;
    int minor = 0;
    int patch = 0;
    auto operator<=>(const Version&) const = default;
};

/// Reads "1.58.0"; what follows the third number ("rc1", ".dev3", "+local") does not count, and a missing
/// third one is 0. nullopt when it does not start with two numbers.
std::optional<Version> parse_version(std::string_view text);

/// How a WebSocket shows the session key.
enum class SocketAuth { query, header, first_frame };

struct Features {
    std::string version;  ///< as the server says it; "" when it does not
    SocketAuth socket_auth = SocketAuth::query;
    bool final_response = false;
    bool interrupt = false;
    bool generate_title = true;
    bool goals = false;  ///< `/goal` loops: runs that begin by themselves until a judge is content
    /// It answers pings whatever its conversations do. Older ones stand still while an LLM is asked.
    bool answers_pings = false;
    /// It has the session socket, which numbers a log's events and replays them.
    bool session_socket = false;
    /// It tells a log in the order in which it was written: what was made early and written late stands late.
    /// Older ones sort it by time.
    bool log_as_written = false;
};

/// The features of that version; of an unknown one those that every version known to us has.
Features features_of(std::string_view version);

}  // namespace epilogue::agent
