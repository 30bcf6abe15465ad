// Text as its reader gets it: a second view of it in which secrets are looked for. (sinks.md §3)
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace epilogue {

/// A view of a text, and where in that text each of its bytes comes from.
struct DecodedText {
    /// A piece of the raw text.
    struct Origin {
        std::size_t begin = 0;
        std::size_t end = 0;
    };
    std::string text;
    std::vector<Origin> origin;  ///< of each byte of `text`
};

/// `raw` without what Markdown, HTML, URLs and string literals do to a word: backslash escapes, entities,
/// percent-encoding, emphasis, tags and zero-width characters are resolved, once. Linear in time.
DecodedText decoded_text(std::string_view raw);

}  // namespace epilogue
