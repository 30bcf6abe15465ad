// epilogue-chaos: breaks real processes in every way, and judges what is left.
#include <exception>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tests/chaos/chaos_run.h"

int main(int argc, char** argv) {
    CLI::App app("Real workers, servers and kills, drawn from a seed; judged by what the platform shows.");
    epilogue::testing::ChaosPlan plan;
    int minutes = 0;
    std::string logs;
    app.add_option("--seed", plan.seed, "what is told and done");
    app.add_option("--conversations", plan.conversations, "how many are told");
    app.add_option("--minutes", minutes, "how long things break; 0: until each has broken often enough");
    app.add_option("--logs", logs, "an existing folder for the workers' logs");
    CLI11_PARSE(app, argc, argv);
    plan.minutes = std::chrono::minutes(minutes);
    plan.logs = logs;
    try {
        return epilogue::testing::run_chaos(plan) ? 0 : 1;
    } catch (const std::exception& error) {
        fmt::print("the run itself failed: {}\n", error.what());
        return 1;
    }
}
