#include "tests/agent/client_page.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>

#include "agent/features.h"
#include "tests/support/golden.h"

namespace epilogue::testing {
namespace {

constexpr const char* page_in_tree = "docs/agent-client.md";
const std::string part_begins = "\n## ";

/// The newest version last.
struct ByVersion {
    bool operator()(const std::string& a, const std::string& b) const {
        const auto version = [](const std::string& heading) {
            return agent::parse_version(heading.substr(heading.rfind(' ') + 1)).value_or(agent::Version{});
        };
        return version(a) < version(b);
    }
};

struct Page {
    std::string introduction;
    std::map<std::string, std::string, ByVersion> parts;  ///< by their headings

    std::string text() const {
        std::string all = introduction;
        for (const auto& [heading, part] : parts) all += "\n" + heading + "\n" + part;
        return all;
    }
};

Page read_page() {
    std::ifstream file(std::string(EPILOGUE_SOURCE_DIR) + "/" + page_in_tree, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    Page page;
    std::size_t end = std::min(text.find(part_begins), text.size());
    page.introduction = text.substr(0, end);
    while (end < text.size()) {
        const std::size_t begin = end + 1;
        end = std::min(text.find(part_begins, begin), text.size());
        const std::size_t line = text.find('\n', begin);
        page.parts[text.substr(begin, line - begin)] = text.substr(line + 1, end - line - 1);
    }
    return page;
}

std::string without_figures(const std::string& text) {
    static const std::regex figure(R"(-?[0-9.]+( ms| s| times))");
    return std::regex_replace(text, figure, "…$1");
}

std::string first_difference(const std::string& expected, const std::string& actual) {
    std::istringstream expected_lines(without_figures(expected));
    std::istringstream actual_lines(without_figures(actual));
    for (std::string wanted, got; expected_lines || actual_lines; wanted.clear(), got.clear()) {
        std::getline(expected_lines, wanted);
        std::getline(actual_lines, got);
        if (wanted != got)
            return std::string(page_in_tree) + "\n  file:    " + wanted + "\n  printed: " + got;
    }
    return "";
}

}  // namespace

std::string difference_from_page(const std::string& introduction, const std::string& heading,
                                 const std::string& part) {
    Page page = read_page();
    if (std::getenv("EPILOGUE_UPDATE_GOLDEN") != nullptr) {
        page.introduction = introduction;
        page.parts[heading] = part;
        return difference_from_file(page_in_tree, page.text());
    }
    if (auto difference = first_difference(page.introduction, introduction); !difference.empty())
        return difference;
    return first_difference(page.parts[heading], part);
}

}  // namespace epilogue::testing
