#include "tests/agent/shared_server.h"

namespace epilogue::testing {

RealServer& server() {
    static RealServer running(wanted_version());
    return running;
}

process::Settings asks_the_server(const process::Settings& more) {
    return process::merged({{{"agent_server.url", "http://127.0.0.1:" + std::to_string(server().port())},
                             {"agent_server.session_api_key", "lab-key"}},
                            more});
}

}  // namespace epilogue::testing
