// Slack: messages in channels and threads. (sinks.md §2.3, contract §6)
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "sinks/port/http_api.h"
#include "sinks/port/remote_post.h"
#include "sinks/port/sink.h"
#include "sinks/slack/slack_answers.h"
#include "sinks/slack/slack_target.h"

namespace epilogue {

struct SlackSettings {
    std::string api_url = "https://slack.com/api";
    std::string token;                         ///< of workspaces without one of their own
    std::map<std::string, std::string> teams;  ///< team id -> token
    std::string version;                       ///< ours, for the User-Agent
    std::string budget = "auto";               ///< [slack] budget
};

/// Thread-safe; remembers nothing but who each token makes us.
class SlackSink final : public Sink {
  public:
    explicit SlackSink(SlackSettings settings);

    /// Markdown for one `markdown` block. The marker is the message's metadata, made of the delivery's id.
    std::string render(const Summary& summary, const DeliveryId& delivery_id) const override;

    /// Reads the thread, or the channel, from five minutes before the first attempt on. A message is ours
    /// when its metadata has the delivery's id and we are its author.
    Dialogue<LookupResult> find(Post post) override;

    /// Posts the body as a block, with a short text for the notification. When Slack refuses the blocks,
    /// which is a definite no, the same call posts the body as text.
    /// With `message_ts` the post is written into that message, when it is ours; else it becomes a message of
    /// its own. Writing it again changes nothing. With `notify` the message that tells of it is looked for.
    Dialogue<Attempt> create(Post post) override;

    /// Deletes the message; true also when it was gone before.
    Dialogue<bool> remove(Post post, Receipt duplicate) override;

    /// Messages count by token and channel, look-ups (whose limits are those of a method) by token.
    Quota quota(const Target& target) const override;
    bool writes_into_one(const Target& target) const override;

    std::vector<Dialogue<TokenStatus>> check_tokens() override;

    /// Slack is asked little: look-ups may be limited to one a minute.
    DuplicateCheck duplicate_check() const override { return DuplicateCheck::after_unknown; }

  private:
    Dialogue<TokenStatus> check_token(std::string setting, std::string token) const;
    /// "" when there is none for that workspace.
    std::string token_for(const SlackTarget& place) const;
    HttpRequest call(const std::string& token, const std::string& method, std::string body) const;
    HttpRequest ask(const std::string& token, const std::string& method_and_query) const;
    /// The messages with the post's metadata, oldest first, or why they could not be read.
    Dialogue<ReadOf<std::vector<SlackMessage>>> read_marked(Post post, SlackTarget place) const;
    /// The message that is written into; nullopt when it is gone, or not ours.
    Dialogue<ReadOf<std::optional<SlackMessage>>> shown(SlackTarget place);
    /// nullopt: there is nothing to write into.
    Dialogue<std::optional<Attempt>> edit(Post post, SlackTarget place);
    Dialogue<Attempt> post_new(Post post, SlackTarget place);
    /// The answer to a method that writes: with the body as a block, or, when that is refused, as text.
    Dialogue<HttpAnswer> write(std::string method, Post post, SlackTarget place);
    /// Who the token makes us, asked once, or why it could not be asked.
    Dialogue<ReadOf<SlackAccount>> ask_who_we_are(std::string token);
    std::optional<SlackAccount> known_account(const std::string& token) const;
    void remember(const std::string& token, const SlackAccount& account);

    const SlackSettings settings_;
    const HttpApi api_;
    mutable std::mutex mutex_;                      // guards accounts_
    std::map<std::string, SlackAccount> accounts_;  // by token
};

}  // namespace epilogue
