// Which pull and merge requests an agent opened or pushed to, by what its tools answered. A link that was
// merely seen (in a file, a page, the agent's own words) is none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace epilogue {

/// Those that a shell command opened or pushed to, by what it printed: `gh pr create`, `glab mr create` and
/// `hub pull-request` print the link on a line of its own; `git push` shows it in a line of the remote; a
/// call of GitHub's or GitLab's API answers with it. Links as request_links() makes them, each once.
std::vector<std::string> requests_made_by_command(std::string_view command, std::string_view output);

/// The one that a tool opened (create_pr, create_pull_request, create_mr, create_merge_request and the like,
/// also behind a server's name), by its answer; none for any other tool.
std::vector<std::string> requests_made_by_tool(std::string_view tool, std::string_view answer);

}  // namespace epilogue
