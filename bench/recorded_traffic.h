// The traffic of a working day: the recorded conversations of the newest server, replayed again and again as
// new conversations, many at a time.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/integration/recording_set.h"

namespace epilogue::bench {

/// One conversation in ten is watched.
constexpr std::size_t one_watched_of = 10;

/// The events of so many live conversations in turn, without an end: always the same ones.
class RecordedTraffic {
  public:
    /// `name` keeps the conversations of one traffic apart from those of another.
    RecordedTraffic(std::string name, std::size_t live);

    struct Event {
        std::string conversation_id;
        const std::string& text;
    };
    Event next();

    /// Conversations begun so far.
    std::size_t begun() const { return begun_; }
    /// The id of conversation number `number`, from 0.
    std::string id(std::size_t number) const;
    /// The ends passed so far of each conversation that was told from its first event on, as recordings have
    /// them.
    const std::map<std::string, std::size_t>& ends() const { return ends_; }

  private:
    struct Replayed {
        const testing::RecordedConversation* recording = nullptr;
        std::set<std::size_t> ends;  ///< indices of the events that end its turns
    };
    struct Live {
        std::size_t number = 0;
        const Replayed* replayed = nullptr;
        std::size_t next_event = 0;
        bool is_whole = true;  ///< told from its first event on
    };
    Live begin();

    const std::string name_;
    std::vector<Replayed> recordings_;
    std::map<std::string, std::size_t> ends_;
    std::vector<Live> live_;
    std::size_t turn_ = 0;
    std::size_t begun_ = 0;
};

}  // namespace epilogue::bench
