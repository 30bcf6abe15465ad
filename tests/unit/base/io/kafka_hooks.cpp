#include "base/io/kafka_hooks.h"

#define BOOST_TEST_MODULE base_io_kafka_hooks
#include <boost/test/unit_test.hpp>

namespace {

using namespace epilogue;

}  // namespace

BOOST_AUTO_TEST_CASE(a_failure_is_told_without_what_changes_from_one_try_to_the_next) {
    BOOST_TEST(without_noise(
                   "[thrd:ssl://h:1/bootstrap]: ssl://h:1/bootstrap: SSL handshake failed: x (after 5ms in "
                   "state SSL_HANDSHAKE)") == "ssl://h:1/bootstrap: SSL handshake failed: x");
    BOOST_TEST(without_noise("refused (see the log)") == "refused (see the log)");
    BOOST_TEST(without_noise("") == "");
}
