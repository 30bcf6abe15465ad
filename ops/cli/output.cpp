#include "ops/cli/output.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/code_point.h"
#include "base/text.h"
#include "ops/cli/command.h"
#include "worker/mysql/columns.h"

namespace epilogue::cli {
namespace {

constexpr std::size_t widest_table = 120;
constexpr std::size_t widest_cell = 60;
constexpr std::size_t widest_id = 36;  ///< a UUID; another's end is not shown
constexpr std::size_t narrowest_cell = 6;
constexpr std::string_view gap = "  ";

/// A cell for a person: a time without fractions of a second.
std::string cell_of(const Column& column, const std::optional<std::string>& value) {
    constexpr std::size_t to_the_second = 19;  // 2026-11-21 09:00:00
    const std::string text = shown(value);
    return column.kind == Kind::time ? text.substr(0, to_the_second) : text;
}

/// At most `width` characters, the last of them "…" when there are more.
std::string truncated(const std::string& text, std::size_t width) {
    if (code_points(text) <= width) return text;
    std::size_t end = 0;
    for (std::size_t i = 0; i + 1 < width; ++i)
        end += first_code_point(std::string_view(text).substr(end)).bytes.size();
    return text.substr(0, end) + "…";
}

/// Makes the widest of the columns that may be cut narrower until the table fits.
void narrow(const std::vector<Column>& columns, std::vector<std::size_t>& widths) {
    std::size_t total = gap.size() * (widths.size() - 1);
    for (const std::size_t width : widths) total += width;
    while (total > widest_table) {
        std::size_t widest = widths.size();
        for (std::size_t i = 0; i < widths.size(); ++i) {
            const bool gives =
                columns[i].shown == Shown::cut && columns[i].kind != Kind::time && widths[i] > narrowest_cell;
            if (gives && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
        }
        if (widest == widths.size()) return;
        --widths[widest];
        --total;
    }
}

void print_line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string cell = truncated(cells[i], widths[i]);
        line += cell;
        if (i + 1 < cells.size()) line.append(widths[i] - code_points(cell), ' ').append(gap);
    }
    fmt::print("{}\n", line);
}

void print_table(const std::vector<Column>& all, const std::vector<SqlRow>& rows) {
    std::vector<Column> columns;
    std::vector<std::string> names;
    std::vector<std::size_t> widths;
    for (const Column& column : all) {
        if (column.shown == Shown::not_in_tables) continue;
        columns.push_back(column);
        names.push_back(column.name);
        widths.push_back(column.name.size());
    }
    std::vector<std::vector<std::string>> lines;
    for (const SqlRow& row : rows) {
        auto& line = lines.emplace_back();
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i].shown == Shown::not_in_tables) continue;
            line.push_back(cell_of(all[i], row.at(i)));
            auto& width = widths[line.size() - 1];
            const std::size_t widest = all[i].shown == Shown::whole ? widest_id : widest_cell;
            width = std::max(width, std::min(code_points(line.back()), widest));
        }
    }
    narrow(columns, widths);
    print_line(names, widths);
    for (const auto& line : lines) print_line(line, widths);
}

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
    print_table(columns, rows);
}

void print_page(const std::vector<Column>& columns, const Page& page, bool json) {
    constexpr std::int64_t most_counted = 10'000;
    auto rows = page.rows(page.limit + 1);
    const bool has_more = std::ssize(rows) > page.limit;
    if (has_more) rows.pop_back();
    print_list(columns, rows, json);
    std::string text = counted(std::ssize(rows), page.noun);
    if (has_more) {
        const std::int64_t up_to = page.limit + most_counted;
        const std::int64_t more = page.count(up_to) - page.limit;
        text += fmt::format("; {}{} more: --after {}", more, more < most_counted ? "" : " or",
                            shown(rows.back().at(page.id)));
    }
    if (!json)
        fmt::print("{}\n", text);
    else if (has_more)
        fmt::print(stderr, "epilogue: {}\n", text);
}

std::int64_t count_rows(MysqlStore& store, const std::string& from, const std::vector<SqlValue>& values,
                        std::int64_t limit) {
    auto all = values;
    all.emplace_back(limit);
    const auto rows =
        expect(store.query("SELECT COUNT(*) FROM (SELECT 1 FROM " + from + " LIMIT ?) AS counted", all));
    return Columns(rows.at(0)).number();
}

std::string counted(std::int64_t count, std::string_view noun) {
    const bool ends_in_y = noun.ends_with('y');
    if (count == 1) return fmt::format("1 {}", noun);
    return fmt::format("{} {}{}", count, ends_in_y ? noun.substr(0, noun.size() - 1) : noun,
                       ends_in_y ? "ies" : "s");
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
