#include "worker/observe/process_metrics.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace epilogue {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily family(const char* name, const char* help, MetricType type, double value) {
    prometheus::ClientMetric metric;
    (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
    return {name, help, type, {metric}};
}

/// Fields of /proc/self/stat from the third on, which follow the program's name in brackets.
std::vector<std::string> stat_fields() {
    std::ifstream file("/proc/self/stat");
    std::string line;
    std::getline(file, line);
    std::istringstream rest(line.substr(std::min(line.rfind(')') + 1, line.size())));
    std::vector<std::string> fields;
    for (std::string field; rest >> field;) fields.push_back(field);
    return fields;
}

double number(const std::string& text) {
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// When the machine was started, in seconds since 1970.
std::optional<double> boot_time() {
    std::ifstream file("/proc/stat");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("btime ")) return number(line.substr(6));
    return std::nullopt;
}

std::optional<double> open_files() {
    std::error_code fault;
    double count = 0;
    for (auto entry = std::filesystem::directory_iterator("/proc/self/fd", fault);
         !fault && entry != std::filesystem::directory_iterator(); entry.increment(fault))
        ++count;
    if (fault) return std::nullopt;
    return count - 1;  // the one that reads the folder
}

}  // namespace

std::vector<MetricFamily> process_metrics() {
    std::vector<MetricFamily> metrics;
    const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    // proc(5) counts from 1 and the first two fields are gone: utime is (14), rss (24).
    constexpr std::size_t utime = 11;
    constexpr std::size_t stime = 12;
    constexpr std::size_t threads = 17;
    constexpr std::size_t start = 19;
    constexpr std::size_t virtual_size = 20;
    constexpr std::size_t resident_pages = 21;
    const auto fields = stat_fields();
    if (fields.size() > resident_pages) {
        const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
        metrics = {family("process_cpu_seconds_total", "CPU time, user and system", MetricType::Counter,
                          (number(fields[utime]) + number(fields[stime])) / ticks),
                   family("process_resident_memory_bytes", "Memory in RAM", MetricType::Gauge,
                          number(fields[resident_pages]) * page),
                   family("process_virtual_memory_bytes", "Address space", MetricType::Gauge,
                          number(fields[virtual_size])),
                   family("process_threads", "Threads", MetricType::Gauge, number(fields[threads]))};
        if (const auto boot = boot_time())
            metrics.push_back(family("process_start_time_seconds", "Start, in seconds since 1970",
                                     MetricType::Gauge, *boot + number(fields[start]) / ticks));
    }
    if (const auto files = open_files())
        metrics.push_back(family("process_open_fds", "Open file descriptors", MetricType::Gauge, *files));
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        metrics.push_back(family("process_max_fds", "Most file descriptors that may be open",
                                 MetricType::Gauge, static_cast<double>(limit.rlim_cur)));
    return metrics;
}

}  // namespace epilogue
