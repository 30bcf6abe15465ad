// Where the posts of a trial go: one place of its own for each, of five kinds.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "ops/fake_platform/place.h"

namespace epilogue::testing {

enum class PlaceKind { slack, github_comment, github_review, gitlab_note, gitlab_discussion };
constexpr std::array kinds{PlaceKind::slack, PlaceKind::github_comment, PlaceKind::github_review,
                           PlaceKind::gitlab_note, PlaceKind::gitlab_discussion};
std::string_view name_of(PlaceKind kind);  ///< as a table's head

struct Place : fake_platform::Place {
    PlaceKind kind = PlaceKind::slack;
    std::vector<std::string> lists{};  ///< what the requests that list its posts have in path and query
};

/// The place `number` of its kind; begins the thread in which the posts will stand.
Place make_place(fake_platform::FakePlatform& platform, PlaceKind kind, int number);

/// True when the request lists the posts of that place.
bool is_look_up(const fake_platform::LogEntry& entry, const Place& place);

/// True when the request removes that comment.
bool removes(const fake_platform::LogEntry& entry, std::int64_t comment);

}  // namespace epilogue::testing
