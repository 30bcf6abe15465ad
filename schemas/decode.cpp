#include "schemas/decode.h"

#include "base/text.h"
#include "schemas/decode_generations.h"
#include "schemas/json_reader.h"
#include "schemas/stop_hook.h"

namespace epilogue {

static_assert(max_event_bytes == max_json_bytes && max_event_depth == max_json_depth);

struct Decoder::Parser {
    JsonReader reader;
};

Decoder::Decoder() : parser_(std::make_unique<Parser>()) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

Decoded Decoder::decode(std::string_view value, const RecordMarks& marks) {
    const auto event = parser_->reader.read(value, wanted_of_events());
    if (!event) return Poison{std::string(event.error().reason), event.error().detail};
    if (event->type != JsonPart::Type::object) return Poison{"not_an_object", "JSON, but no object"};

    std::optional<Event> decoded;
    if ((*event)["kind"].string()) {
        decoded = decode_v1(*event, marks);
    } else if ((*event)["action"].string() || (*event)["observation"].string()) {
        decoded = decode_v0(*event);
    } else {
        return Poison{"neither_v0_nor_v1", "an object without kind, action and observation that are strings"};
    }
    if (!decoded) return IgnoredEvent{};
    return std::move(*decoded);
}

std::string_view key_fault(std::string_view key) {
    if (key.data() == nullptr) return "no_key";
    if (key.empty()) return "key_empty";
    if (key.size() > 255) return "key_too_long";
    return is_utf8(key) ? "" : "key_not_utf8";
}

namespace {

/// What V1's tools answer.
std::vector<WantedPart> wanted_of_observations() {
    static const std::vector<WantedPart> blocks{{"type"}, {"text"}};
    return {{"exit_code"},
            {"content", blocks},
            {"command"},
            {"path"},
            {"is_error"},
            {"prev_exist"},
            {"old_content"},
            {"new_content"},
            {"file_path"},
            {"is_new_file"},
            {"commit",
             {{"changes", {{any_member, {{"type"}, {"old_content"}, {"new_content"}, {"move_path"}}}}}}},
            {"metadata", {{"working_dir"}}}};
}

}  // namespace

const WantedPart& wanted_of_events() {
    static const std::vector<WantedPart> blocks{{"type"}, {"text"}};
    static const WantedPart wanted{
        "",
        {{"kind"},
         {"id"},
         {"timestamp"},
         {"source"},
         {"sender"},
         {"key"},
         {"value",
          {{"execution_status"},
           {"active"},
           {"status"},
           {"iteration"},
           {"max_iterations"},
           {"usage_to_metrics",
            {wanted_of_usage("agent"), wanted_of_usage("condenser"), wanted_of_usage("default")}},
           wanted_of_stop_hooks(),
           {"hook_config", {wanted_of_stop_hooks()}}}},
         {"hook_event_type"},
         {"blocked"},
         {"tool_name"},
         {"action_id"},
         {"code"},
         {"detail"},
         {"error"},
         {"classification", {{"kind"}}},
         {"llm_message", {{"content", blocks}}},
         {"action",
          {{"kind"},
           {"message"},
           {"command"},
           {"is_input"},
           {"path"},
           {"file_path"},
           {"task_completed"},
           {"outcome"}}},
         {"observation", wanted_of_observations()},
         {"cause"},
         {"content"},
         {"args",
          {{"content"},
           {"final_thought"},
           {"command"},
           {"is_input"},
           {"path"},
           {"task_completed"},
           {"outputs", {{"reason"}}}}},
         wanted_of_usage("llm_metrics"),
         {"extras",
          {{"agent_state"},
           {"reason"},
           {"path"},
           {"command"},
           {"name"},
           {"prev_exist"},
           {"old_content"},
           {"new_content"},
           {"metadata", {{"exit_code"}, {"working_dir"}}}}}}};
    return wanted;
}

std::optional<Instant> timestamp_of(const JsonPart& event) {
    return parse_instant(event["timestamp"].string_or_empty());
}

void add_requests(std::vector<Work>& work, std::vector<std::string> links) {
    for (auto& url : links) work.emplace_back(RequestMade{std::move(url)});
}

}  // namespace epilogue
