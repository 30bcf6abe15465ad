// A conversation's log, told event by event: as its agent server has it, and as records, for what a relay
// brings.
#pragma once

#include <string>
#include <vector>

#include "tests/agent/fake_agent_server.h"
#include "tests/support/rig.h"

namespace epilogue::testing {

class ConversationScript {
  public:
    explicit ConversationScript(std::string id) : id_(std::move(id)) {}

    ConversationScript& user() { return add(message_event(next(), at_, "user", "Go on.")).status("running"); }
    ConversationScript& asks(const std::string& words) {
        return add(message_event(next(), at_, "agent", words)).status("finished");
    }
    ConversationScript& fails(const std::string& code) {
        status("error");
        return add(error_event(next(), at_, code, "It broke."));
    }
    ConversationScript& status(const std::string& status) {
        status_ = status;
        return add(status_event(next(), at_, status));
    }

    const std::string& id() const { return id_; }
    const std::string& status() const { return status_; }
    const std::vector<std::string>& log() const { return log_; }
    std::vector<Record> records() const {
        std::vector<Record> records;
        for (const std::string& event : log_) records.push_back({.key = id_, .value = event});
        return records;
    }
    void stand_on(FakeAgentServer& server) const { server.add(id_, log_, status_); }

  private:
    std::string next() { return id_ + "-" + std::to_string(log_.size()); }
    ConversationScript& add(const std::string& event) {
        log_.push_back(event);
        at_ += 1;
        return *this;
    }

    std::string id_;
    std::string status_ = "idle";
    std::vector<std::string> log_;
    double at_ = 0;
};

/// An id that is a UUID.
inline std::string id_of(int number) {
    const std::string digits = std::to_string(number);
    return std::string(32 - digits.size(), '0') + digits;
}

}  // namespace epilogue::testing
