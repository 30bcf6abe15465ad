#include "schemas/json_tree.h"

#include <algorithm>
#include <bit>
#include <new>

#include <simdjson.h>

namespace epilogue {
namespace {

namespace dom = simdjson::dom;

/// A tree takes ten times the memory of its text.
constexpr std::size_t longest_text = std::size_t{64} << 10U;
constexpr std::size_t deepest_text = 256;

/// simdjson 3.0 takes halves of surrogate pairs for characters; Python keeps them apart.
bool has_surrogates(std::string_view text) {
    return text.find("\\ud") != std::string_view::npos || text.find("\\uD") != std::string_view::npos;
}

bool take(const dom::element& value, const WantedPart& wanted, JsonPart& part);

bool take_members(const dom::object& object, const WantedPart& wanted, JsonPart& part) {
    part.type = JsonPart::Type::object;
    part.parts.reserve(std::min(wanted.members.size(), object.size()));
    for (const auto [key, value] : object) {
        const WantedPart* const member = wanted.find(key);
        JsonPart* const kept = member ? part.keep(*member, key) : nullptr;
        if (kept != nullptr && !take(value, *member, *kept)) return false;
    }
    return true;
}

bool take_elements(const dom::array& array, const WantedPart& wanted, JsonPart& part) {
    part.type = JsonPart::Type::array;
    if (wanted.members.empty()) return true;
    for (const dom::element element : array) {
        if (part.parts.size() == max_kept_elements) break;
        if (!take(element, wanted, part.parts.emplace_back())) return false;
    }
    return true;
}

bool take_scalar(JsonPart& part, JsonPart::Type type, std::string_view text) {
    part.type = type;
    part.text = text;
    return true;
}

bool take(const dom::element& value, const WantedPart& wanted, JsonPart& part) {
    using Type = JsonPart::Type;
    switch (value.type()) {
        case dom::element_type::OBJECT:
            return take_members(value.get_object(), wanted, part);
        case dom::element_type::ARRAY:
            return take_elements(value.get_array(), wanted, part);
        case dom::element_type::STRING:
            return take_scalar(part, Type::string, value.get_string());
        case dom::element_type::INT64:
            return take_scalar(part, Type::number, std::to_string(value.get_int64().value()));
        case dom::element_type::UINT64:
            return take_scalar(part, Type::number, std::to_string(value.get_uint64().value()));
        case dom::element_type::BOOL:
            return take_scalar(part, Type::boolean, value.get_bool() ? "true" : "false");
        case dom::element_type::NULL_VALUE:
            return take_scalar(part, Type::null, "null");
        case dom::element_type::DOUBLE:
            return false;  // its digits are gone
    }
    return false;
}

}  // namespace

struct JsonTree::Parser {
    /// False when the text is no plain JSON.
    bool parse(std::string_view text, dom::element& root) {
        if (parser.capacity() < text.size())
            if (parser.allocate(std::bit_ceil(text.size()), deepest_text)) throw std::bad_alloc();
        return parser.parse(text.data(), text.size(), false).get(root) == simdjson::SUCCESS;
    }

    dom::parser parser{longest_text};
};

JsonTree::JsonTree() : parser_(std::make_unique<Parser>()) {}
JsonTree::~JsonTree() = default;
JsonTree::JsonTree(JsonTree&&) noexcept = default;
JsonTree& JsonTree::operator=(JsonTree&&) noexcept = default;

bool JsonTree::read(std::string_view text, const WantedPart& wanted, JsonPart& part) {
    if (text.size() > longest_text || has_surrogates(text)) return false;
    dom::element root;
    return parser_->parse(text, root) && take(root, wanted, part);
}

}  // namespace epilogue
