#include <algorithm>
#include <array>
#include <cstdint>
#include <future>
#include <optional>
#include <random>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "base/backoff.h"
#include "base/io/kafka_conf.h"
#include "base/io/kafka_record.h"
#include "base/io/kafka_rights.h"
#include "base/io/log.h"

namespace epilogue {

namespace {

void destroy_message(void* message) {
    rd_kafka_message_destroy(static_cast<rd_kafka_message_t*>(message));
}

using Message = Handle<rd_kafka_message_t, rd_kafka_message_destroy>;

/// Waiting times of members that were put out of the group at once again do not keep step.
double draw() {
    static std::minstd_rand source{std::random_device{}()};
    return std::uniform_real_distribution<double>()(source);
}

/// Takes the message over.
Record record_of(rd_kafka_message_t* message) {
    const RecordView view = view_of(*message);
    return {view, Record::Keep(message, destroy_message)};
}

}  // namespace

struct KafkaConsumer::GroupMember {
    GroupMember(KafkaTokenSource token, std::string subscribed, RebalanceListener listens)
        : hooks(std::move(token), this), topic(std::move(subscribed)), listener(std::move(listens)) {}
    GroupMember(const GroupMember&) = delete;
    GroupMember& operator=(const GroupMember&) = delete;
    ~GroupMember() {
        // There is no group to leave.
        if (is_dead && client) rd_kafka_destroy_flags(client.release(), RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    }

    KafkaHooks hooks;  ///< lost brokers come as no message of a poll
    std::string topic;
    RebalanceListener listener;
    bool is_refused_by_group = false;  ///< the last try to join ended so
    std::set<int> held{};              ///< as the listener knows
    bool is_dead = false;              ///< by a fatal error: the client does nothing more
    std::string put_out{};  ///< why this one or the one before it is dead; "" once it is in the group
    std::chrono::steady_clock::time_point put_out_at{};
    KafkaClient client;

    /// Why the client is of no more use; "" while it is.
    std::string fatal_error() const {
        std::array<char, 512> why{};
        const auto error = rd_kafka_fatal_error(client.get(), why.data(), why.size());
        return error == RD_KAFKA_RESP_ERR_NO_ERROR ? "" : std::string(why.data());
    }

    /// The partitions belong to others already: the listener learns so before a successor joins.
    void die(std::string why) {
        is_dead = true;
        put_out = std::move(why);
        put_out_at = std::chrono::steady_clock::now();
        const std::vector<int> lost(held.begin(), held.end());
        held.clear();
        if (!lost.empty()) listener.revoked(lost, true);
        rd_kafka_assign(client.get(), nullptr);
    }

    KafkaTopicList list(int partition, std::int64_t offset = RD_KAFKA_OFFSET_INVALID) const {
        KafkaTopicList made(rd_kafka_topic_partition_list_new(1));
        rd_kafka_topic_partition_list_add(made.get(), topic.c_str(), partition)->offset = offset;
        return made;
    }

    static std::vector<int> numbers(const rd_kafka_topic_partition_list_t* partitions) {
        std::vector<int> result;
        for (int i = 0; i < partitions->cnt; ++i) result.push_back(partitions->elems[i].partition);
        return result;
    }

    /// The store decides where reading starts (seek); until then the partitions stay paused. The position
    /// given here must be absolute where possible: a logical one (end, beginning) is looked up by the client,
    /// and when a seek overtakes the answer the look-up is repeated half a second later and overrides the
    /// seek. From the end that would skip records. Without a committed offset it is the beginning: at worst
    /// records are read again, and they are recognised.
    static void start_somewhere(rd_kafka_t* client, rd_kafka_topic_partition_list_t* partitions) {
        constexpr int deadline_ms = 5000;
        (void)rd_kafka_committed(client, partitions, deadline_ms);  // without an answer they have no offset
        for (int i = 0; i < partitions->cnt; ++i)
            if (partitions->elems[i].offset < 0) partitions->elems[i].offset = RD_KAFKA_OFFSET_BEGINNING;
    }

    /// True when a rebalance names only the partitions that come or go; otherwise it names all of them.
    /// While the group is being left nothing may be known of it: then there is nothing to keep either.
    bool is_incremental() const {
        const char* const protocol = rd_kafka_rebalance_protocol(client.get());
        return protocol != nullptr && std::string_view(protocol) == "COOPERATIVE";
    }

    static void note(rd_kafka_error_t* refused) {
        const Handle<rd_kafka_error_t, rd_kafka_error_destroy> error(refused);
        if (error)
            log_warn("the Kafka client refuses an assignment",
                     {{"why", std::string(rd_kafka_error_string(error.get()))}});
    }

    void assign(rd_kafka_topic_partition_list_t* partitions) {
        start_somewhere(client.get(), partitions);
        if (is_incremental())
            note(rd_kafka_incremental_assign(client.get(), partitions));
        else
            rd_kafka_assign(client.get(), partitions);
        rd_kafka_pause_partitions(client.get(), partitions);
        const auto coming = numbers(partitions);
        held.insert(coming.begin(), coming.end());
        listener.assigned(coming);
    }

    void revoke(const rd_kafka_topic_partition_list_t* partitions, bool lost) {
        const auto going = numbers(partitions);
        for (const int partition : going) held.erase(partition);
        listener.revoked(going, lost);
        if (is_incremental())
            note(rd_kafka_incremental_unassign(client.get(), partitions));
        else
            rd_kafka_assign(client.get(), nullptr);
    }

    static void on_rebalance(rd_kafka_t* client, rd_kafka_resp_err_t event,
                             rd_kafka_topic_partition_list_t* partitions, void* opaque) {
        auto& self = *KafkaHooks::owner_of<GroupMember>(opaque);
        if (self.is_dead) {
            rd_kafka_assign(client, nullptr);
        } else if (event == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
            self.is_refused_by_group = false;
            self.put_out.clear();
            self.assign(partitions);
        } else {
            self.revoke(partitions, rd_kafka_assignment_lost(client) != 0);
        }
    }
};

Result<KafkaConf> group_member_conf(const KafkaSettings& settings, const std::string& group) {
    std::map<std::string, std::string> defaults{
        {"max.poll.interval.ms", "60000"},      {"group.id", group},
        {"enable.auto.commit", "false"},        {"enable.auto.offset.store", "false"},
        {"fetch.message.max.bytes", "4194304"}, {"fetch.wait.max.ms", "100"},
        {"queued.max.messages.kbytes", "32768"}};
    // Under the consumer protocol both are the broker's to say, and the client refuses them.
    const auto protocol = settings.properties.find("group.protocol");
    if (protocol == settings.properties.end() || protocol->second != "consumer") {
        defaults.emplace("session.timeout.ms", "10000");
        defaults.emplace("partition.assignment.strategy", "range,roundrobin");
    }
    return kafka_reading_conf(settings, defaults);
}

KafkaConsumer::KafkaConsumer(KafkaSettings settings, std::string topic, std::string group,
                             std::string produces_to)
    : settings_(std::move(settings)),
      topic_(std::move(topic)),
      group_(std::move(group)),
      produces_to_(std::move(produces_to)) {}
KafkaConsumer::~KafkaConsumer() = default;

Result<std::shared_ptr<KafkaConsumer::GroupMember>> KafkaConsumer::new_member(
    RebalanceListener listener) const {
    TRY(auto conf, group_member_conf(settings_, group_));
    auto member = std::make_shared<GroupMember>(settings_.token, topic_, std::move(listener));
    rd_kafka_conf_set_rebalance_cb(conf.get(), &GroupMember::on_rebalance);
    TRY(member->client, kafka_client(RD_KAFKA_CONSUMER, std::move(conf), member->hooks));
    rd_kafka_poll_set_consumer(member->client.get());
    const KafkaTopicList topics = member->list(RD_KAFKA_PARTITION_UA);
    if (const auto error = rd_kafka_subscribe(member->client.get(), topics.get());
        error != RD_KAFKA_RESP_ERR_NO_ERROR)
        return kafka_failure(error, "subscribing to " + topic_);
    return member;
}

std::shared_ptr<KafkaConsumer::GroupMember> KafkaConsumer::member() const {
    const std::lock_guard lock(member_mutex_);
    return member_;
}

void KafkaConsumer::set_member(std::shared_ptr<GroupMember> next) {
    // What was there ends outside of the lock, and only when no other thread is in a call to it.
    const std::lock_guard lock(member_mutex_);
    member_.swap(next);
}

Result<void> KafkaConsumer::join(RebalanceListener listener) {
    TRY(auto joined, new_member(std::move(listener)));
    set_member(std::move(joined));
    return {};
}

KafkaError KafkaConsumer::put_out(GroupMember& member, const std::string& why) {
    constexpr std::chrono::minutes calm{10};
    const auto now = std::chrono::steady_clock::now();
    times_put_out_ = now - rejoins_at_ > calm ? 1 : times_put_out_ + 1;
    rejoins_at_ = now + full_jitter(times_put_out_, draw());
    log_warn("the Kafka client was put out of its group for good; another one will join",
             {{"why", why}, {"times", times_put_out_}});
    member.die(why);
    return KafkaError{why};
}

Polled KafkaConsumer::poll_dead(const GroupMember& member, std::chrono::milliseconds wait) {
    const auto now = std::chrono::steady_clock::now();
    if (now < rejoins_at_) {
        // Nothing that it still has may be used.
        const auto rest = std::chrono::ceil<std::chrono::milliseconds>(rejoins_at_ - now);
        const Message dropped(
            rd_kafka_consumer_poll(member.client.get(), static_cast<int>(std::min(wait, rest).count())));
        return std::monostate{};
    }
    auto joined = new_member(member.listener);
    if (!joined) {
        rejoins_at_ = now + full_jitter(++times_put_out_, draw());
        return KafkaError{joined.error().text};
    }
    (*joined)->put_out = member.put_out;
    (*joined)->put_out_at = now;
    set_member(std::move(*joined));
    return std::monostate{};
}

Polled KafkaConsumer::poll(std::chrono::milliseconds wait) {
    const auto member = this->member();
    if (member->is_dead) return poll_dead(*member, wait);
    if (const auto why = member->fatal_error(); !why.empty()) return put_out(*member, why);
    rd_kafka_message_t* message =
        rd_kafka_consumer_poll(member->client.get(), static_cast<int>(wait.count()));
    if (message == nullptr) {
        std::string failure = member->hooks.take_news();
        if (failure.empty()) return std::monostate{};
        return KafkaError{std::move(failure)};
    }
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) return record_of(message);
    const Message event(message);
    if (event->err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
        return EndOfPartition{event->partition, {event->offset}};
    if (event->err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED) member->is_refused_by_group = true;
    const bool is_unknown = event->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
                            event->err == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
    const bool is_out_of_range = event->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET ||
                                 event->err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE;
    return KafkaError{rd_kafka_message_errstr(event.get()), is_unknown        ? KafkaError::Kind::no_topic
                                                            : is_out_of_range ? KafkaError::Kind::out_of_range
                                                                              : KafkaError::Kind::connection};
}

void KafkaConsumer::reset_assignment() {
    const auto member = this->member();
    rd_kafka_t* const client = member->client.get();
    rd_kafka_topic_partition_list_t* assigned = nullptr;
    if (rd_kafka_assignment(client, &assigned) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
    const KafkaTopicList partitions(assigned);
    member->revoke(partitions.get(), false);
    member->assign(partitions.get());
}

Result<void> KafkaConsumer::seek(int partition, NextOffset position) {
    const auto member = this->member();
    const KafkaTopicList list = member->list(partition, position.value);
    constexpr int deadline_ms = 5000;
    const Handle<rd_kafka_error_t, rd_kafka_error_destroy> error(
        rd_kafka_seek_partitions(member->client.get(), list.get(), deadline_ms));
    const auto code = error ? rd_kafka_error_code(error.get()) : list->elems[0].err;
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_failure(code, "seek");
    return {};
}

Result<void> KafkaConsumer::pause(int partition) {
    const auto member = this->member();
    const KafkaTopicList list = member->list(partition);
    const auto error = rd_kafka_pause_partitions(member->client.get(), list.get());
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_failure(error, "pause");
    return {};
}

Result<void> KafkaConsumer::resume(int partition) {
    const auto member = this->member();
    const KafkaTopicList list = member->list(partition);
    const auto error = rd_kafka_resume_partitions(member->client.get(), list.get());
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_failure(error, "resume");
    return {};
}

Result<void> KafkaConsumer::commit(const std::map<int, NextOffset>& positions,
                                   std::optional<std::chrono::milliseconds> wait) {
    const auto member = this->member();
    if (positions.empty()) return {};
    const KafkaTopicList list(rd_kafka_topic_partition_list_new(static_cast<int>(positions.size())));
    for (const auto& [partition, position] : positions)
        rd_kafka_topic_partition_list_add(list.get(), member->topic.c_str(), partition)->offset =
            position.value;
    if (!wait) {
        const auto error = rd_kafka_commit(member->client.get(), list.get(), 1);
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_failure(error, "commit");
        return {};
    }
    const Handle<rd_kafka_queue_t, rd_kafka_queue_destroy> queue(rd_kafka_queue_new(member->client.get()));
    auto error = rd_kafka_commit_queue(member->client.get(), list.get(), queue.get(), nullptr, nullptr);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_failure(error, "commit");
    const Handle<rd_kafka_event_t, rd_kafka_event_destroy> event(
        rd_kafka_queue_poll(queue.get(), static_cast<int>(wait->count())));
    if (!event) return retryable("Kafka: commit: no answer");
    error = rd_kafka_event_error(event.get());
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_failure(error, "commit");
    return {};
}

Result<std::optional<NextOffset>> KafkaConsumer::committed(int partition, std::chrono::milliseconds wait) {
    const auto member = this->member();
    const KafkaTopicList list = member->list(partition);
    const auto error = rd_kafka_committed(member->client.get(), list.get(), static_cast<int>(wait.count()));
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_failure(error, "reading the committed offset");
    const std::int64_t offset = list->elems[0].offset;
    return offset >= 0 ? std::optional(NextOffset{offset}) : std::nullopt;
}

Result<Watermarks> KafkaConsumer::watermarks(int partition, std::chrono::milliseconds wait) {
    const auto member = this->member();
    Watermarks marks;
    const auto error =
        rd_kafka_query_watermark_offsets(member->client.get(), member->topic.c_str(), partition, &marks.low,
                                         &marks.high, static_cast<int>(wait.count()));
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_failure(error, "reading the watermarks");
    return marks;
}

Result<int> KafkaConsumer::partitions(std::chrono::milliseconds wait) {
    const auto member = this->member();
    const Handle<rd_kafka_topic_t, rd_kafka_topic_destroy> topic(
        rd_kafka_topic_new(member->client.get(), member->topic.c_str(), nullptr));
    const rd_kafka_metadata_t* answer = nullptr;
    const auto error =
        rd_kafka_metadata(member->client.get(), 0, topic.get(), &answer, static_cast<int>(wait.count()));
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka_failure(error, "counting the partitions");
    const Handle<const rd_kafka_metadata_t, rd_kafka_metadata_destroy> metadata(answer);
    if (answer->topic_cnt != 1 || answer->topics[0].partition_cnt == 0)
        return retryable("Kafka: counting the partitions: the topic is not there");
    return answer->topics[0].partition_cnt;
}

Result<void> KafkaConsumer::check(std::chrono::milliseconds wait) {
    const auto member = this->member();
    rd_kafka_t* const client = member->client.get();
    const rd_kafka_metadata_t* metadata = nullptr;
    const auto error = rd_kafka_metadata(client, 0, nullptr, &metadata, static_cast<int>(wait.count()));
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
        return retryable(member->hooks.with_reason("no broker answers at " + settings_.brokers),
                         static_cast<int>(error));
    rd_kafka_metadata_destroy(metadata);
    member->hooks.forget();
    auto rights = kafka_rights(client, {topic_, group_, produces_to_}, wait);
    if (rights.may_join == std::optional(true)) member->is_refused_by_group = false;
    if (member->is_refused_by_group && rights.missing.empty())
        rights.missing.push_back(no_right_to_join(group_));
    std::string missing;
    for (const std::string& each : rights.missing) missing += (missing.empty() ? "" : "; ") + each;
    if (!missing.empty()) return retryable(std::move(missing));
    // A member without a partition may never be told that it is in: silence is taken for that.
    constexpr std::chrono::seconds long_enough{60};
    const bool is_out =
        member->is_dead || std::chrono::steady_clock::now() - member->put_out_at < long_enough;
    if (!member->put_out.empty() && is_out)
        return retryable("put out of the consumer group " + group_ + ": " + member->put_out);
    return {};
}

std::string KafkaConsumer::cluster_id(std::chrono::milliseconds wait) {
    const auto member = this->member();
    return cluster_id_of(member->client.get(), wait);
}

std::string KafkaConsumer::topic_id(std::chrono::milliseconds wait) {
    const auto member = this->member();
    return topic_id_of(member->client.get(), topic_, wait);
}

Result<std::optional<RecordFingerprint>> KafkaConsumer::record_at(int partition, Offset offset,
                                                                  std::chrono::milliseconds wait) {
    const std::lock_guard lock(reader_mutex_);
    if (!reader_) {
        KafkaSettings settings = settings_;
        settings.client_id += "-reader";
        TRY(reader_, KafkaReader::open(settings, topic_));
    }
    return reader_->record_at(partition, offset, wait);
}

void KafkaConsumer::close(std::chrono::milliseconds deadline) {
    const auto member = this->member();
    if (member->is_dead) return;
    // rd_kafka_consumer_close can hang for ever (librdkafka 2.1.0 to 2.4.0); therefore the group is left on a
    // queue that is polled, with a deadline.
    Handle<rd_kafka_queue_t, rd_kafka_queue_destroy> queue(rd_kafka_queue_new(member->client.get()));
    const Handle<rd_kafka_error_t, rd_kafka_error_destroy> refused(
        rd_kafka_consumer_close_queue(member->client.get(), queue.get()));
    const auto give_up = std::chrono::steady_clock::now() + deadline;
    while (!refused && rd_kafka_consumer_closed(member->client.get()) == 0 &&
           std::chrono::steady_clock::now() < give_up) {
        constexpr int slice_ms = 100;
        const Handle<rd_kafka_event_t, rd_kafka_event_destroy> event(
            rd_kafka_queue_poll(queue.get(), slice_ms));
        if (event && rd_kafka_event_type(event.get()) == RD_KAFKA_EVENT_REBALANCE) {
            auto* partitions = rd_kafka_event_topic_partition_list(event.get());
            GroupMember::on_rebalance(member->client.get(), rd_kafka_event_error(event.get()), partitions,
                                      &member->hooks);
        }
    }
    if (rd_kafka_consumer_closed(member->client.get()) == 0)
        log_warn(
            "the Kafka client did not leave its group in time; the group takes over after "
            "session.timeout.ms");
    // What is left in the queue refers to the client's brokers, and would keep their threads for ever.
    queue.reset();
    rd_kafka_destroy_flags(member->client.release(), RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

}  // namespace epilogue
