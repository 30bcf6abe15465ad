// What our decoder understands of documents, said in JSON for tests/differential/compare.
//
// Reads documents from standard input, each behind its length in 4 bytes, lowest first. Writes one line with
// the members that the decoder wants, then one line a document: {"fault": reason}, or {"part": what was kept,
// "outcome": taken | the reason of the dead letter}. In a part a number is {"n": as written, "i": as an
// integer or null}, an array {"a": elements}, an object {"o": members}.
#include <array>
#include <iostream>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "schemas/decode.h"
#include "schemas/decode_generations.h"
#include "schemas/json_reader.h"

using namespace epilogue;
using nlohmann::json;

namespace {

json said(const WantedPart& wanted) {
    json members = json::object();
    for (const WantedPart& member : wanted.members) members[std::string(member.name)] = said(member);
    return members;
}

json said(const JsonPart& part) {
    json inner;
    switch (part.type) {
        case JsonPart::Type::absent:
        case JsonPart::Type::null:
            return nullptr;
        case JsonPart::Type::boolean:
            return part.is_true();
        case JsonPart::Type::string:
            return part.text;
        case JsonPart::Type::number:
            inner["n"] = part.text;
            inner["i"] = part.integer() ? json(*part.integer()) : json(nullptr);
            return inner;
        case JsonPart::Type::array:
            inner["a"] = json::array();
            for (const JsonPart& element : part.parts) inner["a"].push_back(said(element));
            return inner;
        case JsonPart::Type::object:
            inner["o"] = json::object();
            for (const JsonPart& member : part.parts)
                inner["o"][member.name == any_member ? member.key : std::string(member.name)] = said(member);
            return inner;
    }
    return nullptr;
}

json understood(JsonReader& reader, Decoder& decoder, const std::string& document) {
    const auto part = reader.read(document, wanted_of_events());
    if (!part) return {{"fault", part.error().reason}};
    const Decoded decoded = decoder.decode(document);
    const auto* const poison = std::get_if<Poison>(&decoded);
    return {{"part", said(*part)}, {"outcome", poison ? poison->reason : "taken"}};
}

std::optional<std::string> next_document() {
    std::array<char, 4> bytes{};
    if (!std::cin.read(bytes.data(), bytes.size())) return std::nullopt;
    std::size_t length = 0;
    for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte)
        length = length << 8U | static_cast<unsigned char>(*byte);
    std::string document(length, '\0');
    if (!std::cin.read(document.data(), static_cast<std::streamsize>(length))) return std::nullopt;
    return document;
}

}  // namespace

int main() {
    std::ios::sync_with_stdio(false);
    JsonReader reader;
    Decoder decoder;
    std::cout << said(wanted_of_events()).dump() << '\n';
    while (const auto document = next_document())
        std::cout << understood(reader, decoder, *document).dump() << '\n';
}
