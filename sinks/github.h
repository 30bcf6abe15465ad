// GitHub: comments on issues and pull requests. (sinks.md §2.3, contract §6)
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/io/http.h"
#include "sinks/github_answers.h"
#include "sinks/sink.h"

namespace epilogue {

struct GithubSettings {
    std::string api_url = "https://api.github.com";
    std::string token;                              ///< empty: every write is unauthorised, without a request
    std::string mac_key;                            ///< of the markers
    std::chrono::milliseconds http_timeout{20000};  ///< total of one call of the sink, all its pages together
    std::string version;                            ///< ours, for the User-Agent
};

/// Thread-safe; remembers nothing but who the token makes us. One create() is one request.
class GithubSink final : public Sink {
  public:
    explicit GithubSink(GithubSettings settings);

    std::string render(const Summary& summary, const std::string& delivery_id) const override;

    /// Reads the comments changed since five minutes before the first attempt, all pages. A comment is ours
    /// when a whole line of it is the row's marker and we are its author. A token that may not ask who it is
    /// (a GitHub App's) leaves that open until its first comment; till then the marker decides: the author of
    /// the oldest comment with it is us, because nobody knew its MAC before.
    Sighting find(const Post& post) override;

    /// Posts a comment on the issue or pull request. A review_comment_id does not change that yet: the
    /// comment goes to the pull request's conversation, not into the review thread.
    Attempt create(const Post& post) override;

    /// Deletes the comment; true also when it was gone before.
    bool remove(const Post& post, const Receipt& twin) override;

  private:
    using Deadline = std::chrono::steady_clock::time_point;
    struct Reading;

    Deadline deadline() const;
    HttpAnswer send(const char* method, const std::string& url, std::string body, Deadline until) const;
    std::string comments_url(const GithubTarget& place) const;
    Reading read_marked(const Post& post, const GithubTarget& place, Deadline until) const;
    /// Those of `marked` that we wrote, oldest first.
    Sighting own_of(std::vector<GithubComment> marked, Deadline until);
    /// Asks once. Unnamed when GitHub does not tell; nullopt, with `failure` filled, when it could not be
    /// asked.
    std::optional<GithubAuthor> who_am_i(Deadline until, Sighting& failure);
    void remember(const GithubAuthor& author);

    const GithubSettings settings_;
    const HttpClient http_;
    std::mutex mutex_;                // guards me_
    std::optional<GithubAuthor> me_;  // unnamed: GitHub does not tell this token who it is
};

}  // namespace epilogue
