#include "tests/support/prometheus_text.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace epilogue::testing {

Metrics parse_metrics(std::string_view text) {
    Metrics metrics;
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line.front() == '#') continue;
        // A label's value may hold spaces; behind the labels there is only the number.
        const auto labels_end = line.rfind('}');
        const auto name_end = labels_end == std::string::npos ? line.find(' ') : labels_end + 1;
        if (name_end >= line.size() || line[name_end] != ' ') throw std::runtime_error("no metric: " + line);
        const std::string value = line.substr(name_end + 1);
        char* rest = nullptr;
        const double number = std::strtod(value.c_str(), &rest);
        if (rest == value.c_str()) throw std::runtime_error("no metric: " + line);
        metrics[line.substr(0, name_end)] = number;
    }
    return metrics;
}

double total(const Metrics& metrics, const std::string& name, const std::vector<std::string>& labels) {
    double sum = 0;
    for (const auto& [series, value] : metrics) {
        if (series.substr(0, series.find('{')) != name) continue;
        const bool wanted = std::ranges::all_of(labels, [&](const std::string& label) {
            const auto at = series.find(label);
            // From its first letter on: state="SENT" is not in old_state="SENT".
            return at != std::string::npos && (series[at - 1] == '{' || series[at - 1] == ',');
        });
        if (wanted) sum += value;
    }
    return sum;
}

}  // namespace epilogue::testing
