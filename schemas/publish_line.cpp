#include "schemas/publish_line.h"

#include <simdjson.h>

#include "base/ids.h"
#include "schemas/decode.h"
#include "schemas/json_reader.h"

namespace epilogue {
namespace {

const WantedPart wanted{"", {{"conversation_id"}, {"event"}, {"seq"}}};

/// The bytes of the value of `event` (the last of duplicates, as everywhere). The line was checked before.
std::string raw_event(std::string_view line) {
    const simdjson::padded_string padded(line);
    simdjson::ondemand::parser parser;
    auto document = parser.iterate(padded);
    std::string raw;
    for (auto field : document.get_object()) {
        const bool is_event = field.unescaped_key().value() == "event";
        simdjson::ondemand::value value = field.value();
        const auto type = value.type().value();
        std::string_view text;
        if (type == simdjson::ondemand::json_type::object)
            text = value.get_object().value().raw_json().value();
        else if (type == simdjson::ondemand::json_type::array)
            text = value.get_array().value().raw_json().value();
        else
            text = value.raw_json_token();
        if (is_event) raw = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
    }
    return raw;
}

}  // namespace

Result<PublishLine> parse_publish_line(std::string_view line) {
    thread_local JsonReader reader;
    const auto read = reader.read(line, wanted);
    if (!read) return poisonous("not JSON: " + std::string(read.error().reason) + " " + read.error().detail);
    const JsonPart& object = *read;
    if (object.type != JsonPart::Type::object)
        return poisonous("expected a JSON object {\"conversation_id\", \"event\"}");
    if (!object["event"].is_given()) return poisonous("\"event\" is missing");
    const auto id = object["conversation_id"].string();
    if (!id) return poisonous("\"conversation_id\" is missing or not a string");
    if (const auto fault = key_fault(*id); !fault.empty())
        return poisonous("\"conversation_id\": expected 1 to 255 bytes of UTF-8 (" + std::string(fault) +
                         ")");
    PublishLine parsed{normalise_conversation_id(*id), raw_event(line), object["seq"].integer()};
    if (object["seq"].is_given() && !parsed.seq) return poisonous("\"seq\": expected an integer");
    return parsed;
}

}  // namespace epilogue
