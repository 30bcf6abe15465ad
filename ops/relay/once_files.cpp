#include <fstream>
#include <iterator>

#include "agent/relay/persisted_logs.h"
#include "ops/relay/once.h"
#include "ops/relay/once_topic.h"

namespace epilogue {
namespace {

/// One event of a log, on its way into the topic. Errors: what is wrong with the file.
Result<void> produce_file(OnceTopic& topic, const relay::RecordMaker& make_record,
                          const ConversationId& conversation_id, const relay::PersistedEvent& event) {
    std::ifstream opened(event.file, std::ios::binary);
    const std::string json{std::istreambuf_iterator<char>(opened), {}};
    if (!opened.is_open() || opened.bad()) return poisonous(event.file.string() + ": cannot be read");
    relay::FollowedEvent given{conversation_id, json};
    if (event.is_numbered_log) given.seq = event.number;
    const auto invalid_before = topic.invalid();
    const auto record = make_record(given);
    if (topic.invalid() != invalid_before) return poisonous(event.file.string() + ": is no JSON");
    if (record) topic.produce_when_room(*record);
    return {};
}

}  // namespace

Result<OnceReport> relay_files_once(const Config& config, const std::filesystem::path& place,
                                    const OnProgress& on_progress) {
    TRY(const auto folders, relay::folders_of_logs(place));
    TRY(const auto topic, OnceTopic::open(config));
    const auto make_record = topic->record_maker(config);
    OnceReport report;
    report.came.conversations = folders.size();
    const bool is_file = !std::filesystem::is_directory(place);
    for (const auto& folder : folders) {
        TRY(const auto log, relay::persisted_log(folder, is_file ? place : std::filesystem::path()));
        for (const auto& event : log.events) {
            if (const auto done = produce_file(*topic, make_record, log.conversation_id, event); !done)
                report.failures.push_back(done.error().text);
            report.came.events = topic->acknowledged();
            on_progress(report.came);
        }
        ++report.came.over;
    }
    topic->wait_for_all();
    report.came.events = topic->acknowledged();
    if (topic->given_up() > 0)
        return retryable(std::to_string(topic->given_up()) +
                         " events were not acknowledged: " + topic->last_error());
    return report;
}

}  // namespace epilogue
