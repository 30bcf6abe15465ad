// The recorded conversations of tests/data/recordings as new conversations, and what has to be reported of
// each.
#pragma once

#include <string>
#include <vector>

#include "base/instant.h"
#include "tests/support/kafka_records.h"

namespace epilogue::testing {

/// A turn that has to be reported.
struct RecordedTurn {
    std::string turn_key;
    std::string verdict;       ///< name of the trigger, e.g. "awaiting_user_input"
    std::string status_event;  ///< id of the status that ends it
    std::string words;         ///< the agent's last words; empty: none are to be shown
    std::string error_code;    ///< verdict "error" only; empty: none is known
};

struct RecordedConversation {
    std::string recording;            ///< the file, below tests/data/recordings
    std::string id;                   ///< as it is published and stored: 32 lower-case hex digits
    std::vector<std::string> events;  ///< JSON texts, in the order of the log
    std::vector<RecordedTurn> turns;  ///< in order
    std::string open_turn;            ///< key of the turn that stays open; empty: none does
};

/// How many files expected.jsonl names.
constexpr std::size_t recording_count = 140;

/// The conversations as they were recorded, in the order of expected.jsonl; lines that hold no event are left
/// out. Throws std::runtime_error when a file cannot be read.
const std::vector<RecordedConversation>& recordings();

/// The same events as another conversation's: a conversation id and event ids (V1; V0's numbers stay) that
/// are new, wherever a field or a text names one, also in the expected turns; all timestamps moved by one
/// whole number of seconds, so that the newest lies in the second before `now`. Every other byte stays.
RecordedConversation with_new_ids(const RecordedConversation& original, Instant now);

/// Every recording once, with new ids.
std::vector<RecordedConversation> recordings_with_new_ids(Instant now);

/// The turns of the conversation that a callback of this mode ("once", "until_done" or "every_turn") reports,
/// when it was there from the start and has all triggers.
std::vector<RecordedTurn> reported_turns(const RecordedConversation& conversation, const std::string& mode);
/// The status such a callback has in the end: "ACTIVE" or "COMPLETED".
std::string final_status(const RecordedConversation& conversation, const std::string& mode);

/// One record for each event, under the conversation's key, each with the record time `at`: with one time for
/// a whole conversation no timer of it can pass between two of its records while they wait to be read.
std::vector<Record> records_of(const RecordedConversation& conversation, Instant at);

}  // namespace epilogue::testing
