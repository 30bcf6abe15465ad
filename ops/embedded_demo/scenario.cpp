#include "ops/embedded_demo/scenario.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/ids.h"
#include "base/text.h"
#include "ops/embedded_demo/recording.h"

namespace epilogue::demo {
namespace {

using nlohmann::json;

struct Entry {
    std::string recording;
    Place place;
    bool in_thread = false;
    std::vector<std::string> about;  ///< one sentence a turn
};

const std::vector<Entry>& entries() {
    static const std::vector<Entry> all{
        {"v1.7.3/conversations/s06_confirm_accept.ws.jsonl",
         {"github", "acme/notes#12"},
         false,
         {"The agent asked for leave before each step, got it, and wrote its notes."}},
        {"v1.7.3/conversations/s04e_llm429.ws.jsonl",
         {"github", "acme/api#31"},
         false,
         {"The language model turned the agent away: too many requests."}},
        {"v0/finish_everything_twice.jsonl",
         {"github", "acme/clock#9"},
         false,
         {"A flaky test was mended. Each event of this conversation arrived twice."}},
        {"v1.58.0/conversations/s02_message.rest.jsonl",
         {"slack", "C0WEB"},
         true,
         {"The agent cannot tell which file is meant, and asks.",
          "The user answered, and the agent went on to the end."}},
        {"v1.7.3/conversations/s15_unicode.ws.jsonl",
         {"slack", "C0I18N"},
         false,
         {"The last words hold a rocket, HTML and @channel. Nobody is called by it."}},
        {"v0/error_then_resume.jsonl",
         {"gitlab", "acme/build#5"},
         false,
         {"The model's service went away in the middle of the work.",
          "Somebody resumed the agent when the service was back."}},
        {"v1.58.0/conversations/s05c_empty_llm.rest.jsonl",
         {"gitlab", "acme/notes!15"},
         true,
         {"The model had nothing to say, three times in a row."}},
        {"v1.7.3/with_webhook/w2_500_then_ok.ws.jsonl",
         {"github", "acme/notes!16"},
         true,
         {"A webhook failed and was repeated: the first action arrived last of all."}},
        {"v1.7.3/conversations/s11_max_iterations.ws.jsonl",
         {"slack", "C0CI"},
         true,
         {"The agent was allowed three steps, and they were not enough.",
          "Somebody let it go on; three more were not enough either."}},
        {"v0/rejected.jsonl", {"gitlab", "acme/api!8"}, false, {"The agent refused the task."}},
    };
    return all;
}

const Recording& recording_of(const std::string& name) {
    const auto& all = recordings();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& r) { return r.name == name; });
    if (found == all.end()) throw std::logic_error("ops/embedded_demo/CMakeLists.txt does not name " + name);
    return *found;
}

std::string headline_of(const std::string& verdict) {
    static const std::map<std::string, std::string> headlines{
        {"finished", "Finished"},         {"awaiting_user_input", "Waiting for you"},
        {"error", "Ended with an error"}, {"stuck", "Got stuck"},
        {"rejected", "Rejected"},         {"stopped", "Stopped"}};
    return headlines.at(verdict);
}

/// "v0/…" and "v1.58.0/…" as people call them.
std::string generation_of(const std::string& recording) {
    const std::string version = recording.substr(1, recording.find('/') - 1);
    return version == "0" ? "OpenHands V0" : "OpenHands " + version;
}

std::string text_or_empty(const json& value) {
    return value.is_string() ? value.get<std::string>() : std::string();
}

Scenario scenario_of(const Entry& entry) {
    const Recording& recording = recording_of(entry.recording);
    Scenario scenario;
    scenario.conversation = normalise_conversation_id(random_uuid());
    scenario.generation = generation_of(entry.recording);
    scenario.place = entry.place;
    scenario.in_thread = entry.in_thread;
    scenario.events = split(recording.events, '\n');
    const json truth = json::parse(recording.truth);
    for (const json& turn : truth.at("turns")) {
        const json& error = turn.at("error");
        scenario.turns.push_back({entry.about.at(scenario.turns.size()), headline_of(turn.at("verdict")),
                                  text_or_empty(turn.at("text")),
                                  error.is_object() ? text_or_empty(error.at("code")) : ""});
    }
    return scenario;
}

}  // namespace

std::string name_of(const Place& place) {
    return place.path + (place.thread.empty() ? "" : ", thread " + place.thread);
}

std::vector<Scenario> demo_scenarios() {
    std::vector<Scenario> scenarios;
    for (const Entry& entry : entries()) scenarios.push_back(scenario_of(entry));
    return scenarios;
}

}  // namespace epilogue::demo
