#include "tests/support/kafka_broker.h"

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "base/ids.h"
#include "base/text.h"
#include "tests/support/eventually.h"
#include "tests/support/ports.h"
#include "tests/support/requirements.h"

namespace epilogue::testing {
namespace {

constexpr Milliseconds fetch_deadline{600000};
constexpr Milliseconds start_deadline{90000};
constexpr Milliseconds stop_deadline{60000};

std::string end_of(const std::string& log) {
    constexpr std::size_t shown = 4000;
    return log.size() <= shown ? log : log.substr(log.size() - shown);
}

/// The folder with the broker's jars, fetched when it is not there: EPILOGUE_KAFKA_LIBS, which is taken as it
/// is, or build/kafka-4.3.1 in the source tree.
std::string kafka_libs() {
    require_programs({"java"});
    if (const char* const given = std::getenv("EPILOGUE_KAFKA_LIBS"); given != nullptr && *given != '\0')
        return given;
    const std::filesystem::path source(EPILOGUE_SOURCE_DIR);
    const auto libs = source / "build" / "kafka-4.3.1";
    if (!std::filesystem::exists(libs)) require_programs({"mvn"});
    const auto fetched = run({{source / "tests/integration/fetch-kafka", libs}}, fetch_deadline);
    if (fetched.status != 0) throw std::runtime_error(end_of(fetched.err));
    return libs;
}

/// Kafka's cluster ids are 16 bytes in URL-safe base64. Hex digits are letters of that alphabet too; the last
/// of the 22 holds only two bits.
std::string random_cluster_id() {
    return replaced(random_uuid(), "-", "").substr(0, 21) + "A";
}

}  // namespace

KafkaBroker::KafkaBroker(KafkaSecurity security)
    : security_(std::move(security)),
      libs_(kafka_libs()),
      port_(free_port()),
      controller_port_(free_port()),
      admin_(bootstrap()) {
    for (const KafkaListener& listener : security_.listeners) ports_[listener.name] = free_port();
    write_properties();
    format();
    start_again();
}

std::string KafkaBroker::bootstrap() const {
    return "127.0.0.1:" + std::to_string(port_);
}

std::string KafkaBroker::bootstrap(const std::string& listener) const {
    return "127.0.0.1:" + std::to_string(ports_.at(listener));
}

void KafkaBroker::create_topic(const std::string& topic, int partitions, const TopicConfig& config) const {
    admin_.create_topic(topic, partitions, config);
}

void KafkaBroker::delete_topic(const std::string& topic) const {
    admin_.delete_topic(topic);
}

void KafkaBroker::raise_partitions(const std::string& topic, int partitions) const {
    admin_.raise_partitions(topic, partitions);
}

void KafkaBroker::delete_records(const std::string& topic, const PartitionOffsets& before) const {
    admin_.delete_records(topic, before);
}

PartitionOffsets KafkaBroker::end_offsets(const std::string& topic) const {
    return admin_.end_offsets(topic);
}

PartitionOffsets KafkaBroker::committed(const std::string& group, const std::string& topic) const {
    return admin_.committed(group, topic);
}

GroupView KafkaBroker::group(const std::string& name) const {
    return admin_.group(name);
}

void KafkaBroker::stop() {
    process_->stop(stop_deadline);
}

void KafkaBroker::kill9() {
    process_->kill9();
}

void KafkaBroker::start_again() {
    auto command = java("512m", "kafka.Kafka");
    command.push_back((folder_.path() / "server.properties").string());
    process_.emplace(Command{command});
    const auto answers = [this] {
        if (!process_->running())
            throw std::runtime_error("Kafka ended: " + end_of(process_->out() + process_->err()));
        return admin_.answers();
    };
    try {
        eventually("Kafka answers", start_deadline, answers);
    } catch (const GaveUp& late) {
        throw std::runtime_error(late.what() + end_of("; " + process_->out() + process_->err()));
    }
}

void KafkaBroker::write_properties() const {
    const std::string controller = "127.0.0.1:" + std::to_string(controller_port_);
    std::ofstream properties(folder_.path() / "server.properties");
    write_listeners(properties);
    properties << "process.roles=broker,controller\n"
               << "node.id=1\n"
               << "controller.quorum.voters=1@" << controller << "\n"
               << "controller.listener.names=CONTROLLER\n"
               << "inter.broker.listener.name=PLAINTEXT\n"
               << "log.dirs=" << (folder_.path() / "data").string() << "\n"
               << "auto.create.topics.enable=false\n"
               << "message.max.bytes=20971520\n"
               << "offsets.topic.num.partitions=4\n"
               << "offsets.topic.replication.factor=1\n"
               << "transaction.state.log.num.partitions=4\n"
               << "transaction.state.log.replication.factor=1\n"
               << "transaction.state.log.min.isr=1\n"
               << "group.initial.rebalance.delay.ms=0\n"
               << "group.min.session.timeout.ms=1000\n"  // suites that kill workers shorten it
               // After kill -9 the broker is let in again only when its old session is over (9 s by default).
               << "broker.session.timeout.ms=4000\n"
               << "broker.heartbeat.interval.ms=500\n"
               << "log.cleaner.dedupe.buffer.size=8388608\n";
}

void KafkaBroker::write_listeners(std::ostream& properties) const {
    std::string open = "PLAINTEXT://" + bootstrap();
    std::string protocols = "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT";
    for (const KafkaListener& listener : security_.listeners) {
        open += "," + listener.name + "://" + bootstrap(listener.name);
        protocols += "," + listener.name + ":" + listener.protocol;
        for (const std::string& line : listener.properties)
            properties << "listener.name." << lowered(listener.name) << "." << line << "\n";
    }
    properties << "listeners=" << open << ",CONTROLLER://127.0.0.1:" << controller_port_ << "\n"
               << "advertised.listeners=" << open << "\n"
               << "listener.security.protocol.map=" << protocols << "\n";
    for (const std::string& line : security_.properties) properties << line << "\n";
}

void KafkaBroker::format() const {
    auto command = java("128m", "kafka.tools.StorageTool");
    const auto properties = (folder_.path() / "server.properties").string();
    command.insert(command.end(), {"format", "-t", random_cluster_id(), "-c", properties});
    for (const std::string& user : security_.scram_users)
        command.insert(command.end(), {"--add-scram", user});
    const auto done = run({command}, start_deadline);
    if (done.status != 0) throw std::runtime_error("Kafka's storage: " + end_of(done.out + done.err));
}

std::vector<std::string> KafkaBroker::java(const std::string& heap, const std::string& main_class) const {
    return {"java", "-Xmx" + heap, "-XX:TieredStopAtLevel=1", "-cp", libs_ + "/*", main_class};
}

}  // namespace epilogue::testing
