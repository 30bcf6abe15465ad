#include "ops/fake_platform/fake_platform_server.h"

#include "ops/fake_platform/control.h"
#include "ops/fake_platform/http_server.h"

namespace epilogue {

StandIn::StandIn(unsigned short port)
    : server_(std::make_unique<standin::Server>(port, [this](const standin::Request& request) {
          const bool control = request.path.starts_with(standin::control_prefix);
          return control ? standin::serve_control(*this, request) : handle(request);
      })) {}

StandIn::~StandIn() {
    close();  // first: the server's threads may be waiting at the desk
    server_.reset();
}

unsigned short StandIn::port() const {
    return server_->port();
}

std::string StandIn::url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port()) + path;
}

}  // namespace epilogue
