// Judges what was made of hostile text: by the platforms' rules, written here once more, not by our own code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace epilogue::hostile {

/// One summary an attacker could have an agent write.
struct Case {
    std::string kind;
    std::string words;
    std::vector<std::string> absent;  ///< what may not be in the post, zero-width spaces left out
};

/// tests/data/hostile_summaries.jsonl.
const std::vector<Case>& cases();

/// Pieces of which a generator makes texts: all of them hostile, or what joins hostile halves.
const std::vector<std::string>& fragments();

/// What in a Markdown post of ours is alive: a mention, a command, a tag, something that is loaded, a link
/// that is not what it seems, a comment, an unseen character. "" when nothing is.
std::string alive_in_markdown(const std::string& post);

/// What in text in Slack's mrkdwn is alive. "" when nothing is.
std::string alive_in_mrkdwn(const std::string& text);

/// What in wiki markup Jira would act on, apart from what our own writer makes: code that is shown as it is,
/// links to web addresses, marks of lists, tables and emphasis. "" when nothing is.
std::string alive_in_wiki_markup(std::string text);

/// The first character of `text` that is not seen, or bytes that are none. "" when there is none.
std::string unseen_in(std::string_view text);

/// What in a mail of HTML is alive: a tag that loads, runs or draws, an attribute but a link's, a link to
/// anything but the web, an unseen character. "" when nothing is.
std::string alive_in_html(const std::string& html);

/// `text` without zero-width spaces.
std::string visible(const std::string& text);

}  // namespace epilogue::hostile
