#include "ops/cli/output.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace epilogue::cli {
namespace {

constexpr std::size_t widest_cell = 60;

}  // namespace

std::string shown(const std::optional<std::string>& value) {
    std::string text = value.value_or("");
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; },
        ' ');
    return text;
}

void print_list(const std::vector<Column>& columns, const std::vector<SqlRow>& rows, bool json) {
    if (json) {
        fmt::print("{}\n", array_json(columns, rows));
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
        fmt::print("{}\n", object_json(columns, row));
        return;
    }
    for (std::size_t i = 0; i < columns.size(); ++i)
        fmt::print("{}: {}\n", columns[i].name, shown(row.at(i)));
}

}  // namespace epilogue::cli
