#include "tests/support/demo_process.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <stdexcept>
#include <utility>

namespace epilogue::testing {
namespace {

std::string content_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

DemoProcess::DemoProcess(const std::vector<std::string>& args,
                         std::map<std::string, std::optional<std::string>> environment)
    : process_(command(args, std::move(environment))) {}

int DemoProcess::ended(std::chrono::milliseconds deadline) {
    const auto status = process_.wait(deadline);
    if (!status) throw std::runtime_error("the demo did not end in time: " + out());
    return *status;
}

std::vector<std::string> DemoProcess::left_behind() const {
    std::vector<std::string> left;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
        left.push_back(entry.path().string());
    const std::string folder = folder_.path().string();
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        // A process that ends meanwhile has neither.
        const std::string line = content_of(entry.path() / "cmdline");
        if (line.find(folder) == std::string::npos &&
            content_of(entry.path() / "environ").find(folder) == std::string::npos)
            continue;
        left.push_back(entry.path().filename().string() + " " + line);
    }
    return left;
}

Command DemoProcess::command(const std::vector<std::string>& args,
                             std::map<std::string, std::optional<std::string>> environment) const {
    Command command{.argv = args, .environment = std::move(environment)};
    command.environment["TMPDIR"] = folder_.path();
    return command;
}

std::vector<std::string> demo_command(const std::vector<std::string>& options) {
    std::vector<std::string> args{EPILOGUE_BINARY_DIR "/bin/epilogue", "demo"};
    args.insert(args.end(), options.begin(), options.end());
    return args;
}

DemoTable demo_table(const std::string& out) {
    std::smatch found;
    const std::regex row("lost\\s+(\\d+) +(\\d+) +(\\d+) +(\\d+) +(\\d+)\\s");
    if (!std::regex_search(out, found, row)) throw std::runtime_error("no table: " + out);
    return {std::stoi(found[1]), std::stoi(found[2]), std::stoi(found[3]), std::stoi(found[4]),
            std::stoi(found[5])};
}

}  // namespace epilogue::testing
