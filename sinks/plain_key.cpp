#include "sinks/plain_key.h"

#include "schemas/json_reader.h"

namespace epilogue {

bool has_plain_key(std::string_view processor_json) {
    const auto json = JsonReader().read(processor_json, {"", {{plain_key_member}}});
    return json && (*json)[plain_key_member].is_given();
}

}  // namespace epilogue
