// Where the suites of the whole program play: real servers, a stand-in, one configuration.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/database.h"
#include "tests/support/epilogue.h"
#include "tests/support/fake_platform_process.h"
#include "tests/support/kafka_broker.h"
#include "tests/support/kafka_records.h"

namespace epilogue::testing {

/// One broker and one database server for all cases of a test program: they take seconds to start.
KafkaBroker& broker_of_this_program();
Database& server_of_this_program();

/// A topic, a migrated database, a consumer group, a key and a stand-in of a case's own. Errors are
/// std::runtime_error. Thread-safe.
class Stage {
  public:
    /// `name` becomes the topic's, the group's and the database's: a word nobody else uses. What `more` sets
    /// wins over what leads to the servers.
    Stage(const std::string& name, int partitions, const Settings& more = {});

    const std::string& name() const { return name_; }
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
    const std::string name_;
    const std::string key_text_;
    const std::string key_;
    const FakePlatformProcess platform_;
    const Settings settings_;
    const Epilogue epilogue_;
};

/// A conversation in V0's words, for tests that need a certain end and no more. Its verdicts count at once.
class Story {
  public:
    explicit Story(std::string conversation_id) : conversation_id_(std::move(conversation_id)) {}

    /// The user says something: opens a turn whose key is the number of the event.
    Story& user(const std::string& text);
    /// The agent says something and waits for an answer.
    Story& agent_asks(const std::string& text);
    /// The agent ends its work.
    Story& agent_finishes(const std::string& words);

    const std::string& id() const { return conversation_id_; }
    /// The events told so far, one a record.
    const std::vector<Record>& records() const { return records_; }
    /// The same as lines for `epilogue publish`.
    std::string lines() const;

  private:
    void add(const std::string& source, const std::string& kind, const std::string& what,
             const std::string& inside, const std::string& name, const std::string& text);

    std::string conversation_id_;
    std::vector<Record> records_;
};

/// Records of several stories, one after the other.
std::vector<Record> records_of(const std::vector<Story>& stories);

}  // namespace epilogue::testing
