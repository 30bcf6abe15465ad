// A stand-in for an OpenAI-compatible API: it answers chat completions as a test tells it, in the shapes of
// the API's published description.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/process/settings_file.h"
#include "ops/fake_platform/http_server.h"

namespace epilogue::testing {

/// One answer of a model, as the API writes it.
struct FakeCompletion {
    std::string content;
    std::string finish_reason = "stop";
    std::string refusal = {};  ///< in place of the content
    int tokens_in = 900;
    int tokens_out = 100;
};
std::string completion_json(const FakeCompletion& completion);

/// Thread-safe.
class FakeLlm {
  public:
    using Handler = std::function<fake_platform::Reply(const fake_platform::Request&)>;

    /// Says that all is well.
    FakeLlm();

    /// The base URL, below which are its operations.
    std::string url() const;
    /// The settings by which it is the model that summarises, named `fast`, and has a price.
    process::Settings settings() const;
    void answer(Handler handler);
    void answer(const FakeCompletion& completion);
    /// An error, as the API writes it.
    void fail(int status, const std::string& code);
    /// The requests for completions so far: body, and the header Authorization.
    struct Seen {
        std::string body;
        std::string authorization;
    };
    std::vector<Seen> seen() const;

  private:
    fake_platform::Reply reply(const fake_platform::Request& request);

    mutable std::mutex mutex_;
    Handler handler_;
    std::vector<Seen> seen_;
    std::unique_ptr<fake_platform::HttpServer> server_;  ///< last: it calls reply()
};

}  // namespace epilogue::testing
