// Slack's own notation.
#pragma once

#include <string>
#include <string_view>

namespace epilogue {

/// `markdown` (sanitised) in mrkdwn: `&`, `<` and `>` escaped, links to the web built anew, images as their
/// text. For the notification, and for a message whose blocks Slack does not take.
std::string mrkdwn(std::string_view markdown);

}  // namespace epilogue
