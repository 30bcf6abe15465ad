#include "tests/support/golden.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

namespace epilogue {
namespace {

std::string first_difference(const std::string& expected, const std::string& actual) {
    std::istringstream expected_lines(expected);
    std::istringstream actual_lines(actual);
    for (std::size_t number = 1;; ++number) {
        std::string wanted;
        std::string got;
        const bool more_wanted = static_cast<bool>(std::getline(expected_lines, wanted));
        const bool more_got = static_cast<bool>(std::getline(actual_lines, got));
        if (!more_wanted && !more_got) return "they differ in their last line's end";
        if (more_wanted && more_got && wanted == got) continue;
        return "line " + std::to_string(number) + "\n  file:    " + (more_wanted ? wanted : "(end)") +
               "\n  printed: " + (more_got ? got : "(end)");
    }
}

}  // namespace

std::string difference_from_golden(const std::string& name, const std::string& text) {
    return difference_from_file("tests/golden/" + name + ".txt", text);
}

std::string difference_from_file(const std::string& path_in_tree, const std::string& text) {
    const std::string path = std::string(EPILOGUE_SOURCE_DIR) + "/" + path_in_tree;
    if (std::getenv("EPILOGUE_UPDATE_GOLDEN") != nullptr) {
        std::ofstream file(path, std::ios::binary | std::ios::trunc);
        file << text;
        file.close();
        return file ? "" : "cannot write " + path;
    }
    std::ifstream file(path, std::ios::binary);
    if (!file) return "cannot read " + path;
    const std::string expected{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    return expected == text ? "" : path_in_tree + ", " + first_difference(expected, text);
}

}  // namespace epilogue
