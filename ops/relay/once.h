// `epilogue relay --once`: whole logs into the topic, as the follower brings them, for first fills and
// repairs. What is there already comes once more with the same ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/config.h"
#include "base/result.h"

namespace epilogue {

struct OnceProgress {
    std::size_t conversations = 0;  ///< all of them
    std::size_t over = 0;
    std::int64_t events = 0;  ///< that the topic has taken
    std::int64_t behind = 0;  ///< that are known to be left
};
using OnProgress = std::function<void(const OnceProgress&)>;

struct OnceReport {
    OnceProgress came;
    std::vector<std::string> failures;  ///< what could not be brought, and why
};

/// Where a log, or all of a server's, are.
struct OnceServer {
    std::string url;              ///< of the server
    std::string conversation_id;  ///< "": all that it has
};

/// Reads "http[s]://HOST[/PREFIX]", or that with "/api/conversations/ID" behind it. Errors: poison.
Result<OnceServer> parse_once_server(const std::string& url);

/// The logs of a server; `key` is what it asks for, "": what the configuration has for that address. Calls
/// `on_progress` now and then. Errors: retryable, when the server or the broker cannot be reached, or nothing
/// more comes; fatal, the configuration; poison, the server refuses the key.
Result<OnceReport> relay_server_once(const Config& config, const OnceServer& server, Secret key,
                                     const OnProgress& on_progress);

/// Persisted events: a file, or all below a folder. Errors: as above; poison, it has none.
Result<OnceReport> relay_files_once(const Config& config, const std::filesystem::path& place,
                                    const OnProgress& on_progress);

}  // namespace epilogue
