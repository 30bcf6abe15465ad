// Jira's wiki markup.
#pragma once

#include <string>
#include <string_view>

namespace epilogue {

/// Markdown that was sanitised, as wiki markup. What Jira would act on in text (macros, mentions, links,
/// images) is escaped; links are to web addresses alone.
std::string wiki_markup(std::string_view markdown);

}  // namespace epilogue
