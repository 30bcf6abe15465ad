#include "ops/importer/upstream_row.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/enum_names.h"
#include "schemas/decode.h"
#include "schemas/json_edit.h"
#include "schemas/json_reader.h"
#include "sinks/plain_key.h"
#include "sinks/processor.h"

namespace epilogue {
namespace {

constexpr EnumNames<UpstreamGeneration, 2> generation_names{{"v0", "v1"}};
static_assert(generation_names.ends_with(UpstreamGeneration::v1));

constexpr std::size_t max_told_bytes = 255;  // imported_rows.told

/// V1's processors that post nothing: OpenHands gives the first to every conversation.
bool tells_nobody(std::string_view kind) {
    constexpr std::array<std::string_view, 2> kinds{"SetTitleCallbackProcessor", "LoggingCallbackProcessor"};
    return std::ranges::find(kinds, kind) != kinds.end();
}

/// What the rows of some processors say beside their place.
struct Contents {
    std::string kind;                           ///< V1: the class
    bool is_over = false;                       ///< V1 on GitHub and GitLab: it has asked for its one summary
    std::string handled = {};                   ///< V0 on Slack: the user message that it has dealt with
    std::optional<std::string> key_owner = {};  ///< V1 on Jira: the cloud's id, when its key stands there
};

Result<Contents> contents_of(const std::string& processor) {
    const WantedPart wanted{
        "",
        {{"kind"}, {"should_request_summary"}, {"last_user_msg_id"}, {plain_key_member}, {"jira_cloud_id"}}};
    const auto json = JsonReader().read(processor, wanted);
    if (!json) return poisonous("not usable JSON: " + json.error().detail);
    if (json->type != JsonPart::Type::object) return poisonous("expected an object");
    const JsonPart& asks = (*json)["should_request_summary"];
    const auto handled = (*json)["last_user_msg_id"].integer();
    Contents contents{std::string((*json)["kind"].string_or_empty()),
                      asks.type == JsonPart::Type::boolean && !asks.is_true(),
                      handled && *handled >= 0 ? std::to_string(*handled) : ""};
    if ((*json)[plain_key_member].is_given())
        contents.key_owner = std::string((*json)["jira_cloud_id"].string_or_empty());
    return contents;
}

/// What keeps the row's own columns from being taken over; "": nothing.
std::string fault_of(const UpstreamRow& row, std::string_view column) {
    if (!row.conversation_id) return "conversation_id: none: it is for every conversation";
    if (const auto fault = key_fault(*row.conversation_id); !fault.empty())
        return "conversation_id: expected 1 to 255 bytes of UTF-8 (" + std::string(fault) + ")";
    if (!row.processor) return std::string(column) + ": over 8 MiB";
    return "";
}

}  // namespace

std::string_view name_of(UpstreamGeneration generation) {
    return generation_names.of(generation);
}

Reading read_row(UpstreamGeneration generation, const UpstreamRow& row) {
    if (row.status != "ACTIVE") return LeftOut::not_active;
    const bool is_v1 = generation == UpstreamGeneration::v1;
    const std::string column = is_v1 ? "processor" : "processor_json";
    if (!row.processor) return Unreadable{fault_of(row, column)};
    const auto contents = contents_of(*row.processor);
    if (!contents) return Unreadable{column + ": " + contents.error().text};
    if (is_v1 && contents->kind.empty()) return Unreadable{"processor: kind: expected a class name"};
    if (is_v1 && tells_nobody(contents->kind)) return LeftOut::tells_nobody;
    if (auto fault = fault_of(row, column); !fault.empty()) return Unreadable{std::move(fault)};
    TakenOver taken;
    taken.conversation_id = normalise_conversation_id(*row.conversation_id);
    taken.processor_type = is_v1 ? contents->kind : row.processor_type;
    taken.processor_json = *row.processor;
    if (contents->key_owner) {
        auto without_key = with_member(*row.processor, {std::string(plain_key_member)}, "null");
        if (!without_key) return Unreadable{column + ": its API key cannot be taken out"};
        taken.processor_json = *std::move(without_key);
        taken.key_left_out = contents->key_owner;
    }
    // The limits of a key are those of the column.
    if (const auto fault = key_fault(taken.processor_type); !fault.empty())
        return Unreadable{"processor_type: expected 1 to 255 bytes of UTF-8 (" + std::string(fault) + ")"};
    const auto processor = decode_processor(taken.processor_type, taken.processor_json);
    if (!processor) return Unreadable{processor.error().text};
    if (is_v1 && contents->is_over) return LeftOut::posted_already;
    taken.told = is_v1 ? row.posted_event : contents->handled;
    if (taken.told.size() > max_told_bytes) taken.told.clear();
    return taken;
}

std::string digest_of(const UpstreamRow& row) {
    std::string all;
    for (const std::string& part :
         {row.conversation_id.value_or(""), row.status, row.processor_type, row.processor.value_or("")}) {
        all += part;
        all += '\0';
    }
    return sha256_hex(all);
}

}  // namespace epilogue
