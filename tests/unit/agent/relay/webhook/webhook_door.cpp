#define BOOST_TEST_MODULE webhook_door
#include "agent/relay/webhook/webhook_door.h"

#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include <boost/test/unit_test.hpp>

#include "tests/support/eventually.h"

using namespace epilogue;
using namespace epilogue::relay;
using testing::eventually;

namespace {

/// Takes what there is room for, and settles it when it is told to.
class FakeTopic final : public Topic {
  public:
    bool produce(TopicRecord record, Settled settled) override {
        const std::lock_guard lock(mutex_);
        if (room_ == 0) return false;
        --room_;
        records_.push_back(std::move(record));
        settled_.push_back(std::move(settled));
        return true;
    }
    void when_room(std::function<void()> listener) override { listener(); }

    void set_room(std::size_t records) {
        const std::lock_guard lock(mutex_);
        room_ = records;
    }
    std::vector<TopicRecord> records() const {
        const std::lock_guard lock(mutex_);
        return records_;
    }
    std::vector<std::string> values() const {
        std::vector<std::string> values;
        for (const auto& record : records()) values.push_back(record.value);
        return values;
    }
    /// Settles what is under way; those in `failing` are given up.
    void settle(const std::set<std::size_t>& failing = {}) {
        std::vector<Settled> due;
        {
            const std::lock_guard lock(mutex_);
            due.swap(settled_);
        }
        for (std::size_t i = 0; i < due.size(); ++i)
            due[i](failing.contains(i) ? Result<void>(retryable("no broker")) : Result<void>());
    }

  private:
    mutable std::mutex mutex_;
    std::size_t room_ = 1000;
    std::vector<TopicRecord> records_;
    std::vector<Settled> settled_;
};

class FakeOwners final : public ConversationOwners {
  public:
    Result<std::map<ConversationId, KeyDigest>> claim(const std::vector<ConversationId>& conversations,
                                                      const KeyDigest& key) override {
        const std::lock_guard lock(mutex_);
        ++asked_;
        if (is_away_) return retryable("the database is away");
        std::map<ConversationId, KeyDigest> owners;
        for (const auto& one : conversations) owners[one] = owners_.try_emplace(one, key).first->second;
        return owners;
    }
    Result<void> hand_over(const ConversationId& conversation, const KeyDigest& from,
                           const KeyDigest& to) override {
        const std::lock_guard lock(mutex_);
        if (owners_[conversation] == from) owners_[conversation] = to;
        return {};
    }
    void set_away(bool away) {
        const std::lock_guard lock(mutex_);
        is_away_ = away;
    }
    int asked() const {
        const std::lock_guard lock(mutex_);
        return asked_;
    }

  private:
    mutable std::mutex mutex_;
    bool is_away_ = false;
    int asked_ = 0;
    std::map<ConversationId, KeyDigest> owners_;
};

struct Rig {
    FakeTopic topic;
    FakeOwners owners;
    std::mutex mutex;
    std::map<Outcome, std::size_t> counts;
    std::vector<std::string> came;  ///< "conversation/event", with "!" at the end of a run
    bool ends_wait = false;
    std::vector<std::function<void()>> waiting;  ///< ends
    WebhookDoor door;

    explicit Rig(std::vector<Secret> keys = {Secret("key"), Secret("other")})
        : door(topic, owners, SenderKeys(keys),
               {{"StreamingDeltaEvent"},
                [] { return std::size_t{1} << 20U; },
                {[this](Door, Outcome outcome, std::size_t events) {
                     const std::lock_guard lock(mutex);
                     counts[outcome] += events;
                 },
                 [](auto) {}},
                [this](const CameEvent& event) {
                    const std::lock_guard lock(mutex);
                    came.push_back(event.conversation_id.text() + "/" + event.id +
                                   (event.ends_run ? "!" : ""));
                },
                [this](const ConversationId&, std::function<void()> go_on) {
                    if (!ends_wait) return go_on();
                    const std::lock_guard lock(mutex);
                    waiting.push_back(std::move(go_on));
                }}) {}

    /// The answer that will come.
    std::future<HttpReply> post(const std::string& target, const std::string& body,
                                const std::string& key = "key", const std::string& traceparent = "") {
        const HttpHead head{"POST", target, key, traceparent};
        auto promise = std::make_shared<std::promise<HttpReply>>();
        if (auto reply = door.answer_head(head))
            promise->set_value(*reply);
        else
            door.answer(head, body, [promise](HttpReply given) { promise->set_value(std::move(given)); });
        return promise->get_future();
    }
    /// Posts, waits for so many records in all, settles them and gives the answer.
    HttpReply posted(std::size_t records, const std::string& target, const std::string& body,
                     const std::string& key = "key", const std::set<std::size_t>& failing = {}) {
        auto answer = post(target, body, key);
        eventually("the records are under way", [&] { return topic.records().size() >= records; });
        eventually("the request is answered", [&] {
            topic.settle(failing);
            return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
        });
        return answer.get();
    }
};

std::string event(const std::string& id) {
    return R"({"id": ")" + id + R"(", "kind": "PauseEvent"})";
}
std::string v0_item(const std::string& conversation, int number) {
    return R"({"method":"POST","path":"sessions/)" + conversation + "/events/" + std::to_string(number) +
           R"(.json","content":"{\"id\":)" + std::to_string(number) + R"(,\"action\":\"run\"}"})";
}

}  // namespace

BOOST_AUTO_TEST_CASE(it_is_answered_only_when_the_topic_has_every_event_in_the_order_of_the_batch) {
    Rig rig;
    auto answer = rig.post("/hook/events/0B9C7C1E-1111-4222-8333-444455556666",
                           "[" + event("a") + "," + event("b") + "," + event("c") + "]");
    eventually("the records are under way", [&] { return rig.topic.records().size() == 3; });
    BOOST_TEST((answer.wait_for(std::chrono::seconds(0)) == std::future_status::timeout));
    rig.topic.settle();
    BOOST_TEST(answer.get().status == 200U);
    BOOST_TEST((rig.topic.values() == std::vector{event("a"), event("b"), event("c")}));
    BOOST_TEST(rig.topic.records()[0].conversation_id == ConversationId("0b9c7c1e111142228333444455556666"));
    BOOST_TEST(rig.counts[Outcome::acknowledged] == 3U);
}

BOOST_AUTO_TEST_CASE(one_event_that_kafka_does_not_acknowledge_makes_it_503) {
    Rig rig;
    const auto reply = rig.posted(2, "/events/c", "[" + event("a") + "," + event("b") + "]", "key", {1});
    BOOST_TEST(reply.status == 503U);
    BOOST_TEST(reply.headers.at(0).first == "Retry-After");
    BOOST_TEST(rig.counts[Outcome::failed] == 1U);
}

BOOST_AUTO_TEST_CASE(without_room_it_is_503_and_nothing_overtakes_what_had_none) {
    Rig rig;
    rig.topic.set_room(1);
    const auto reply =
        rig.posted(1, "/events/c", "[" + event("a") + "," + event("b") + "," + event("c") + "]");
    BOOST_TEST(reply.status == 503U);
    BOOST_TEST((rig.topic.values() == std::vector{event("a")}));
    BOOST_TEST(rig.counts[Outcome::no_room] == 2U);
}

BOOST_AUTO_TEST_CASE(nobody_gets_in_without_a_key_and_nothing_of_theirs_does) {
    Rig rig;
    for (const char* key : {"", "wrong", "ke"}) {
        const auto reply = rig.post("/events/c", "[" + event("a") + "]", key).get();
        BOOST_TEST(reply.status == 401U, key);
        BOOST_TEST(reply.body.find("wrong") == std::string::npos);
    }
    Rig off(std::vector<Secret>{});
    BOOST_TEST(off.post("/events/c", "[]", "").get().status == 403U);
    BOOST_TEST(rig.topic.records().empty());
    BOOST_TEST(rig.owners.asked() == 0);
}

BOOST_AUTO_TEST_CASE(a_conversation_belongs_to_the_key_under_which_it_came_first) {
    Rig rig;
    BOOST_TEST(rig.posted(1, "/events/c", "[" + event("a") + "]", "key").status == 200U);
    BOOST_TEST(rig.posted(1, "/events/c", "[" + event("b") + "]", "other").status == 403U);
    BOOST_TEST(rig.posted(1, "/conversations", R"({"id": "c"})", "other").status == 403U);
    BOOST_TEST(rig.posted(2, "/events/d", "[" + event("e") + "]", "other").status == 200U);
    BOOST_TEST((rig.topic.values() == std::vector{event("a"), event("e")}));
    BOOST_TEST(rig.counts[Outcome::forbidden] == 1U);
}

BOOST_AUTO_TEST_CASE(a_conversation_that_is_announced_belongs_to_who_announced_it) {
    Rig rig;
    BOOST_TEST(
        rig.posted(0, "/conversations", R"({"execution_status": "idle", "id": "c"})", "other").status ==
        200U);
    BOOST_TEST(rig.posted(0, "/events/c", "[" + event("a") + "]", "key").status == 403U);
    BOOST_TEST(rig.topic.records().empty());
}

BOOST_AUTO_TEST_CASE(no_item_of_a_batch_lets_the_next_one_in) {
    // Upstream checks the key of each item, and goes on with the next when one fails.
    Rig rig;
    BOOST_TEST(rig.posted(1, "/event-webhook/batch", "[" + v0_item("theirs", 0) + "]", "other").status ==
               200U);
    const std::string foreign = v0_item("theirs", 1);
    const std::string own = v0_item("mine", 1);
    std::size_t records = 1;
    for (const std::string& batch : {foreign + "," + own, own + "," + foreign, "7," + foreign + "," + own,
                                     foreign + "," + foreign + "," + own}) {
        ++records;
        BOOST_TEST(rig.posted(records, "/event-webhook/batch", "[" + batch + "]").status == 403U, batch);
        BOOST_TEST(rig.topic.records().size() == records);
        BOOST_TEST(rig.topic.records().back().conversation_id == ConversationId("mine"));
    }
}

BOOST_AUTO_TEST_CASE(the_store_is_asked_once_for_each_conversation) {
    Rig rig;
    for (std::size_t i = 1; i <= 5; ++i)
        BOOST_TEST(rig.posted(i, "/events/c", "[" + event("a") + "]").status == 200U);
    BOOST_TEST(rig.owners.asked() == 1);
}

BOOST_AUTO_TEST_CASE(while_owners_cannot_be_asked_what_is_known_goes_on_and_the_rest_is_503) {
    Rig rig;
    BOOST_TEST(rig.posted(1, "/events/known", "[" + event("a") + "]").status == 200U);
    rig.owners.set_away(true);
    BOOST_TEST(rig.posted(1, "/events/new", "[" + event("b") + "]").status == 503U);
    BOOST_TEST(rig.posted(2, "/events/known", "[" + event("c") + "]").status == 200U);
    rig.owners.set_away(false);
    BOOST_TEST(rig.posted(3, "/events/new", "[" + event("b") + "]").status == 200U);
}

BOOST_AUTO_TEST_CASE(wrong_bodies_are_400_and_leave_nothing) {
    Rig rig;
    for (const char* body : {"", "{}", "[", "1", "[1,]", "[1 2]"})
        BOOST_TEST(rig.post("/events/c", body).get().status == 400U, body);
    for (const char* body : {"", "[]", "{", "{}", R"({"id": 7})", R"({"id": ""})"})
        BOOST_TEST(rig.post("/conversations", body).get().status == 400U, body);
    BOOST_TEST(rig.post("/event-webhook/batch", "{}").get().status == 400U);
    BOOST_TEST(rig.post("/events/%00", "[]").get().status == 422U);
    BOOST_TEST(rig.post("/nothing", "[]").get().status == 404U);
    BOOST_TEST(rig.topic.records().empty());
}

BOOST_AUTO_TEST_CASE(the_good_items_of_a_bad_batch_are_not_lost_and_the_bad_one_is_named) {
    Rig rig;
    const auto reply = rig.posted(2, "/events/c", "[" + event("a") + ",{\"id\":01}," + event("b") + "]");
    BOOST_TEST(reply.status == 422U);
    BOOST_TEST(reply.body.find("item 1: not_json") != std::string::npos, reply.body);
    BOOST_TEST((rig.topic.values() == std::vector{event("a"), event("b")}));
}

BOOST_AUTO_TEST_CASE(a_batch_without_wanted_events_is_done_at_once) {
    Rig rig;
    BOOST_TEST(rig.posted(0, "/events/c", "[]").status == 200U);
    BOOST_TEST(rig.posted(0, "/events/c", R"([{"id":"d","kind":"StreamingDeltaEvent"}])").status == 200U);
    BOOST_TEST(rig.counts[Outcome::left_out] == 1U);
    BOOST_TEST(rig.topic.records().empty());
}

BOOST_AUTO_TEST_CASE(one_file_of_v0_is_an_event_or_nothing) {
    Rig rig;
    const std::string json = R"({"id": 7, "action": "message"})";
    BOOST_TEST(rig.posted(1, "/event-webhook/sessions/c/events/7.json", json).status == 200U);
    BOOST_TEST(rig.posted(1, "/event-webhook/sessions/c/metadata.json", "{}").status == 200U);
    BOOST_TEST((rig.topic.values() == std::vector{json}));
}

BOOST_AUTO_TEST_CASE(a_trace_goes_on_in_the_record_when_it_is_one) {
    Rig rig;
    const std::string trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    auto with = rig.post("/events/c", "[" + event("a") + "]", "key", trace);
    eventually("it is under way", [&] { return rig.topic.records().size() == 1; });
    auto without = rig.post("/events/c", "[" + event("b") + "]", "key", "no trace");
    eventually("it is under way", [&] { return rig.topic.records().size() == 2; });
    rig.topic.settle();
    BOOST_TEST(rig.topic.records()[0].headers.back().second == trace);
    BOOST_TEST(rig.topic.records()[1].headers.size() == 1U);
}

BOOST_AUTO_TEST_CASE(what_the_topic_has_is_told_and_nothing_else) {
    Rig rig;
    const std::string end = R"({"id":"end","kind":"ConversationStateUpdateEvent","key":"execution_status",)"
                            R"("value":"finished"})";
    BOOST_TEST(rig.posted(2, "/events/c", "[" + event("a") + "," + event("b") + "," + end + "]", "key", {1})
                   .status == 503);
    BOOST_TEST((rig.came == std::vector<std::string>{"c/a"}), "no end overtakes what the topic did not take");
    BOOST_TEST(rig.posted(3, "/events/c", "[" + end + "]").status == 200);
    BOOST_TEST((rig.came == std::vector<std::string>{"c/a", "c/end!"}));
}

BOOST_AUTO_TEST_CASE(what_waits_for_the_topic_is_counted_until_it_is_answered) {
    Rig rig;
    BOOST_TEST(rig.door.waiting().events == 0U);
    auto first = rig.post("/events/c", "[" + event("a") + "," + event("b") + "]");
    auto second = rig.post("/events/c", "[" + event("c") + "]");
    eventually("all are under way", [&] { return rig.topic.records().size() == 3U; });
    BOOST_TEST(rig.door.waiting().events == 3U);
    BOOST_TEST(rig.door.waiting().longest.count() > 0);
    rig.topic.settle();
    BOOST_TEST(first.get().status == 200U);
    BOOST_TEST(second.get().status == 200U);
    BOOST_TEST(rig.door.waiting().events == 0U);
    BOOST_TEST(rig.door.waiting().longest.count() == 0);
    BOOST_TEST(rig.post("/events/c", "no array").get().status == 400U);
    BOOST_TEST(rig.door.waiting().events == 0U);
}

BOOST_AUTO_TEST_CASE(an_end_and_what_follows_it_wait_until_what_stands_before_it_is_in_the_topic) {
    const auto status = [](const std::string& id, const std::string& value) {
        return R"({"kind":"ConversationStateUpdateEvent","key":"execution_status","id":")" + id +
               R"(","value":")" + value + R"("})";
    };
    const std::string before = R"({"kind":"ActionEvent","id":"a"})";
    const std::string behind = R"({"kind":"ObservationEvent","id":"o"})";
    Rig rig;
    rig.ends_wait = true;
    auto answer = rig.post("/events/c1", "[" + before + "," + status("f", "finished") + "," + behind + "," +
                                             status("p", "paused") + "]");
    eventually("it is under way", [&] { return rig.topic.records().size() == 1; });
    BOOST_TEST(rig.waiting.empty(), "a comparison would bring it once more");
    rig.topic.settle();
    eventually("the end waits", [&] {
        const std::lock_guard lock(rig.mutex);
        return rig.waiting.size() == 1;
    });
    BOOST_TEST(rig.topic.values() == std::vector<std::string>{before}, boost::test_tools::per_element());
    BOOST_TEST((answer.wait_for(std::chrono::seconds(0)) == std::future_status::timeout));
    rig.waiting.front()();
    BOOST_TEST(rig.topic.records().size() == 4U);
    BOOST_TEST(rig.waiting.size() == 1U);  // once for a request
    rig.topic.settle();
    BOOST_TEST(answer.get().status == 200U);
}

BOOST_AUTO_TEST_CASE(events_of_one_request_come_into_the_topic_as_they_happened) {
    const auto event = [](const std::string& id, const std::string& time) {
        return R"({"id":")" + id + R"(","timestamp":"2026-11-23T10:00:)" + time + R"("})";
    };
    Rig rig;
    const auto reply = rig.posted(2, "/events/c1", "[" + event("b", "02") + "," + event("a", "01.5") + "]");
    BOOST_TEST(reply.status == 200U);
    BOOST_TEST(rig.topic.values() == (std::vector<std::string>{event("a", "01.5"), event("b", "02")}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_deletion_is_an_event_of_the_conversation_and_the_same_one_when_it_is_told_again) {
    Rig rig;
    const std::string info = R"({"id":"0B9C7C1E-1111-4222-8333-444455556666","execution_status":"deleting",)"
                             R"("updated_at":"2026-11-21T08:24:51.202294Z","title":"t"})";
    BOOST_TEST(rig.posted(1, "/hook/conversations", info).status == 200U);
    BOOST_TEST(rig.posted(2, "/hook/conversations", info).status == 200U);
    const auto records = rig.topic.records();
    BOOST_TEST(records[0].conversation_id == ConversationId("0b9c7c1e111142228333444455556666"));
    BOOST_TEST(records[0].value == records[1].value);
    BOOST_TEST(
        records[0].value.ends_with(R"("timestamp":"2026-11-21T08:24:51.202294Z","source":"environment",)"
                                   R"("key":"execution_status","value":"deleting"})"),
        records[0].value);
    BOOST_TEST(rig.came.front().ends_with('!'));
    // A time without its zone could make it late.
    BOOST_TEST(rig.posted(3, "/conversations",
                          R"({"id":"c","execution_status":"deleting","updated_at":"2026-11-21T08:24:51"})")
                   .status == 200U);
    BOOST_TEST(rig.topic.records()[2].value.find("timestamp") == std::string::npos);
    // It is told of no conversation that is another sender's, and not before the topic has it.
    BOOST_TEST(rig.posted(3, "/conversations", info, "other").status == 403U);
    rig.topic.set_room(0);
    BOOST_TEST(rig.posted(3, "/conversations", info).status == 503U);
}
