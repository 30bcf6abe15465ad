// The state of a remote conversation: kept from what REST and the socket tell.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "agent/event.h"

namespace epilogue::agent {

struct StateFields;

/// The state as it was at one moment. What the server did not tell is "" or empty; JSON comes as text, "null"
/// when there is none.
class ConversationState {
  public:
    explicit ConversationState(std::shared_ptr<const StateFields> fields) : fields_(std::move(fields)) {}

    /// idle, running, paused, waiting_for_confirmation, finished, error, stuck, deleting; newer servers may
    /// have others.
    std::string execution_status() const;
    std::string confirmation_policy() const;  ///< JSON object
    std::string security_analyzer() const;    ///< JSON object or null
    std::vector<std::string> activated_knowledge_skills() const;
    std::string agent() const;      ///< JSON object
    std::string workspace() const;  ///< JSON object
    std::string persistence_dir() const;
    std::string stats() const;  ///< JSON object
    std::string title() const;
    /// Everything, as a JSON object on one line.
    std::string dump() const;

  private:
    std::string json_of(const char* field) const;

    std::shared_ptr<const StateFields> fields_;
};

/// The newest state that is known. Thread-safe.
class StateCache {
  public:
    StateCache();

    /// How many updates were applied: to be taken before REST is asked, for replace().
    std::uint64_t mark() const;
    /// Takes over a conversation's information as REST gave it, but for the fields that were updated since
    /// `mark`: those are newer. Text that is no JSON object is left out.
    void replace(const std::string& info, std::uint64_t mark);
    /// Takes over a state update. One that is older than what was applied to the same fields is left out:
    /// some servers send late.
    void apply(const RemoteEvent& update);

    /// The state as it is known now.
    ConversationState snapshot() const;

  private:
    /// The newest update of one field.
    struct Update {
        std::string timestamp;
        std::uint64_t number = 0;
    };

    mutable std::mutex mutex_;
    std::shared_ptr<const StateFields> fields_;
    std::map<std::string, Update> updates_;
    std::uint64_t count_ = 0;
};

}  // namespace epilogue::agent
