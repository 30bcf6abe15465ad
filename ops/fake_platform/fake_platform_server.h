// The fake platform: the platforms' HTTP APIs on loopback, with faults that tests ask for. It knows no
// idempotency keys; it counts attempts and shows what is visible.
#pragma once

#include <memory>
#include <string>

#include "ops/fake_platform/fake_platform.h"

namespace epilogue {

namespace fake_platform {
class HttpServer;
}

/// A fake platform that is open to HTTP: GitHub at /github, GitLab at /gitlab, Slack at /slack, the control
/// API at
/// /_control. Everything the control API gives is also a call of fake_platform::FakePlatform.
class FakePlatformServer : public fake_platform::FakePlatform {
  public:
    /// Listens on 127.0.0.1:`port`, 0: a free one. Throws std::runtime_error when it cannot be had.
    explicit FakePlatformServer(unsigned short port = 0);
    /// Drops what is held, ends every connection, joins every thread.
    ~FakePlatformServer();

    /// The port it listens on.
    unsigned short port() const;
    /// "http://127.0.0.1:PORT" + path.
    std::string url(const std::string& path = "") const;

  private:
    std::unique_ptr<fake_platform::HttpServer> server_;
};

}  // namespace epilogue
