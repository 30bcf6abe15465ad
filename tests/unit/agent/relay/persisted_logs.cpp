#define BOOST_TEST_MODULE agent_relay_persisted_logs
#include "agent/relay/persisted_logs.h"

#include <fstream>

#include <boost/test/unit_test.hpp>

#include "tests/support/expect.h"
#include "tests/support/temp_dir.h"

using namespace epilogue;
using namespace epilogue::relay;
using epilogue::testing::TempDir;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& file) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "{}";
}

std::vector<std::int64_t> numbers(const PersistedLog& log) {
    std::vector<std::int64_t> numbers;
    for (const auto& each : log.events) numbers.push_back(each.number);
    return numbers;
}

}  // namespace

BOOST_AUTO_TEST_CASE(logs_of_both_generations_are_found_below_a_folder_each_in_the_order_of_its_numbers) {
    const TempDir dir;
    for (const char* number : {"2", "10", "0"})
        write(dir.path() / "sessions/v0 id/events" / (number + std::string(".json")));
    write(dir.path() / "sessions/v0 id/event_cache/0-25.json");
    write(dir.path() / "sessions/v0 id/metadata.json");
    const fs::path v1 = dir.path() / "conversations/0B9C7C1E111142228333444455556666/events";
    write(v1 / "event-00001-22650aa8-6d1a-475e-b363-14595c44e3bb.json");
    write(v1 / "event-00000-05153f4d-bfa9-4f74-88aa-79b118da0f99.json");
    write(v1.parent_path() / "base_state.json");
    const auto folders = testing::expect(folders_of_logs(dir.path()));
    BOOST_REQUIRE(folders.size() == 2U);
    const auto first = testing::expect(persisted_log(folders[0]));
    BOOST_TEST(first.conversation_id.text() == "0b9c7c1e111142228333444455556666");
    BOOST_TEST((numbers(first) == std::vector<std::int64_t>{0, 1}));
    BOOST_TEST(first.events[0].is_numbered_log);
    const auto second = testing::expect(persisted_log(folders[1]));
    BOOST_TEST(second.conversation_id.text() == "v0 id");
    BOOST_TEST((numbers(second) == std::vector<std::int64_t>{0, 2, 10}));
    BOOST_TEST(!second.events[0].is_numbered_log);
}

BOOST_AUTO_TEST_CASE(one_file_is_one_event_of_its_conversation) {
    const TempDir dir;
    const fs::path file = dir.path() / "c1/events/7.json";
    write(file);
    write(file.parent_path() / "8.json");
    const auto folders = testing::expect(folders_of_logs(file));
    BOOST_REQUIRE(folders.size() == 1U);
    const auto log = testing::expect(persisted_log(folders[0], file));
    BOOST_TEST(log.conversation_id.text() == "c1");
    BOOST_TEST((numbers(log) == std::vector<std::int64_t>{7}));
}

BOOST_AUTO_TEST_CASE(what_has_no_events_is_refused_by_name) {
    const TempDir dir;
    BOOST_TEST(folders_of_logs(dir.path()).error().text ==
               dir.path().string() + ": has no events: expected events/N.json or event-N-….json");
    BOOST_TEST(folders_of_logs(dir.path() / "none").error().text ==
               (dir.path() / "none").string() + ": there is no such file or folder");
    write(dir.path() / "other/5.json");
    BOOST_TEST(!folders_of_logs(dir.path() / "other/5.json").has_value());
}
