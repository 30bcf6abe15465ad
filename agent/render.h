// Events as lines for a person at a terminal.
#pragma once

#include <string>
#include <string_view>

#include "agent/event.h"

namespace epilogue::agent {

/// One line, or several for texts of several lines; "" for what tells a person nothing (statistics,
/// snapshots, prompts), cut at `longest` bytes. Without control characters, which could act on a
/// terminal.
std::string render(const RemoteEvent& event, std::size_t longest = 4000);

/// `text` without what acts on a terminal: control characters but line ends and tabs, and those that change
/// the direction of text.
std::string printable(std::string_view text);

}  // namespace epilogue::agent
