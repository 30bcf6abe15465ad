#include "ops/cli/output.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/instant.h"
#include "base/text.h"

namespace epilogue::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t widest_cell = 60;

Json json_of(const Column& column, const std::optional<std::string>& value) {
    if (!value) return nullptr;
    switch (column.kind) {
        case Kind::number:
            return std::stoll(*value);
        case Kind::time: {
            const auto at = parse_instant(*value);
            return at ? Json(to_iso(*at)) : Json(*value);
        }
        case Kind::json: {
            const Json nested = Json::parse(*value, nullptr, false);
            return nested.is_discarded() ? Json(*value) : nested;
        }
        case Kind::blob:
        case Kind::text:
            break;
    }
    return *value;
}

Json object_of(const std::vector<Column>& columns, const SqlRow& row) {
    Json object = Json::object();
    for (std::size_t i = 0; i < columns.size(); ++i) object[columns[i].name] = json_of(columns[i], row.at(i));
    return object;
}

void print(const Json& document) {
    fmt::print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
}

/// What may stand in a terminal: no control characters, one line.
std::string shown(const std::optional<std::string>& value) {
    std::string text = value.value_or("");
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; },
        ' ');
    return text;
}

}  // namespace

void print_list(const std::vector<Column>& columns, const std::vector<SqlRow>& rows, bool json) {
    if (json) {
        Json array = Json::array();
        for (const SqlRow& row : rows) array.push_back(object_of(columns, row));
        print(array);
        return;
    }
    std::vector<std::size_t> widths;
    for (const Column& column : columns) widths.push_back(column.name.size());
    std::vector<std::vector<std::string>> cells;
    for (const SqlRow& row : rows) {
        auto& line = cells.emplace_back();
        for (std::size_t i = 0; i < columns.size(); ++i) {
            line.emplace_back(prefix_of(shown(row.at(i)), widest_cell));
            widths[i] = std::max(widths[i], code_points(line.back()));
        }
    }
    for (std::size_t i = 0; i < columns.size(); ++i) fmt::print("{:<{}}  ", columns[i].name, widths[i]);
    fmt::print("\n");
    for (const auto& line : cells) {
        for (std::size_t i = 0; i < line.size(); ++i)
            fmt::print("{}{}  ", line[i], std::string(widths[i] - code_points(line[i]), ' '));
        fmt::print("\n");
    }
}

void print_one(const std::vector<Column>& columns, const SqlRow& row, bool json) {
    if (json) {
        print(object_of(columns, row));
        return;
    }
    for (std::size_t i = 0; i < columns.size(); ++i)
        fmt::print("{}: {}\n", columns[i].name, shown(row.at(i)));
}

}  // namespace epilogue::cli
