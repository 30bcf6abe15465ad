// Conversations that a test writes event by event, as records for the topic.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/kafka_records.h"

namespace epilogue::testing {

/// A conversation in V0's words, for tests that need a certain end and no more. Its verdicts count at once.
class V0Conversation {
  public:
    explicit V0Conversation(std::string conversation_id) : conversation_id_(std::move(conversation_id)) {}

    /// The user says something: opens a turn whose key is the number of the event.
    V0Conversation& user(const std::string& text);
    /// The agent says something and waits for an answer.
    V0Conversation& agent_asks(const std::string& text);
    /// The agent ends its work.
    V0Conversation& agent_finishes(const std::string& words);

    const std::string& id() const { return conversation_id_; }
    /// The events so far, one a record.
    const std::vector<Record>& records() const { return records_; }
    /// Those that were made since it had `known` events.
    std::vector<Record> records_since(std::size_t known) const;
    /// All of them as lines for `epilogue publish`.
    std::string lines() const;

  private:
    void add(const std::string& source, const std::string& kind, const std::string& what,
             const std::string& inside, const std::string& name, const std::string& text);

    std::string conversation_id_;
    std::vector<Record> records_;
};

/// Records of several conversations, one after the other.
std::vector<Record> records_of(const std::vector<V0Conversation>& conversations);

/// A conversation in V1's words: each call makes its next event.
class V1Conversation {
  public:
    explicit V1Conversation(std::string id) : id_(std::move(id)) {}

    const std::string& id() const { return id_; }
    /// The user says something; where it opens a turn, `id` is the turn's key.
    Record user(const std::string& id);
    /// The agent's state: "finished" is a candidate, which settles at once where time is let pass; "stuck"
    /// ends the turn as it arrives.
    Record status(const std::string& value);
    /// A sign of life that steers nothing.
    Record stats();

  private:
    std::string next_stamp();

    std::string id_;
    int events_ = 0;
};

}  // namespace epilogue::testing
