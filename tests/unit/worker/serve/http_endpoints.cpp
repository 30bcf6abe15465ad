#define BOOST_TEST_MODULE http_endpoints
#include "worker/serve/http_endpoints.h"

#include <atomic>

#include <boost/test/unit_test.hpp>

#include "base/io/http.h"

using namespace epilogue;

BOOST_AUTO_TEST_CASE(healthz_and_its_other_names_are_503_while_the_loop_does_not_turn) {
    std::atomic<bool> turning = true;
    const auto endpoints = HttpEndpoints::listen("127.0.0.1", 0,
                                                 {.metrics = [] { return std::string(); },
                                                  .missing = [] { return std::string(); },
                                                  .history = [] { return std::string(); },
                                                  .turning = [&turning] { return turning.load(); }});
    BOOST_REQUIRE(endpoints.has_value());
    const auto status_of = [&](const std::string& path) {
        HttpRequest request;
        request.url = "http://127.0.0.1:" + std::to_string((*endpoints)->port()) + path;
        return HttpClient().send(request).status;
    };
    for (const bool turns : {true, false, true}) {
        turning = turns;
        for (const char* path : {"/healthz", "/health", "/alive"})
            BOOST_TEST(status_of(path) == (turns ? 200 : 503), path);
        BOOST_TEST(status_of("/readyz") == 200);
    }
}
