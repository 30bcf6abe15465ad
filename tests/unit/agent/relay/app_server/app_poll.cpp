// An app server's conversations come into the topic, with a stand-in for the server.
#define BOOST_TEST_MODULE agent_relay_app_server_app_poll
#include "agent/relay/app_server/app_poll.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/instant.h"
#include "ops/fake_platform/http_server.h"
#include "tests/agent/relay_rig.h"
#include "tests/support/eventually.h"

using namespace epilogue;
using namespace epilogue::relay;
using namespace epilogue::testing;
using namespace std::chrono_literals;
using fake_platform::json_reply;
using fake_platform::Reply;
using fake_platform::Request;
using Json = nlohmann::json;

namespace {

const std::string one = "0b9c7c1e111142228333444455556666";
const std::string two = "0b9c7c1e111142228333444455557777";

class MemoryAppPositions final : public AppPositions {
  public:
    Result<std::optional<std::string>> hold(const std::string&, const std::string& owner,
                                            std::chrono::seconds) override {
        const std::lock_guard lock(mutex_);
        if (owner_.empty()) owner_ = owner;
        return owner_ == owner ? std::optional(floor_) : std::nullopt;
    }
    Result<void> release(const std::string&, const std::string& owner) override {
        const std::lock_guard lock(mutex_);
        if (owner_ == owner) owner_.clear();
        return {};
    }
    Result<void> set_floor(const std::string&, const std::string&, const std::string& floor) override {
        const std::lock_guard lock(mutex_);
        floor_ = floor;
        return {};
    }
    Result<void> note_look(const std::string&, const std::string&, const AppLook& look) override {
        const std::lock_guard lock(mutex_);
        look_ = look;
        return {};
    }
    Result<void> save(const std::string&, const std::string&, const ConversationId& conversation,
                      const AppPosition& position) override {
        const std::lock_guard lock(mutex_);
        rows_[conversation] = position;
        return {};
    }
    Result<std::map<ConversationId, AppPosition>> positions(const std::vector<ConversationId>&) override {
        const std::lock_guard lock(mutex_);
        return rows_;
    }
    std::string floor() const {
        const std::lock_guard lock(mutex_);
        return floor_;
    }
    AppLook look() const {
        const std::lock_guard lock(mutex_);
        return look_;
    }
    AppPosition at(const std::string& conversation) const {
        const std::lock_guard lock(mutex_);
        const auto found = rows_.find(ConversationId(conversation));
        return found == rows_.end() ? AppPosition{} : found->second;
    }

  private:
    mutable std::mutex mutex_;
    std::string owner_;
    std::string floor_;
    AppLook look_;
    std::map<ConversationId, AppPosition> rows_;
};

/// Its logs are sorted by time, in pages of two, as the real one's are in pages of 100.
class FakeAppServer {
  public:
    FakeAppServer() : server_(0, [this](const Request& request) { return answer(request); }) {}

    std::string url() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }
    void add(const std::string& conversation, const std::string& id, const std::string& time) {
        const std::lock_guard lock(mutex_);
        auto& log = logs_[conversation];
        log.push_back({{"id", id}, {"kind", "MessageEvent"}, {"timestamp", "2026-11-23T10:" + time}});
        if (id.starts_with("end")) log.back().update({{"key", "execution_status"}, {"value", "finished"}});
        std::ranges::stable_sort(log, {},
                                 [](const Json& event) { return event["timestamp"].get<std::string>(); });
        updated_[conversation] = "2026-11-23T12:00:" + std::to_string(10 + ++updates_) + "Z";
    }
    /// Conversations run there.
    void set_sandbox(const std::string& url) {
        const std::lock_guard lock(mutex_);
        sandbox_ = url;
    }
    void set_down(bool down) { is_down_ = down; }
    /// The first `count` events of the log are no more.
    void drop(const std::string& conversation, int count) {
        const std::lock_guard lock(mutex_);
        auto& log = logs_[conversation];
        log.erase(log.begin(), log.begin() + count);
    }
    /// Between two looks: what is added in it is there at once.
    template <class Work>
    void at_once(Work work) {
        set_down(true);
        work();
        set_down(false);
    }
    /// Each request is refused, and the next one wanted after so many seconds.
    void set_busy(int seconds) { busy_for_ = seconds; }
    int asked_while_busy() const { return asked_while_busy_; }
    /// The log of that conversation cannot be read; "": all can.
    void break_log(const std::string& conversation) {
        const std::lock_guard lock(mutex_);
        broken_ = conversation;
    }
    int refused() const { return refused_; }

  private:
    static std::size_t number_in(const std::string& query, const std::string& name) {
        const auto parameters = fake_platform::parameters_of(query);
        const auto found = parameters.find(name);
        return found == parameters.end() ? 0 : std::stoul(found->second);
    }
    static Reply page(const Json& items, std::size_t from) {
        Json page{{"items", Json::array()}, {"next_page_id", nullptr}};
        for (std::size_t i = from; i < std::min(items.size(), from + 2); ++i)
            page["items"].push_back(items[i]);
        if (from + 2 < items.size()) page["next_page_id"] = std::to_string(from + 2);
        return json_reply(200, page.dump());
    }
    Reply answer(const Request& request) {
        if (request.path == "/alive") return json_reply(200, "{}");
        const bool is_allowed = request.headers.contains("authorization") &&
                                request.headers.at("authorization") == "Bearer the-key" &&
                                request.headers.contains("x-org-id");
        if (!is_allowed) ++refused_;
        if (is_allowed && busy_for_ > 0) {
            ++asked_while_busy_;
            Reply reply = json_reply(429, "{}");
            reply.headers.emplace_back("Retry-After", std::to_string(busy_for_));
            return reply;
        }
        if (!is_allowed || is_down_) return json_reply(is_allowed ? 502 : 401, "{}");
        const std::lock_guard lock(mutex_);
        const auto parameters = fake_platform::parameters_of(request.query);
        const std::size_t from = number_in(request.query, "page_id");
        if (request.path == "/api/v1/app-conversations/search") {
            Json items = Json::array();
            for (const auto& [id, updated] : updated_) {
                Json item{{"id", id}, {"updated_at", updated}, {"sandbox_status", "RUNNING"}};
                if (!sandbox_.empty()) item["conversation_url"] = sandbox_ + "/api/conversations/" + id;
                item["session_api_key"] = "sandbox-key";
                items.push_back(item);
            }
            return page(items, from);
        }
        const std::string id = request.path.substr(std::string("/api/v1/conversation/").size(), one.size());
        if (id == broken_) return json_reply(500, "{}");
        Json log = Json::array();
        for (const Json& event : logs_[id])
            if (!parameters.contains("timestamp__gte") ||
                event["timestamp"] >= parameters.at("timestamp__gte"))
                log.push_back(event);
        if (request.path.ends_with("/events/count")) return json_reply(200, std::to_string(logs_[id].size()));
        return page(log, from);
    }

    std::mutex mutex_;
    std::map<std::string, std::vector<Json>> logs_;
    std::map<std::string, std::string> updated_;
    int updates_ = 0;
    std::string sandbox_;
    std::string broken_;
    std::atomic<bool> is_down_ = false;
    std::atomic<int> refused_ = 0;
    std::atomic<int> busy_for_ = 0;
    std::atomic<int> asked_while_busy_ = 0;
    fake_platform::HttpServer server_;
};

struct Trial {
    FakeAppServer server;
    MemoryTopic topic;
    MemoryAppPositions positions;
    std::mutex mutex;
    std::map<std::string, std::string> sandboxes;  ///< address and key by conversation
    std::atomic<std::int64_t> behind = -1;
    std::atomic<bool> waits = false;  ///< one that is behind
    std::optional<AppPoll> poll;

    void begin(const std::string& owner = "a", const std::string& key = "the-key") {
        AppPollRules rules;
        rules.owner = owner;
        rules.look_every = 20ms;
        rules.quiet_every = 20ms;
        rules.first_floor = 24h * 365 * 50;  // what its conversations were updated on is a day of the past
        AppPollObserver observer;
        observer.make_record = [](const ConversationId& id, std::string_view json) {
            return std::optional(TopicRecord{id, std::string(json)});
        };
        observer.reachable = [this](const AppConversation& conversation) {
            const std::lock_guard lock(mutex);
            sandboxes[conversation.id] = conversation.agent_url + " " + conversation.session_key.reveal();
        };
        observer.behind = [this](std::int64_t events, std::optional<Lag::Time> since) {
            behind = events;
            waits = since.has_value();
        };
        poll.emplace(AppServer::Rules{server.url() + "/", Secret(key), "org"}, positions, topic, rules,
                     observer);
    }
    void require_ids(const std::string& conversation, const std::vector<std::string>& ids) {
        eventually("the topic has the log", [&] { return topic.first_ids(conversation) == ids; });
    }
};

}  // namespace

BOOST_AUTO_TEST_CASE(
    every_event_of_every_conversation_is_in_the_topic_once_and_what_is_stored_late_comes_late) {
    Trial trial;
    for (const char* id : {"a", "b", "c", "d", "e"})
        trial.server.add(one, id, "0" + std::to_string(id[0] - 'a') + ":00");
    for (const std::string& other : {two, std::string("0b9c7c1e111142228333444455558888")})
        trial.server.add(other, "x" + other.substr(28), "00:00");
    trial.begin();
    trial.require_ids(one, {"a", "b", "c", "d", "e"});
    trial.require_ids(two, {"x7777"});
    trial.server.add(one, "g", "06:00");
    trial.server.add(one, "f", "05:59");   // within what is read again
    trial.server.add(one, "aa", "00:30");  // long before that
    trial.require_ids(one, {"a", "b", "c", "d", "e", "f", "g", "aa"});
    eventually("the position", [&] { return trial.positions.at(one).told == 8; });
    BOOST_TEST(trial.positions.at(one).newest == "2026-11-23T10:06:00");
    eventually("the floor", [&] { return trial.positions.floor() == "2026-11-23T11:50:20.000000Z"; });
    eventually("nothing is behind", [&] { return trial.behind == 0; });
    trial.poll.reset();
    BOOST_TEST(trial.topic.records(one).size() == 8U);
}

BOOST_AUTO_TEST_CASE(another_relay_goes_on_where_the_first_stood) {
    Trial trial;
    trial.server.add(one, "a", "00:00");
    trial.server.add(one, "b", "09:00");
    trial.begin();
    trial.require_ids(one, {"a", "b"});
    eventually("the position", [&] { return trial.positions.at(one).told == 2; });
    trial.poll.reset();
    trial.server.add(one, "c", "09:30");
    trial.begin("b");
    trial.require_ids(one, {"a", "b", "c"});
    eventually("the position", [&] { return trial.positions.at(one).told == 3; });
    BOOST_TEST(trial.topic.records(one).size() == 4U);  // b once more: it is of the last two minutes
}

BOOST_AUTO_TEST_CASE(a_server_that_another_relay_reads_is_left_to_it) {
    Trial trial;
    static_cast<void>(trial.positions.hold("", "other", 1s));
    trial.server.add(one, "a", "00:00");
    trial.begin();
    eventually("it has looked", [&] { return trial.behind == 0; });
    BOOST_TEST(trial.topic.size() == 0U);
    static_cast<void>(trial.positions.release("", "other"));
    trial.require_ids(one, {"a"});
}

BOOST_AUTO_TEST_CASE(for_how_long_an_event_has_been_known_is_said_until_the_topic_has_it) {
    Trial trial;
    trial.topic.go_away(0);
    trial.server.add(one, "a", "00:00");
    trial.begin();
    eventually("it is known that one waits", [&] { return trial.behind == 1 && trial.waits; });
    trial.topic.come_back();
    trial.require_ids(one, {"a"});
    eventually("none waits", [&] { return trial.behind == 0 && !trial.waits; });
}

BOOST_AUTO_TEST_CASE(what_the_topic_gives_up_and_a_server_that_is_away_are_tried_again) {
    Trial trial;
    trial.topic.give_up(1);
    for (const char* id : {"a", "b", "c"})
        trial.server.add(one, id, "0" + std::to_string(id[0] - 'a') + ":00");
    trial.begin();
    eventually("all are there", [&] { return trial.positions.at(one).told == 3; });
    auto ids = trial.topic.first_ids(one);
    std::ranges::sort(ids);
    BOOST_TEST(ids == (std::vector<std::string>{"a", "b", "c"}), boost::test_tools::per_element());
    trial.server.set_down(true);
    eventually("the trouble is known", [&] { return trial.poll->trouble() == "it answered 502"; });
    trial.server.add(one, "d", "59:00");
    trial.server.set_down(false);
    eventually("d", [&] { return trial.positions.at(one).told == 4; });
    eventually("the trouble is over", [&] { return trial.poll->trouble().empty(); });
}

BOOST_AUTO_TEST_CASE(a_log_that_its_server_cannot_read_holds_up_no_other) {
    Trial trial;
    trial.server.break_log(one);
    trial.server.add(one, "a", "00:00");
    trial.server.add(two, "b", "00:00");
    trial.begin();
    trial.require_ids(two, {"b"});
    eventually("the trouble is known", [&] { return trial.poll->trouble() == "it answered 500"; });
    trial.server.add(two, "c", "01:00");
    trial.require_ids(two, {"b", "c"});
    BOOST_TEST(trial.positions.floor().empty());
    BOOST_TEST(trial.positions.look().trouble == "it answered 500");
    trial.server.break_log("");
    trial.require_ids(one, {"a"});
    eventually("no trouble stands", [&] { return trial.positions.look().trouble.empty(); });
    eventually("the floor", [&] { return !trial.positions.floor().empty(); });
}

BOOST_AUTO_TEST_CASE(a_key_that_is_refused_is_said) {
    Trial trial;
    trial.begin("a", "wrong");
    eventually("the trouble is known", [&] { return trial.poll->trouble() == "it refuses the key (401)"; });
    BOOST_TEST(trial.positions.look().trouble == "it refuses the key (401)");
    BOOST_TEST(trial.server.refused() > 0);
}

BOOST_AUTO_TEST_CASE(a_sandbox_that_answers_is_told_of_with_its_key) {
    Trial trial;
    FakeAppServer sandbox;
    trial.server.set_sandbox(sandbox.url());
    trial.server.add(one, "a", "00:00");
    trial.begin();
    eventually("it is told", [&] {
        const std::lock_guard lock(trial.mutex);
        return trial.sandboxes[one] == sandbox.url() + " sandbox-key";
    });
    Trial lonely;
    lonely.server.set_sandbox("http://127.0.0.1:1");
    lonely.server.add(one, "a", "00:00");
    lonely.begin();
    lonely.require_ids(one, {"a"});
    eventually("it has looked again", [&] { return lonely.behind == 0; });
    const std::lock_guard lock(lonely.mutex);
    BOOST_TEST(lonely.sandboxes.empty());
}

BOOST_AUTO_TEST_CASE(an_end_waits_for_what_was_stored_late_before_it) {
    Trial trial;
    trial.server.add(one, "a", "00:00");
    trial.server.add(one, "b", "09:00");
    trial.begin();
    trial.require_ids(one, {"a", "b"});
    eventually("the position", [&] { return trial.positions.at(one).told == 2; });
    trial.server.at_once([&] {
        trial.server.add(one, "words", "01:00");  // further back than what is read again
        trial.server.add(one, "c", "09:10");
        trial.server.add(one, "end", "09:20");
        trial.server.add(one, "d", "09:30");
    });
    trial.require_ids(one, {"a", "b", "c", "words", "end", "d"});
    eventually("the position", [&] { return trial.positions.at(one).told == 6; });
    BOOST_TEST(trial.positions.at(one).newest == "2026-11-23T10:09:30");
    BOOST_TEST(trial.topic.records(one).size() == 6U);
}

BOOST_AUTO_TEST_CASE(a_log_that_became_shorter_is_read_through_and_hides_nothing_that_is_added_to_it) {
    Trial trial;
    for (const char* id : {"a", "b", "c"})
        trial.server.add(one, id, "0" + std::to_string(id[0] - 'a') + ":00");
    trial.begin();
    eventually("the position", [&] { return trial.positions.at(one).told == 3; });
    trial.server.drop(one, 2);
    eventually("it is counted anew", [&] { return trial.positions.at(one).told == 1; });
    trial.server.at_once([&] {
        trial.server.add(one, "d", "00:30");
        trial.server.add(one, "e", "00:40");
    });
    trial.require_ids(one, {"a", "b", "c", "d", "e"});
}

BOOST_AUTO_TEST_CASE(a_server_that_wants_to_be_left_alone_is) {
    Trial trial;
    trial.server.set_busy(3600);
    trial.server.add(one, "a", "00:00");
    trial.begin();
    eventually("it refused", [&] { return trial.positions.look().trouble == "it answered 429"; });
    Trial other;  // as many looks as it would have had
    other.server.add(one, "a", "00:00");
    other.begin();
    other.require_ids(one, {"a"});
    for (int i = 0; i < 3; ++i) {
        other.server.add(one, "b" + std::to_string(i), "01:0" + std::to_string(i));
        eventually("a look", [&] { return other.positions.at(one).told == i + 2; });
    }
    BOOST_TEST(trial.server.asked_while_busy() == 1);
}
