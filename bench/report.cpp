#include "bench/report.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/text.h"

namespace epilogue::bench {
namespace {

/// What stands behind `key` and a colon in a file of lines; "unknown" when there is no such line.
std::string line_of(const char* file, const std::string& key) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(key)) return std::string(trimmed(line.substr(line.find(':') + 1)));
    return "unknown";
}

/// A cell of a Markdown table.
std::string cell(const std::string& text) {
    std::string safe;
    for (const char letter : text) safe += letter == '|' ? std::string("\\|") : std::string(1, letter);
    return safe;
}

}  // namespace

std::string this_machine() {
    constexpr std::size_t kb_per_gb = 1024 * 1024;
    double load = 0;
    if (getloadavg(&load, 1) != 1) load = 0;
    utsname kernel{};
    uname(&kernel);
    return fmt::format("{} cores ({}), {} GB of memory, Linux {}, load at the beginning {:.1f}",
                       sysconf(_SC_NPROCESSORS_ONLN), line_of("/proc/cpuinfo", "model name"),
                       std::stoull("0" + line_of("/proc/meminfo", "MemTotal")) / kb_per_gb, kernel.release,
                       load);
}

void Report::begin(const std::string& title, const std::string& about) {
    sections_.push_back({title, about, {}});
    fmt::print("\n{}: {}\n", title, about);
    std::fflush(stdout);
}

void Report::add(const Figure& figure) {
    sections_.back().figures.push_back(figure);
    fmt::print("{:<56} {:>9}  {:<10} {}\n", figure.name, figure.value, figure.goal, figure.raw);
    std::fflush(stdout);
}

std::string Report::page(const std::string& command, const std::string& machine) const {
    std::string page = fmt::format(
        "# Figures\n\nMade by `{}`; nothing here is written by hand.\nMachine: {}.\n\n"
        "Ratios are of one run: what is compared took its turn on the same machine and the same log, round "
        "by round, "
        "each alone on one core unless a line says otherwise. Raw figures stand beside them.\n",
        command, machine);
    for (const Section& section : sections_) {
        page += fmt::format("\n## {}\n\n{}\n\n| figure | value | goal | raw |\n| --- | --- | --- | --- |\n",
                            section.title, section.about);
        for (const Figure& figure : section.figures)
            page += fmt::format("| {} | {} | {} | {} |\n", cell(figure.name), cell(figure.value),
                                cell(figure.goal), cell(figure.raw));
    }
    return page;
}

}  // namespace epilogue::bench
