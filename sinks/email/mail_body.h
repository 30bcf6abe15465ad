// The two forms of a mail's text, from one tree of Markdown.
#pragma once

#include <string>
#include <string_view>

namespace epilogue {

struct MailBody {
    std::string text;  ///< for people who read without HTML: an address stands behind what links to it
    std::string html;  ///< a document: nothing in it loads, runs, or leads anywhere but to the web
};

/// Both of Markdown that was sanitised.
MailBody mail_body(std::string_view markdown);

}  // namespace epilogue
