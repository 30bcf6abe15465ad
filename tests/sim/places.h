// Where the callbacks of a schedule post: each number is a thread of its own, on one of the platforms.
#pragma once

#include <cstdint>
#include <string>

#include "base/http_message.h"

namespace epilogue::sim {

struct Place {
    std::string sink;
    std::string processor_json;
    std::string name;  ///< "github:o/r#1", as the judge compares it
};

/// Odd numbers are on GitHub; the even ones on GitLab and, in threads and channels, on Slack.
Place place_of(std::int64_t number);

/// What a sink asks of its platform.
enum class Asked { post, look_up, account, removal };  ///< account: and the tokens of an App
Asked asked_by(const HttpRequest& request);

/// "github", "gitlab" or "slack".
std::string platform_of(const HttpRequest& request);

/// The thread that a request to post or to look up is about; where it names none, the least of its platform.
std::int64_t number_in(const HttpRequest& request);

}  // namespace epilogue::sim
