// Where the posts of a rehearsal go: one place of its own for each, of five kinds.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "ops/fake_platform/fake_platform.h"

namespace epilogue::testing {

enum class Kind { slack, github_comment, github_review, gitlab_note, gitlab_discussion };
constexpr std::array kinds{Kind::slack, Kind::github_comment, Kind::github_review, Kind::gitlab_note,
                           Kind::gitlab_discussion};
std::string_view name_of(Kind kind);  ///< as a table's head

struct Place {
    Kind kind = Kind::slack;
    std::string processor{};  ///< as `callbacks add` takes it
    std::string processor_json{};
    std::string platform{};            ///< as the stand-in names it
    std::string path{};                ///< of the comments there, as the stand-in has it
    std::string thread{};              ///< of the posts there; "": none
    std::vector<std::string> lists{};  ///< what the requests that list its posts have in path and query
};

/// The place `number` of its kind; makes the thread in which the posts will stand.
Place make_place(fake_platform::FakePlatform& platform, Kind kind, int number);

/// True when the request lists the posts of that place.
bool is_look_up(const fake_platform::LogEntry& entry, const Place& place);

/// True when the request removes that comment.
bool removes(const fake_platform::LogEntry& entry, std::int64_t comment);

}  // namespace epilogue::testing
