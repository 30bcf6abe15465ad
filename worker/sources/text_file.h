// A setting that names a file of text: a question, a template.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/config_kinds.h"

namespace epilogue {

struct TextFile {
    std::string path;  ///< "": none, our own text is taken
    std::string text;  ///< what it holds, once the configuration is resolved
    bool operator==(const TextFile&) const = default;
};
constexpr std::size_t max_text_file_bytes = std::size_t{64} << 10U;

/// The path of such a file, may be "". Refused when it cannot be read, is empty, longer than
/// max_text_file_bytes, no UTF-8, or has a word in braces, such as {task}, that is not among `placeholders`.
ConfigKind text_file(ConfigPlace<TextFile> place, std::vector<std::string_view> placeholders = {});

}  // namespace epilogue
