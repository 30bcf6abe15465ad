// What the tests of every remote sink share: a platform that misbehaves as told, and one delivery's identity.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/instant.h"
#include "base/io/http.h"
#include "ops/fake_platform/fake_platform_server.h"
#include "sinks/port/sink.h"
#include "tests/unit/sinks/sink_calls.h"

namespace epilogue::sink_test {

using Json = nlohmann::json;
using Ids = std::vector<std::string>;

inline const DeliveryId id{"2b4e1c9a-0d5f-5a53-9c55-0a7c3f6f1b11"};

/// What is no place of the sink under test.
struct ForeignTarget {};

inline std::string text_of(std::int64_t number) {
    return fmt::format("{}", number);
}

/// A sink with these settings, called over the network.
template <class SinkType, class Settings>
SinkCalls called(Settings settings, std::chrono::milliseconds timeout = std::chrono::seconds{5}) {
    return {std::make_shared<SinkType>(std::move(settings)), {.send = over_http()}, timeout};
}

/// A platform that does as a test says, a sink for it, and a post.
template <class SinkType>
struct SinkFixture {
    /// `settings_for(platform)` are the sink's settings.
    template <class SettingsFor>
    SinkFixture(SettingsFor settings_for, Post posted)
        : sink(called<SinkType>(settings_for(platform))), post(std::move(posted)) {}

    FakePlatformServer platform;
    SinkCalls sink;
    Post post;

    /// What becomes of the next request that fits.
    void rule(Json rule) { platform.rules(Json::array({std::move(rule)}).dump()); }
    void answers(const std::string& method, int status, const Json& answer,
                 const Json& headers = Json::object()) {
        rule({{"method", method},
              {"do", "status"},
              {"status", status},
              {"headers", headers},
              {"answer", answer}});
    }
    /// The ids of the posts that a look-up finds; one that cannot look fails the test.
    Ids found() {
        const auto lookup = sink.find(post);
        BOOST_TEST(lookup.ok, lookup.cause);
        Ids ids;
        for (const auto& receipt : lookup.found) ids.push_back(receipt.remote_id);
        return ids;
    }
};

}  // namespace epilogue::sink_test
