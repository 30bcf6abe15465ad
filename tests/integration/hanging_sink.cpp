// One platform hangs to the deadline of each request while more posts wait for it than there are senders:
// the other platforms' posts are not delayed, and its own go out when it has recovered.
#define BOOST_TEST_MODULE hanging_sink
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/eventually.h"
#include "tests/support/rig.h"

namespace {

using namespace epilogue::testing;
using Json = nlohmann::json;

constexpr int senders = 4;
constexpr int hanging = 10;
constexpr int others = 12;

}  // namespace

BOOST_AUTO_TEST_CASE(a_sink_that_hangs_holds_up_no_other_and_its_posts_go_out_by_themselves) {
    const Rig rig("hanging", 2,
                  {{"worker.senders", senders}, {"worker.http_timeout_s", 2}, {"worker.lease_s", 5}});
    const FakePlatformProcess& platform = rig.platform();
    // Each request is taken, and never answered.
    platform.rules({{{"do", "apply_then_hang"}, {"method", "POST"}, {"path", "^/gitlab/"}, {"times", -1}}});
    std::vector<V0Conversation> conversations;
    for (int i = 0; i < hanging + others; ++i) {
        V0Conversation& conversation = conversations.emplace_back("hanging-" + std::to_string(i));
        if (i < hanging)
            rig.add_callback({"--conversation", conversation.id(), "--processor", "gitlab",
                              "--processor-json",
                              Json{{"project", "a/b"}, {"iid", i + 1}, {"kind", "issue"}}.dump()});
        else
            rig.add_github(conversation.id(), "octo/others", i, "once");
        conversation.user("Go.").agent_finishes("Done.");
    }
    rig.publish(records_of(conversations));
    const auto worker = rig.epilogue().worker();

    const auto sent = [&](const std::string& sink) {
        return rig.number("SELECT COUNT(*) FROM deliveries WHERE state='SENT' AND sink='" + sink + "'");
    };
    eventually("the other sink's posts are out", [&] { return sent("github") == others; });
    eventually("everything is read", [&] { return rig.stored() == rig.ends(); });
    eventually("the group's lag is 0", [&] { return rig.committed() == rig.ends(); });
    eventually("the hanging sink's posts are found where they are",
               [&] { return sent("gitlab") == hanging; });
    BOOST_TEST(rig.number("SELECT MAX(sent_at)<(SELECT MAX(sent_at) FROM deliveries WHERE sink='gitlab') "
                          "FROM deliveries WHERE sink='github'") == 1);
    BOOST_TEST(platform.visible().size() == static_cast<std::size_t>(hanging + others));
}
