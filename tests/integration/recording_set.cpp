#include "tests/integration/recording_set.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "base/ids.h"
#include "base/text.h"

namespace epilogue::testing {
namespace {

using nlohmann::json;

constexpr std::size_t uuid_length = 36;
constexpr std::string_view timestamp_name = "\"timestamp\"";

/// Old id → new id.
using Renamed = std::map<std::string, std::string, std::less<>>;

std::ifstream opened(const std::string& name) {
    std::ifstream file(std::string(EPILOGUE_SOURCE_DIR) + "/tests/data/recordings/" + name);
    if (!file) throw std::runtime_error("cannot read tests/data/recordings/" + name);
    return file;
}

bool is_event(const std::string& line) {
    const json value = json::parse(line, nullptr, false);
    return value.is_object() &&
           (value.contains("kind") || value.contains("action") || value.contains("observation"));
}

std::string text_or_empty(const json& value) {
    return value.is_string() ? value.get<std::string>() : std::string();
}

RecordedConversation read_recording(const json& expected) {
    RecordedConversation read;
    read.recording = expected.at("recording");
    auto file = opened(read.recording);
    for (std::string line; std::getline(file, line);)
        if (is_event(line)) read.events.push_back(line);
    for (const json& turn : expected.at("turns")) {
        const json& error = turn.at("error");
        read.turns.push_back({turn.at("turn_key"), turn.at("verdict"), turn.at("status_event"),
                              text_or_empty(turn.at("text")),
                              error.is_object() ? text_or_empty(error.at("code")) : ""});
    }
    read.open_turn = text_or_empty(expected.at("open_turn"));
    return read;
}

std::vector<RecordedConversation> read_all() {
    auto file = opened("expected.jsonl");
    std::vector<RecordedConversation> all;
    for (std::string line; std::getline(file, line);) all.push_back(read_recording(json::parse(line)));
    return all;
}

/// The id of the conversation itself: a `full_state` of V1 has it.
std::string told_id(const std::vector<json>& events) {
    for (const json& event : events)
        if (event.value("key", "") == "full_state" && event.contains("value"))
            return event.at("value").value("id", "");
    return "";
}

bool is_uuid_digit(std::size_t place, char digit) {
    if (place == 8 || place == 13 || place == 18 || place == 23) return digit == '-';
    return (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f');
}

bool is_uuid(std::string_view text) {
    for (std::size_t place = 0; place < text.size(); ++place)
        if (!is_uuid_digit(place, text[place])) return false;
    return text.size() == uuid_length;
}

std::string with_new_ids(std::string_view line, const Renamed& ids) {
    std::string text;
    for (std::size_t at = 0; at < line.size();) {
        const std::string_view next = line.substr(at, uuid_length);
        const auto found = is_uuid(next) ? ids.find(next) : ids.end();
        text += found == ids.end() ? next.substr(0, 1) : std::string_view(found->second);
        at += found == ids.end() ? 1 : uuid_length;
    }
    return text;
}

/// Moves the values of all fields named "timestamp"; what else is called so, or quoted in a text, stays.
std::string with_times_moved(std::string line, Micros by) {
    std::size_t at = line.find(timestamp_name);
    for (; at != std::string::npos; at = line.find(timestamp_name, at + 1)) {
        const std::size_t open = line.find_first_not_of(": ", at + timestamp_name.size());
        if (open == std::string::npos || line[open] != '"') continue;
        const std::size_t length = line.find('"', open + 1) - open - 1;
        const auto time = parse_instant(std::string_view(line).substr(open + 1, length));
        if (!time) continue;
        const std::string moved = to_iso(*time + by);
        line.replace(open + 1, length, moved, 0, moved.size() - 1);  // as servers write it: without the Z
    }
    return line;
}

std::string renamed(const std::string& id, const Renamed& ids) {
    const auto found = ids.find(id);
    return found == ids.end() ? id : found->second;
}

std::string without_dashes(const std::string& uuid) {
    return replaced(uuid, "-", "");
}

}  // namespace

const std::vector<RecordedConversation>& recordings() {
    static const std::vector<RecordedConversation> all = read_all();
    return all;
}

RecordedConversation with_new_ids(const RecordedConversation& original, Instant now) {
    std::vector<json> events;
    Renamed ids;
    std::optional<Instant> newest;
    for (const std::string& line : original.events) {
        events.push_back(json::parse(line));
        const json& event = events.back();
        if (const std::string id = text_or_empty(event.value("id", json())); is_uuid(id))
            ids.try_emplace(id, random_uuid());
        const auto time = parse_instant(event.value("timestamp", ""));
        if (time && (!newest || *time > *newest)) newest = time;
    }
    const Micros by =
        newest ? std::chrono::floor<std::chrono::seconds>(now - *newest) : std::chrono::seconds(0);

    const std::string new_id = random_uuid();
    const std::string old_id = told_id(events);
    if (!old_id.empty()) ids.insert_or_assign(old_id, new_id);

    RecordedConversation told = original;
    told.id = without_dashes(new_id);
    for (std::string& line : told.events) {
        line = with_times_moved(with_new_ids(line, ids), by);
        if (!old_id.empty()) line = replaced(line, without_dashes(old_id), told.id);
    }
    for (RecordedTurn& turn : told.turns) {
        turn.turn_key = renamed(turn.turn_key, ids);
        turn.status_event = renamed(turn.status_event, ids);
    }
    told.open_turn = renamed(original.open_turn, ids);
    return told;
}

std::vector<RecordedConversation> recordings_with_new_ids(Instant now) {
    std::vector<RecordedConversation> all;
    for (const RecordedConversation& original : recordings()) all.push_back(with_new_ids(original, now));
    return all;
}

std::vector<RecordedTurn> reported_turns(const RecordedConversation& conversation, const std::string& mode) {
    const auto& turns = conversation.turns;
    auto end = turns.end();
    if (mode == "once") {
        end = turns.begin() + (turns.empty() ? 0 : 1);
    } else if (mode == "until_done") {
        end = std::find_if(turns.begin(), turns.end(),
                           [](const RecordedTurn& turn) { return turn.verdict != "awaiting_user_input"; });
        if (end != turns.end()) ++end;
    } else if (mode != "every_turn") {
        throw std::runtime_error("no such mode: " + mode);
    }
    return {turns.begin(), end};
}

std::string final_status(const RecordedConversation& conversation, const std::string& mode) {
    const auto reported = reported_turns(conversation, mode);
    const bool done = mode == "once" ? !reported.empty()
                                     : mode == "until_done" && !reported.empty() &&
                                           reported.back().verdict != "awaiting_user_input";
    return done ? "COMPLETED" : "ACTIVE";
}

std::vector<Record> records_of(const RecordedConversation& conversation, Instant at) {
    std::vector<Record> records;
    for (const std::string& event : conversation.events) {
        Record record;
        record.key = conversation.id;
        record.value = event;
        record.at = std::chrono::floor<std::chrono::milliseconds>(at);
        records.push_back(std::move(record));
    }
    return records;
}

}  // namespace epilogue::testing
