// Slack: messages in channels and threads. (sinks.md §2.3, contract §6)
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/ids.h"
#include "sinks/port/http_api.h"
#include "sinks/port/sink.h"
#include "sinks/slack/slack_answers.h"
#include "sinks/slack/slack_target.h"

namespace epilogue {

struct SlackSettings {
    std::string api_url = "https://slack.com/api";
    std::string token;                              ///< of workspaces without one of their own
    std::map<std::string, std::string> teams;       ///< team id -> token
    std::chrono::milliseconds http_timeout{20000};  ///< total of one call of the sink, all its pages together
    std::string version;                            ///< ours, for the User-Agent
    std::string budget = "auto";                    ///< [slack] budget
    Transport transport = over_http();              ///< what requests go through
};

/// Thread-safe; remembers nothing but who each token makes us.
class SlackSink final : public Sink {
  public:
    explicit SlackSink(SlackSettings settings);

    /// Markdown for one `markdown` block. The marker is the message's metadata, made of the delivery's id.
    std::string render(const Summary& summary, const DeliveryId& delivery_id) const override;

    /// Reads the thread, or the channel, from five minutes before the first attempt on. A message is ours
    /// when its metadata has the delivery's id and we are its author.
    LookupResult find(const Post& post) override;

    /// Posts the body as a block, with a short text for the notification. When Slack refuses the blocks,
    /// which is a definite no, the same call posts the body as text.
    Attempt create(const Post& post) override;

    /// Deletes the message; true also when it was gone before.
    bool remove(const Post& post, const Receipt& duplicate) override;

    /// Messages count by token and channel, look-ups (whose limits are those of a method) by token.
    Quota quota(const Target& target) const override;

    std::vector<TokenStatus> check_tokens() override;

    /// Slack is asked little: look-ups may be limited to one a minute.
    DuplicateCheck duplicate_check() const override { return DuplicateCheck::after_unknown; }

  private:
    TokenStatus check_token(std::string setting, const std::string& token) const;
    /// "" when there is none for that workspace.
    std::string token_for(const SlackTarget& place) const;
    HttpAnswer call(const std::string& token, const std::string& method, const std::string& body,
                    Deadline until) const;
    HttpAnswer ask(const std::string& token, const std::string& method_and_query, Deadline until) const;
    /// Asks once for each token; nullopt, with `failure` filled, when it could not be asked.
    std::optional<SlackAccount> who_am_i(const std::string& token, Deadline until, LookupResult& failure);

    const SlackSettings settings_;
    const HttpApi api_;
    std::mutex mutex_;                              // guards accounts_
    std::map<std::string, SlackAccount> accounts_;  // by token
};

}  // namespace epilogue
