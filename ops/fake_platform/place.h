// Where posts are expected on the platforms that are faked, and the threads that a person begins there.
#pragma once

#include <string>

#include "ops/fake_platform/fake_platform.h"

namespace epilogue::fake_platform {

struct Place {
    std::string platform;  ///< "github", "gitlab" or "slack"
    std::string path;      ///< Comment::place: "owner/name#7", "owner/name!7"; Slack: a channel
    std::string thread{};  ///< Comment::thread of the posts; "": they stand in none
};

/// The place as `callbacks add` takes it.
std::string processor_json_of(const Place& place);

/// Adds, as a person, the comment that begins a thread at the place; returns the thread.
std::string begin_thread(FakePlatform& platform, const Place& place, const std::string& text);

}  // namespace epilogue::fake_platform
