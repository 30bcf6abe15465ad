// A real Apache Kafka broker of one's own.
#pragma once

#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/kafka_admin.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace epilogue::testing {

/// A listener beside the harness's own, which is plaintext and open to all.
struct KafkaListener {
    std::string name;                       ///< in capitals
    std::string protocol;                   ///< "SSL", "SASL_SSL", …
    std::vector<std::string> properties{};  ///< "key=value", of this listener alone
};

/// What is not every broker's.
struct KafkaSecurity {
    std::vector<KafkaListener> listeners{};
    std::vector<std::string> properties{};   ///< "key=value"
    std::vector<std::string> scram_users{};  ///< "SCRAM-SHA-256=[name=…,password=…]"
};

/// One broker (KRaft, broker and controller in one process) with its data in a temporary folder, on free
/// ports of 127.0.0.1. Topics are not created by use. Errors are std::runtime_error, with the end of the
/// broker's log.
class KafkaBroker {
  public:
    /// Fetches the jars if need be, formats the storage, starts the broker and waits until it answers.
    /// Needs java (and mvn for the first fetch): see require_programs().
    explicit KafkaBroker(KafkaSecurity security = {});

    /// "127.0.0.1:<port>".
    std::string bootstrap() const;
    /// The same of another listener.
    std::string bootstrap(const std::string& listener) const;
    pid_t pid() const { return process_->pid(); }
    /// The folder with Kafka's jars, its command-line tools among them.
    const std::string& libs() const { return libs_; }

    /// As in KafkaAdmin.
    void create_topic(const std::string& topic, int partitions, const TopicConfig& config = {}) const;
    void delete_topic(const std::string& topic) const;
    void raise_partitions(const std::string& topic, int partitions) const;
    void delete_records(const std::string& topic, const PartitionOffsets& before) const;
    PartitionOffsets end_offsets(const std::string& topic) const;
    PartitionOffsets committed(const std::string& group, const std::string& topic) const;
    GroupView group(const std::string& name) const;

    /// SIGTERM; returns when it has ended.
    void stop();
    /// SIGKILL; returns when it has ended.
    void kill9();
    /// After stop() or kill9(): starts it on the same data and port and waits until it answers.
    void start_again();

  private:
    void write_properties() const;
    void write_listeners(std::ostream& properties) const;
    void format() const;
    std::vector<std::string> java(const std::string& heap, const std::string& main_class) const;

    const KafkaSecurity security_;
    std::map<std::string, unsigned short> ports_;  ///< of the listeners in security_
    std::string libs_;  // found first: a suite that is skipped for want of them leaves no folder
    TempDir folder_;
    unsigned short port_;
    unsigned short controller_port_;
    KafkaAdmin admin_;
    std::optional<Process> process_;
};

}  // namespace epilogue::testing
