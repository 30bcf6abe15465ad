// A comment as the platform has it, and as the demo shows it.
#pragma once

#include <string>

#include "ops/embedded_demo/terminal.h"
#include "ops/embedded_demo/verifier.h"
#include "ops/fake_platform/fake_platform.h"

namespace epilogue::demo {

/// Whether Epilogue posted it, and not a person.
bool is_ours(const fake_platform::Comment& comment);

/// The comment as its readers see it: without the marker.
Post post_of(const fake_platform::Comment& comment);

/// The platform's name for people.
std::string_view title_of(const std::string& platform);

/// The post in a box, several lines. `origin` stands behind its place, "": nothing.
std::string boxed(const Terminal& terminal, const Post& post, const std::string& origin);

}  // namespace epilogue::demo
