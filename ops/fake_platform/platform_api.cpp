#include "ops/fake_platform/platform_api.h"

#include <array>

namespace epilogue::fake_platform {
namespace {

constexpr std::array<PlatformApi, 7> platforms{{{"email", &serve_email},
                                                {"github", &serve_github},
                                                {"gitlab", &serve_gitlab},
                                                {"jira", &serve_jira},
                                                {"linear", &serve_linear},
                                                {"slack", &serve_slack},
                                                {"webhook", &serve_webhook}}};

}  // namespace

const PlatformApi* platform_api_of(std::string_view path) {
    if (!path.starts_with('/')) return nullptr;
    const std::string_view first = path.substr(1, path.find('/', 1) - 1);
    for (const PlatformApi& platform : platforms) {
        if (platform.name == first) return &platform;
    }
    return nullptr;
}

}  // namespace epilogue::fake_platform
