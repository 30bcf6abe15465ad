#define BOOST_TEST_MODULE recordings
#include <fstream>
#include <iostream>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "schemas/decode.h"
#include "tests/unit/worker/core/fold_run.h"
#include "worker/core/conversation_row.h"

using namespace epilogue;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t all_recordings = 140;

/// One real conversation and the truth about it.
struct Recording {
    std::string name;
    std::vector<Event> events;
    std::vector<std::string> turns;  ///< as written by written(); what has to come out
    std::string open_turn;           ///< key of the turn that stays open; empty: none
};

std::string folder() {
    return std::string(EPILOGUE_SOURCE_DIR) + "/tests/data/recordings/";
}

/// All that is compared of a turn, as one line.
std::string written(const std::string& key, const std::string& verdict, const std::string& status_event,
                    const nlohmann::json& words, const nlohmann::json& error) {
    return nlohmann::json{key, verdict, status_event, words, error}.dump();
}

std::string written(const TurnEnd& turn) {
    nlohmann::json error = nullptr;
    if (turn.reason) error = {{"code", turn.reason->code}, {"detail", turn.reason->detail}};
    return written(turn.turn_key, std::string(name_of(turn.verdict)), turn.status_event,
                   turn.final_message ? nlohmann::json(*turn.final_message) : nlohmann::json(nullptr), error);
}

std::string written(const nlohmann::json& turn) {
    nlohmann::json error = turn.at("error");
    // V0 has a reason only, no detail.
    if (!error.is_null() && error.at("detail").is_null()) error["detail"] = "";
    return written(turn.at("turn_key"), turn.at("verdict"), turn.at("status_event"), turn.at("text"), error);
}

std::vector<Event> read_events(Decoder& decoder, const std::string& name) {
    std::ifstream file(folder() + name);
    BOOST_REQUIRE_MESSAGE(file, "cannot read " + name);
    std::vector<Event> events;
    for (std::string line; std::getline(file, line);) {
        const Decoded decoded = decoder.decode(line);
        if (const auto* poison = std::get_if<Poison>(&decoded))
            BOOST_ERROR(name + ": " + poison->reason + ": " + poison->detail);
        else if (const auto* event = std::get_if<Event>(&decoded))
            events.push_back(*event);
    }
    BOOST_TEST(!events.empty(), name);
    return events;
}

std::vector<Recording> read_recordings() {
    std::ifstream file(folder() + "expected.jsonl");
    BOOST_REQUIRE_MESSAGE(file, "cannot read expected.jsonl");
    Decoder decoder;
    std::vector<Recording> recordings;
    for (std::string line; std::getline(file, line);) {
        const auto expected = nlohmann::json::parse(line);
        Recording recording;
        recording.name = expected.at("recording");
        recording.events = read_events(decoder, recording.name);
        for (const auto& turn : expected.at("turns")) recording.turns.push_back(written(turn));
        if (expected.at("open_turn").is_string()) recording.open_turn = expected.at("open_turn");
        recordings.push_back(std::move(recording));
    }
    return recordings;
}

const std::vector<Recording>& recordings() {
    static const std::vector<Recording> all = read_recordings();
    return all;
}

void require_truth(const Recording& recording, const FoldRun& fold_run) {
    std::vector<std::string> turns;
    for (const TurnEnd& turn : fold_run.ended()) turns.push_back(written(turn));
    BOOST_TEST(turns == recording.turns, boost::test_tools::per_element());
    const Turn* open = current_turn(fold_run.conversation());
    BOOST_TEST((open != nullptr ? open->key : TurnKey{}) == recording.open_turn);
}

/// Calls `tell` with every recording and a run of its own, then requires the run to end in the
/// truth.
template <class Tell>
void with_every_recording(Tell tell) {
    std::size_t checked = 0;
    for (const Recording& recording : recordings()) {
        BOOST_TEST_CONTEXT(recording.name) {
            FoldRun fold_run;
            tell(recording, fold_run);
            require_truth(recording, fold_run.settles());
        }
        ++checked;
    }
    std::cout << checked << " recordings checked\n";
    BOOST_TEST(checked == all_recordings);
}

/// The same, read in one go or with the conversation written to its row and read again after every event.
std::string future_of(Conversation conversation, const std::vector<Event>& events, bool by_row) {
    std::string turns;
    const auto take = [&](Folded folded) {
        for (const TurnEnd& turn : folded.ended)
            turns += written(turn) + " files " + std::to_string(turn.digest.files.size()) + " steps " +
                     std::to_string(turn.digest.figures.steps) + "\n";
        conversation = std::move(folded.conversation);
        if (!by_row) return;
        const ConversationRow row = to_row(conversation);
        const auto read = from_row(row);
        BOOST_REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error().text));
        const ConversationRow again = to_row(*read);
        BOOST_TEST(again.fold == row.fold);
        BOOST_TEST(again.digest == row.digest);
        BOOST_TEST(again.tail_text == row.tail_text);
        BOOST_TEST(again.recent_ids == row.recent_ids);
        conversation = *read;
    };
    for (const Event& event : events) take(fold(std::move(conversation), event, fold_start, {}));
    take(tick(std::move(conversation), fold_start + 2s));
    const ConversationRow last = to_row(conversation);
    return turns + last.status + last.verdict + last.turn_key + last.tail_kind + last.tail_text +
           last.error_code + last.error_detail + last.recent_ids + last.digest + last.fold;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_recording_gives_exactly_its_turns_verdicts_and_words) {
    with_every_recording(
        [](const Recording& recording, FoldRun& fold_run) { fold_run.read(recording.events); });
}

BOOST_AUTO_TEST_CASE(everything_read_twice_gives_the_same_turns) {
    with_every_recording([](const Recording& recording, FoldRun& fold_run) {
        fold_run.read(recording.events).read(recording.events);
    });
}

BOOST_AUTO_TEST_CASE(everything_read_again_after_it_was_counted_gives_the_same_turns) {
    with_every_recording([](const Recording& recording, FoldRun& fold_run) {
        fold_run.read(recording.events).settles().read(recording.events);
    });
}

BOOST_AUTO_TEST_CASE(each_event_read_twice_in_a_row_gives_the_same_turns) {
    with_every_recording([](const Recording& recording, FoldRun& fold_run) {
        for (const Event& event : recording.events) fold_run.read({event, event});
    });
}

BOOST_AUTO_TEST_CASE(events_for_watchers_change_nothing_where_nobody_watches) {
    FoldRules unwatched;
    unwatched.keep_digest = false;
    std::size_t left_out = 0;
    for (const Recording& recording : recordings()) {
        std::vector<Event> steering = recording.events;
        left_out += std::erase_if(steering, is_for_watchers);
        const auto row_after = [&](const std::vector<Event>& events) {
            return to_row(FoldRun(unwatched).read(events).settles().conversation());
        };
        BOOST_TEST_CONTEXT(recording.name)
        BOOST_TEST((row_after(steering) == row_after(recording.events)));
    }
    std::cout << left_out << " events left out\n";
    BOOST_TEST(left_out > 1000);
}

BOOST_AUTO_TEST_CASE(a_conversation_survives_its_row_after_every_event_of_every_recording) {
    std::size_t events = 0;
    for (const Recording& recording : recordings()) {
        BOOST_TEST_CONTEXT(recording.name)
        BOOST_TEST(future_of({}, recording.events, true) == future_of({}, recording.events, false));
        events += recording.events.size();
    }
    std::cout << events << " events written to rows and read again\n";
    BOOST_TEST(recordings().size() == all_recordings);
}
