// The agent client against recorded servers of two versions: what they sent, in the order in which they sent
// it.
#define BOOST_TEST_MODULE agent_recordings
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <boost/test/unit_test.hpp>

#include "agent/conversation.h"
#include "tests/agent/fake_agent_server.h"
#include "tests/support/eventually.h"

using namespace epilogue;
using namespace epilogue::agent;
using namespace epilogue::testing;
using namespace std::chrono_literals;

namespace {

const std::filesystem::path recordings = EPILOGUE_SOURCE_DIR "/tests/data/recordings";
const std::string id = "11111111-2222-4333-8444-555555555555";

std::vector<std::string> lines_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);)
        if (!line.empty()) lines.push_back(line);
    return lines;
}

std::vector<std::string> ids_of(const EventList& events) {
    std::vector<std::string> ids;
    for (const EventRef& event : events) ids.push_back(event->id);
    return ids;
}

std::vector<std::string> ids_in(const std::vector<std::string>& events) {
    std::vector<std::string> ids;
    for (const std::string& event : events)
        if (const auto parsed = parse_event(event); parsed && parsed->is_stored()) ids.push_back(parsed->id);
    return ids;
}

/// A recorded conversation: what its log was in the end, and what the socket told.
struct Recorded {
    std::string name;
    std::string version;
    std::vector<std::string> log;
    std::vector<std::string> frames;
};

/// The log with what came after it was read.
std::vector<std::string> with_later(std::vector<std::string> log, const std::vector<std::string>& frames) {
    const auto in_log = ids_in(log);
    for (const std::string& frame : frames) {
        const auto event = parse_event(frame);
        if (event && event->is_stored() && std::find(in_log.begin(), in_log.end(), event->id) == in_log.end())
            log.push_back(frame);
    }
    return log;
}

std::vector<Recorded> all_recorded() {
    std::vector<Recorded> all;
    for (const char* const version : {"1.7.3", "1.58.0"}) {
        for (const auto& entry :
             std::filesystem::recursive_directory_iterator(recordings / (std::string("v") + version))) {
            const std::string path = entry.path().string();
            const std::string ending = ".rest.jsonl";
            if (!path.ends_with(ending)) continue;
            const std::string stem = path.substr(0, path.size() - ending.size());
            const auto frames = lines_of(stem + ".ws.jsonl");
            if (frames.empty()) continue;
            all.push_back({std::string(version) + " " + entry.path().filename().string(), version,
                           with_later(lines_of(path), frames), frames});
        }
    }
    std::sort(all.begin(), all.end(), [](const Recorded& a, const Recorded& b) { return a.name < b.name; });
    return all;
}

/// The events that a callback saw, apart from those of the wire only. Thread-safe.
class SeenEvents {
  public:
    ConversationOptions options() {
        ConversationOptions made;
        made.socket.backoff_base = 1ms;
        made.socket.backoff_cap = 20ms;
        made.callbacks.emplace_back([this](const RemoteEvent& event) {
            const std::lock_guard lock(mutex_);
            if (event.is_stored()) seen_.push_back(event.id);
        });
        return made;
    }
    std::vector<std::string> sorted() const {
        const std::lock_guard lock(mutex_);
        auto ids = seen_;
        std::sort(ids.begin(), ids.end());
        return ids;
    }
    std::size_t size() const {
        const std::lock_guard lock(mutex_);
        return seen_.size();
    }

  private:
    mutable std::mutex mutex_;
    std::vector<std::string> seen_;
};

std::vector<std::string> sorted(std::vector<std::string> ids) {
    std::sort(ids.begin(), ids.end());
    return ids;
}

/// Sends what was recorded. Before the socket tells an event, the log has it and all that stands before it.
void play(FakeAgentServer& server, const Recorded& recorded, std::size_t drop_after) {
    const auto log = ids_in(recorded.log);
    std::size_t written = 0;
    const auto write_until = [&](std::size_t end) {
        for (; written < end; ++written) server.append(id, recorded.log[written]);
    };
    for (std::size_t i = 0; i < recorded.frames.size(); ++i) {
        const auto frame = parse_event(recorded.frames[i]);
        const auto place = frame ? std::find(log.begin(), log.end(), frame->id) : log.end();
        if (place != log.end()) write_until(static_cast<std::size_t>(place - log.begin()) + 1);
        server.tell(id, recorded.frames[i]);
        if (i == drop_after) server.end_sockets([](fake_platform::SocketPeer& peer) { peer.drop(); });
    }
    write_until(recorded.log.size());
}

void check(const Recorded& recorded, std::size_t drop_after) {
    FakeAgentServer server(recorded.version);
    server.add(id);
    SeenEvents seen_events;
    auto conversation = RemoteConversation::attach(server.client(), id, seen_events.options());
    BOOST_REQUIRE(conversation.has_value());
    play(server, recorded, drop_after);
    BOOST_TEST((*conversation)->reconcile(patience).has_value());
    const auto expected = ids_in(recorded.log);
    eventually("all events told", [&] { return seen_events.size() >= expected.size(); });
    BOOST_TEST_CONTEXT(recorded.name) {
        BOOST_TEST(seen_events.sorted() == sorted(expected), boost::test_tools::per_element());
        BOOST_TEST(ids_of((*conversation)->events()) == expected, boost::test_tools::per_element());
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(of_every_recorded_conversation_the_list_is_the_servers_log) {
    const auto all = all_recorded();
    BOOST_TEST(all.size() > 40U);
    for (const Recorded& recorded : all) check(recorded, recorded.frames.size());
}

BOOST_AUTO_TEST_CASE(so_it_is_when_the_socket_drops_in_the_middle) {
    for (const Recorded& recorded : all_recorded()) check(recorded, recorded.frames.size() / 2);
}
