#include "schemas/json_reader.h"

#include <new>
#include <utility>

#include <simdjson.h>

#include "schemas/json_tokens.h"
#include "schemas/json_tree.h"

namespace epilogue {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::string_view json_white_space = " \t\n\r";
/// Buffers that a document of more than this has made are given back after it.
constexpr std::size_t kept_buffer_bytes = std::size_t{2} << 20U;

std::string_view without_trailing_space(std::string_view text) {
    return text.substr(0, text.find_last_not_of(json_white_space) + 1);
}

/// One walk over one document, for what JsonTree leaves to it. On-Demand stops looking after the last field
/// that was asked for, takes the first of duplicate keys and never looks into a token that is not read: so
/// each value is visited, each token is checked here, and what follows the document is looked at last.
class Walk {
  public:
    explicit Walk(std::string_view text) : text_(text) {}

    /// Fills `part` from the document; false when `fault` says why not.
    bool document(ondemand::document& document, const WantedPart& wanted, JsonPart& part) {
        const std::size_t first = text_.find_first_not_of(json_white_space);
        const std::string_view body = without_trailing_space(text_.substr(first));
        at_ = first;
        if (body.front() != '{' && body.front() != '[') return scalar(body, &part);
        ondemand::value root;
        if (const auto error = document.get_value().get(root)) return broken(error);
        if (!value(root, &wanted, &part, 1)) return false;
        if (document.current_location().error() != simdjson::OUT_OF_BOUNDS)
            return fail("not_json", "something follows the document");
        return true;
    }

    JsonFault fault() && { return std::move(fault_); }

  private:
    /// `wanted` and `part` are null inside what is checked only.
    bool value(ondemand::value& value, const WantedPart* wanted, JsonPart* part, std::size_t depth) {
        const std::string_view token = without_trailing_space(value.raw_json_token());
        if (token.empty()) return fail("not_json", "a value is missing");
        at_ = static_cast<std::size_t>(token.data() - text_.data());
        const bool is_object = token.front() == '{';
        if (!is_object && token.front() != '[') {
            // A string that is not consumed is taken for a key when a colon follows, and the walk goes
            // astray.
            if (token.front() == '"')
                if (const auto error = value.get_raw_json_string().error()) return broken(error);
            return scalar(token, part);
        }
        if (depth > max_json_depth)
            return fail("too_deep", "more than " + std::to_string(max_json_depth) + " levels");
        if (part) part->type = is_object ? JsonPart::Type::object : JsonPart::Type::array;
        return is_object ? members(value, wanted, part, depth) : elements(value, wanted, part, depth);
    }

    bool members(ondemand::value& value, const WantedPart* wanted, JsonPart* part, std::size_t depth) {
        ondemand::object object;
        if (const auto error = value.get_object().get(object)) return broken(error);
        for (auto next : object) {
            ondemand::field field;
            if (const auto error = std::move(next).get(field)) return broken(error);
            // raw() stands behind the opening quote.
            at_ = static_cast<std::size_t>(field.key().raw() - text_.data()) - 1;
            const std::size_t length = string_token_length(text_.substr(at_));
            if (length == 0) return fail("not_json", "the key has an unknown escape");
            const std::string key = wanted ? key_in(text_.substr(at_, length)) : std::string();
            const WantedPart* const member = wanted ? wanted->find(key) : nullptr;
            ondemand::value child = field.value();
            if (!this->value(child, member, member && part ? part->keep(*member, key) : nullptr, depth + 1))
                return false;
        }
        return true;
    }

    bool elements(ondemand::value& value, const WantedPart* wanted, JsonPart* part, std::size_t depth) {
        ondemand::array array;
        if (const auto error = value.get_array().get(array)) return broken(error);
        const bool keeps = wanted && part && !wanted->members.empty();
        for (auto next : array) {
            ondemand::value child;
            if (const auto error = std::move(next).get(child)) return broken(error);
            const bool kept = keeps && part->parts.size() < max_kept_elements;
            if (!this->value(child, kept ? wanted : nullptr, kept ? &part->parts.emplace_back() : nullptr,
                             depth + 1))
                return false;
        }
        return true;
    }

    /// Checks the token to its end. What is no string On-Demand skips by itself when it goes on.
    bool scalar(std::string_view token, JsonPart* part) {
        using Type = JsonPart::Type;
        Type type = Type::number;
        if (token.front() == '"') {
            if (string_token_length(token) != token.size())
                return fail("not_json", "the string is malformed");
            type = Type::string;
        } else if (token == "true" || token == "false") {
            type = Type::boolean;
        } else if (token == "null") {
            type = Type::null;
        } else if (!is_number_token(token)) {
            return fail("not_json", "a value was expected");
        }
        if (!part) return true;
        part->type = type;
        part->text = type == Type::string ? unescaped(token.substr(1, token.size() - 2)) : std::string(token);
        return true;
    }

    static std::string key_in(std::string_view quoted_key) {
        const std::string_view key = quoted_key.substr(1, quoted_key.size() - 2);
        return key.find('\\') == std::string_view::npos ? std::string(key) : unescaped(key);
    }

    bool broken(simdjson::error_code error) { return fail("not_json", simdjson::error_message(error)); }

    bool fail(std::string_view reason, std::string_view what) {
        fault_ = {reason, std::string(what) + " (at byte " + std::to_string(at_) + " or next to it)"};
        return false;
    }

    std::string_view text_;
    std::size_t at_ = 0;  ///< where the token last looked at starts
    JsonFault fault_;
};

/// The fault that simdjson's first stage found, with the place that it does not tell.
JsonFault first_stage_fault(simdjson::error_code error, std::string_view text) {
    const auto at = [](std::size_t place) { return " (at byte " + std::to_string(place) + ")"; };
    switch (error) {
        case simdjson::EMPTY:
            return {"not_json", "nothing but white space"};
        case simdjson::UTF8_ERROR:
            return {"not_json", "not UTF-8" + at(utf8_fault(text))};
        case simdjson::UNESCAPED_CHARS:
            return {"not_json", "control character inside a string" + at(control_character_fault(text))};
        case simdjson::UNCLOSED_STRING:
            return {"not_json", "a string has no end" + at(text.size())};
        default:
            return {"not_json", simdjson::error_message(error)};
    }
}

}  // namespace

struct JsonReader::Buffers {
    ondemand::parser parser;
    JsonTree tree;
    std::string padded;

    /// The text, with room behind it for simdjson to read over its end.
    std::string_view pad(std::string_view text) {
        padded.assign(text);
        padded.append(simdjson::SIMDJSON_PADDING, '\0');
        return {padded.data(), text.size()};
    }

    /// `text` is what pad() gave.
    simdjson::error_code open(std::string_view text, ondemand::document& document) {
        // simdjson counts a level for each value too; its own limit must never be the one that is met.
        if (parser.capacity() < text.size())
            if (parser.allocate(text.size(), 2 * max_json_depth)) throw std::bad_alloc();
        return parser.iterate(text.data(), text.size(), padded.size()).get(document);
    }
};

JsonReader::JsonReader() : buffers_(std::make_unique<Buffers>()) {}
JsonReader::~JsonReader() = default;
JsonReader::JsonReader(JsonReader&&) noexcept = default;
JsonReader& JsonReader::operator=(JsonReader&&) noexcept = default;

tl::expected<JsonPart, JsonFault> JsonReader::read(std::string_view text, const WantedPart& wanted) {
    if (text.empty()) return tl::unexpected(JsonFault{"empty", "no bytes at all"});
    if (text.size() > max_json_bytes)
        return tl::unexpected(JsonFault{"too_large", std::to_string(text.size()) + " bytes"});
    if (buffers_->padded.size() > kept_buffer_bytes) *buffers_ = Buffers();

    JsonPart part;
    const std::string_view copy = buffers_->pad(text);
    if (buffers_->tree.read(copy, wanted, part)) return part;
    part = JsonPart();
    ondemand::document document;
    if (const auto error = buffers_->open(copy, document))
        return tl::unexpected(first_stage_fault(error, copy));
    Walk walk(copy);
    if (!walk.document(document, wanted, part)) return tl::unexpected(std::move(walk).fault());
    return part;
}

std::string JsonReader::raw_member(std::string_view object, std::string_view name) {
    ondemand::document document;
    std::string raw;
    if (buffers_->open(buffers_->pad(object), document)) return raw;
    for (auto field : document.get_object()) {
        const bool is_wanted = field.unescaped_key().value() == name;
        ondemand::value value = field.value();
        const auto type = value.type().value();
        std::string_view text;
        if (type == ondemand::json_type::object)
            text = value.get_object().value().raw_json().value();
        else if (type == ondemand::json_type::array)
            text = value.get_array().value().raw_json().value();
        else
            text = value.raw_json_token();
        if (is_wanted) raw = without_trailing_space(text);
    }
    return raw;
}

}  // namespace epilogue
