#include "worker/settings.h"

#define BOOST_TEST_MODULE worker_settings
#include <boost/test/unit_test.hpp>

namespace {

using namespace epilogue;

}  // namespace

BOOST_AUTO_TEST_CASE(each_sender_has_a_database_session_that_is_kept_open_and_others_have_theirs) {
    Config config;
    for (const int senders : {1, 32, 1024}) {
        config.worker.senders = senders;
        // Eight summarisers, eight that ask agent servers, and what sweeps, adopts, removes and counts.
        BOOST_TEST(post_sessions(config) >= static_cast<std::size_t>(senders) + 8 + 8 + 3);
    }
}
