// What a platform would act on, broken where it stands; nothing else changes. (sinks.md §3)
#pragma once

#include <string>
#include <string_view>

namespace epilogue {

/// `text` (after strip_unsafe) with a zero-width space wherever a platform would mention, obey, load, draw or
/// mislead: after the `@` of a mention, before the `/` that starts a line, inside tags, images, Slack's
/// `<!…>`, links that are not what they seem and fences that are drawn; in code too where platforms do not
/// spare it. Without those spaces it is `text` word for word. neutralise(neutralise(x)) == neutralise(x).
std::string neutralise(std::string_view text);

}  // namespace epilogue
