#include "schemas/publish_line.h"

#include "base/ids.h"
#include "schemas/decode.h"
#include "schemas/json_reader.h"

namespace epilogue {
namespace {

const WantedPart wanted{"", {{"conversation_id"}, {"event"}, {"seq"}}};

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
    PublishLine parsed{normalise_conversation_id(*id), reader.raw_member(line, "event"),
                       object["seq"].integer()};
    if (object["seq"].is_given() && !parsed.seq) return poisonous("\"seq\": expected an integer");
    return parsed;
}

}  // namespace epilogue
