#include "ops/embedded_demo/relay_thread.h"

#include "base/thread_name.h"
#include "ops/agent_server/launch.h"
#include "ops/relay/relay.h"

namespace epilogue::demo {

RelayThread::RelayThread(const Config& config)
    : config_(config), thread_(named_thread("relay", [this](const std::stop_token& stop) {
          const auto ran = run_relay(config_, stop);
          const std::lock_guard lock(mutex_);
          if (!ran) trouble_ = ran.error().text;
      })) {}

std::string RelayThread::url() const {
    return "http://" + config_.relay.http_listen;
}

bool RelayThread::answers() const {
    return agent_server::answers(url() + "/healthz");
}

std::string RelayThread::trouble() const {
    const std::lock_guard lock(mutex_);
    return trouble_;
}

}  // namespace epilogue::demo
