#include "schemas/json_writer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace epilogue {
namespace {

bool needs_escape(char c) {
    return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
}

std::string escaped(char c) {
    switch (c) {
        case '"':
            return "\\\"";
        case '\\':
            return "\\\\";
        case '\b':
            return "\\b";
        case '\f':
            return "\\f";
        case '\n':
            return "\\n";
        case '\r':
            return "\\r";
        case '\t':
            return "\\t";
        default:
            return fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    }
}

}  // namespace

/// A comma, unless nothing stands before it on its level.
void JsonWriter::separate() {
    if (!text_.empty() && text_.back() != '{' && text_.back() != '[' && text_.back() != ':') text_ += ',';
}

void JsonWriter::open(char bracket) {
    separate();
    text_ += bracket;
}

void JsonWriter::quote(std::string_view text) {
    text_ += '"';
    for (;;) {
        const auto stop = std::find_if(text.begin(), text.end(), needs_escape);
        text_.append(text.begin(), stop);
        if (stop == text.end()) break;
        text_ += escaped(*stop);
        text.remove_prefix(static_cast<std::size_t>(stop - text.begin()) + 1);
    }
    text_ += '"';
}

void JsonWriter::name(std::string_view name) {
    separate();
    quote(name);
    text_ += ':';
}

void JsonWriter::text(std::string_view value) {
    separate();
    quote(value);
}

void JsonWriter::number(std::int64_t value) {
    separate();
    text_ += fmt::format_int(value).c_str();
}

void JsonWriter::flag(bool value) {
    separate();
    text_ += value ? "true" : "false";
}

void JsonWriter::null() {
    separate();
    text_ += "null";
}

void JsonWriter::text(std::string_view name, std::string_view value) {
    this->name(name);
    text(value);
}

void JsonWriter::number(std::string_view name, std::int64_t value) {
    this->name(name);
    number(value);
}

void JsonWriter::flag(std::string_view name, bool value) {
    this->name(name);
    flag(value);
}

std::string JsonWriter::take() {
    return std::exchange(text_, {});
}

}  // namespace epilogue
