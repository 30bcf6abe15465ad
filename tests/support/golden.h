// Golden files: a table printed by a test, reviewed once by a person, and compared ever after.
#pragma once

#include <string>

namespace epilogue {

/// Compares `text` with tests/golden/NAME.txt: empty when they are equal, else the first line that differs,
/// for people. With EPILOGUE_UPDATE_GOLDEN set in the environment the file is rewritten instead.
std::string difference_from_golden(const std::string& name, const std::string& text);

/// The same for any file of the tree: `path` from its root.
std::string difference_from_file(const std::string& path, const std::string& text);

}  // namespace epilogue
