#include "ops/fake_platform/fake_platform_server.h"

#include "ops/fake_platform/control.h"
#include "ops/fake_platform/http_server.h"

namespace epilogue {

FakePlatformServer::FakePlatformServer(unsigned short port)
    : server_(
          std::make_unique<fake_platform::HttpServer>(port, [this](const fake_platform::Request& request) {
              const bool control = request.path.starts_with(fake_platform::control_prefix);
              return control ? fake_platform::serve_control(*this, request) : handle(request);
          })) {}

FakePlatformServer::~FakePlatformServer() {
    close();  // first: the server's threads may be waiting at the platform
    server_.reset();
}

unsigned short FakePlatformServer::port() const {
    return server_->port();
}

std::string FakePlatformServer::url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port()) + path;
}

}  // namespace epilogue
