// A server's conversations are found, the new ones soon, those that are gone with the next whole list.
#define BOOST_TEST_MODULE agent_relay_follow_server_listing
#include "agent/relay/follow/server_listing.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "tests/agent/fake_agent_server.h"
#include "tests/support/eventually.h"

using namespace epilogue;
using namespace epilogue::relay;
using namespace epilogue::testing;
using namespace std::chrono_literals;

namespace {

/// A server whose list has pages of two, the newest first.
struct Trial {
    explicit Trial(ListingRules with) : rules(with) {
        server.on("GET /api/conversations/search", [this](const fake_platform::Request& request) {
            const std::lock_guard lock(mutex);
            ++asked;
            if (is_down) return fake_platform::json_reply(503, "{}");
            const auto at = request.query.find("page_id=");
            std::size_t from = at == std::string::npos ? 0 : std::stoul(request.query.substr(at + 8));
            nlohmann::json items = nlohmann::json::array();
            for (std::size_t i = from; i < ids.size() && i < from + 2; ++i) items.push_back({{"id", ids[i]}});
            nlohmann::json page{{"items", items}};
            if (from + 2 < ids.size()) page["next_page_id"] = std::to_string(from + 2);
            return fake_platform::json_reply(200, page.dump());
        });
    }

    void begin() {
        listing.emplace(
            server.client(),
            [this](const std::vector<ConversationId>& conversations, bool is_all) -> Result<void> {
                const std::lock_guard lock(mutex);
                if (refuse-- > 0) return retryable("the database is away");
                if (is_all) found.clear();
                for (const auto& each : conversations) found.push_back(each.text());
                ++(is_all ? wholes : news);
                return {};
            },
            rules);
    }
    void set_ids(std::vector<std::string> now) {
        const std::lock_guard lock(mutex);
        ids = std::move(now);
    }
    bool has_found(std::vector<std::string> wanted) {
        const std::lock_guard lock(mutex);
        auto sorted = found;
        std::ranges::sort(sorted);
        std::ranges::sort(wanted);
        return sorted == wanted;
    }
    int number(int Trial::*which) {
        const std::lock_guard lock(mutex);
        return this->*which;
    }

    std::mutex mutex;
    std::vector<std::string> ids;
    std::vector<std::string> found;
    bool is_down = false;
    int refuse = 0;
    int asked = 0;
    int wholes = 0;
    int news = 0;
    FakeAgentServer server;
    const ListingRules rules;
    std::optional<ServerListing> listing;
};

ListingRules quick(std::chrono::milliseconds all_every) {
    return {2, 20ms, all_every, 0};
}

}  // namespace

BOOST_AUTO_TEST_CASE(all_pages_are_found_then_what_is_new_without_reading_all_again) {
    Trial trial(quick(1h));
    trial.ids = {"c5", "c4", "c3", "c2", "c1"};
    trial.begin();
    eventually("all are found", [&] { return trial.has_found({"c1", "c2", "c3", "c4", "c5"}); });
    trial.set_ids({"c8", "c7", "c6", "c5", "c4", "c3", "c2", "c1"});
    eventually("the new ones are found", [&] {
        return trial.has_found({"c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"});
    });
    BOOST_TEST(trial.number(&Trial::wholes) == 1);
    const int before = trial.number(&Trial::asked);
    eventually("it was looked again", [&] { return trial.number(&Trial::asked) >= before + 5; });
    BOOST_TEST(trial.number(&Trial::news) == 1);
}

BOOST_AUTO_TEST_CASE(those_that_are_gone_are_missing_from_the_next_whole_list) {
    Trial trial(quick(50ms));
    trial.ids = {"c3", "c2", "c1"};
    trial.begin();
    eventually("all are found", [&] { return trial.has_found({"c1", "c2", "c3"}); });
    trial.set_ids({"c3"});
    eventually("the others are gone", [&] { return trial.has_found({"c3"}); });
}

BOOST_AUTO_TEST_CASE(what_could_not_be_kept_and_a_server_that_is_down_are_tried_again) {
    Trial trial(quick(1h));
    trial.ids = {"c1"};
    trial.refuse = 2;
    trial.begin();
    eventually("it is kept in the end", [&] { return trial.has_found({"c1"}); });
    {
        const std::lock_guard lock(trial.mutex);
        trial.is_down = true;
    }
    eventually("it is said", [&] { return !trial.listing->trouble().empty(); });
    trial.set_ids({"c2", "c1"});
    {
        const std::lock_guard lock(trial.mutex);
        trial.is_down = false;
    }
    eventually("it goes on", [&] {
        return trial.has_found({"c1", "c2"}) && trial.listing->trouble().empty();
    });
}

BOOST_AUTO_TEST_CASE(a_server_is_listed_for_a_small_part_of_the_time_only) {
    Trial trial({2, 1ms, 1ms, 1'000'000});
    trial.ids = {"c1"};
    trial.begin();
    eventually("it is found", [&] { return trial.has_found({"c1"}); });
    BOOST_CHECK_THROW(eventually("it is asked again", 300ms, [&] { return trial.number(&Trial::asked) > 1; }),
                      GaveUp);
}
