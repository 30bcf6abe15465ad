// Our own instruction to an agent: a user message whose last line is a mark. (contract §4 "Turns")
#pragma once

#include <string>
#include <string_view>

namespace epilogue {

/// The mark: `<!-- epilogue:ask id=<uuid> -->`.
std::string instruction_mark(std::string_view id);

/// The id in the mark that `text` ends with, white space aside; "": it ends with none.
std::string_view instruction_in(std::string_view text);

/// What the decoder makes of such a message: a status that stands until the agent's next end. No server has
/// it.
constexpr std::string_view instructed_status = "epilogue:instructed";

}  // namespace epilogue
