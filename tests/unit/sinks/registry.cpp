#define BOOST_TEST_MODULE registry
#include "sinks/registry.h"

#include <boost/test/unit_test.hpp>

using namespace epilogue;

namespace {

SinkSettings settings() {
    SinkSettings result;
    result.mac_key = "key";
    result.version = "0.1.0";
    return result;
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_short_name_has_its_sink) {
    const auto sinks = make_sinks(settings());
    BOOST_TEST(sinks.size() == 9U);
    for (const auto* name :
         {"email", "github", "gitlab", "jira", "linear", "log", "slack", "topic", "webhook"}) {
        BOOST_REQUIRE(sinks.contains(name));
        BOOST_TEST(sinks.at(name) != nullptr);
    }
}
