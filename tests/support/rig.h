// The one test rig of the whole program: a real broker, a real database, a fake platform and a configuration.
// The integration suites, the chaos and the bench run the program on it; WorkerProcesses adds its workers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/conversation_scripts.h"
#include "tests/support/database.h"
#include "tests/support/epilogue.h"
#include "tests/support/fake_platform_process.h"
#include "tests/support/kafka_broker.h"
#include "tests/support/kafka_records.h"

namespace epilogue::testing {

/// One broker and one database server for all cases of a test program: they take seconds to start.
KafkaBroker& broker_of_this_program();
Database& server_of_this_program();

/// What a rig is made of.
struct RigPlan {
    std::string name;        ///< of the group and the database: a word that no other rig uses
    int partitions = 1;      ///< of the topic, which is created; 0: it exists
    std::string topic = {};  ///< "": it has the rig's name
    Settings more = {};      ///< wins over what leads to the servers
};

/// A topic, a migrated database, a consumer group, a key and a fake platform of a case's own. Errors are
/// std::runtime_error. Thread-safe.
class Rig {
  public:
    /// On the servers of this program; the topic, too, is called `name`.
    Rig(const std::string& name, int partitions, const Settings& more = {});
    /// On these servers, which have to outlive it.
    Rig(const KafkaBroker& broker, const Database& server, const RigPlan& plan);

    const std::string& name() const { return plan_.name; }
    const FakePlatformProcess& platform() const { return platform_; }
    const Settings& settings() const { return settings_; }
    const Epilogue& epilogue() const { return epilogue_; }
    /// The bytes of the key that signs.
    const std::string& key() const { return key_; }
    /// The same as the configuration has it.
    const std::string& key_text() const { return key_text_; }

    /// Produces to the topic.
    void publish(const std::vector<Record>& records) const;
    /// Rows of the database.
    std::vector<Row> query(const std::string& sql) const;
    /// The one number that a query answers.
    std::int64_t number(const std::string& sql) const;

    /// Lets the deliveries of which it is unknown whether they were posted be looked for at once: for
    /// platforms that show without delay what they took.
    void hurry_look_ups() const;

    /// For each partition: the offset the log's next record gets, the stored position, the committed one.
    PartitionOffsets ends() const;
    PartitionOffsets stored() const;
    PartitionOffsets committed() const;

    /// Runs `epilogue callbacks add` with --processor github to REPO#NUMBER; returns the id.
    std::int64_t add_github(const std::string& conversation, const std::string& repo, std::int64_t number,
                            const std::string& mode) const;
    /// Runs `epilogue callbacks add` with these arguments; returns the id.
    std::int64_t add_callback(const std::vector<std::string>& args) const;

  private:
    const KafkaBroker& broker_;
    const Database& server_;
    const RigPlan plan_;
    const std::string key_text_;
    const std::string key_;
    const FakePlatformProcess platform_;
    const Settings settings_;
    const Epilogue epilogue_;
};

}  // namespace epilogue::testing
