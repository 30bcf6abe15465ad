#include "tests/agent/sdk_client.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/agent/scripted_conversation.h"
#include "tests/support/eventually.h"

namespace epilogue::testing {

using Json = nlohmann::json;
using namespace std::chrono_literals;

SdkClient::SdkClient(const RealServer& home, Json rows) {
    for (Json& row : rows)
        for (const char* const file : {"between", "go_on"})
            if (row.contains(file)) row[file] = file_of(row.at("name"));
    process_ =
        std::make_unique<Process>(Command{{home.environment() / "bin" / "python",
                                           EPILOGUE_SOURCE_DIR "/tests/agent/python_client.py", rows.dump()},
                                          {{"LITELLM_LOCAL_MODEL_COST_MAP", "True"},
                                           {"OPENHANDS_SUPPRESS_BANNER", "1"},
                                           {"OTEL_SDK_DISABLED", "true"}}});
}

void SdkClient::wait_ready() {
    eventually("the SDK's client", run_patience, [&] { return line_with("ready"); });
}

void SdkClient::wait_between(const std::string& row) {
    eventually("the first run of the SDK's client: " + row, run_patience,
               [&] { return line_with(row) || result_of(row); });
}

void SdkClient::go_on(const std::string& row) const {
    std::ofstream(file_of(row)) << "go on";
}

SystemTime SdkClient::turn(const std::string& row, int number) {
    std::ofstream(file_of(row) + std::to_string(number)) << "go on";
    const std::string beginning = row + " " + std::to_string(number) + " ";
    const auto line = *eventually("a turn of the SDK's client", run_patience, [&] {
        if (const auto result = result_of(row); result && result->contains("failed"))
            throw std::runtime_error("the SDK's client: " + result->dump());
        return line_with(beginning);
    });
    const std::chrono::duration<double> since_epoch(std::stod(line.substr(beginning.size())));
    return SystemTime(std::chrono::duration_cast<SystemTime::duration>(since_epoch));
}

Json SdkClient::wait_result(const std::string& row) {
    return *eventually("the end of the SDK's client: " + row, run_patience, [&] { return result_of(row); });
}

/// The first line that begins so. Throws when the process died.
std::optional<std::string> SdkClient::line_with(const std::string& beginning) {
    const std::lock_guard lock(mutex_);
    const bool is_over = !process_->running();
    std::istringstream out(process_->out());
    for (std::string line; std::getline(out, line);)
        if (line.starts_with(beginning)) return line;
    if (is_over && process_->wait(0ms) != 0) throw std::runtime_error("the SDK's client: " + process_->err());
    return std::nullopt;
}

std::optional<Json> SdkClient::result_of(const std::string& row) {
    const auto line = line_with(R"({"name": ")" + row + "\"");
    if (!line) return std::nullopt;
    return Json::parse(*line);
}

}  // namespace epilogue::testing
