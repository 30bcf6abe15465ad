#include "ops/doctor/doctor.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "ops/cli/command.h"
#include "ops/cli/output.h"

namespace epilogue::cli {
namespace {

using Json = nlohmann::ordered_json;
using doctor::Diagnosis;
using doctor::Severity;

void print_json(const Diagnosis& diagnosis) {
    Json document{{"findings", Json::array()}, {"guarantees", Json::array()}};
    for (const auto& finding : diagnosis.findings)
        document["findings"].push_back({{"severity", doctor::name_of(finding.severity)},
                                        {"component", finding.component},
                                        {"check", finding.check},
                                        {"text", finding.text},
                                        {"remedy", finding.remedy}});
    for (const auto& guarantee : diagnosis.guarantees)
        document["guarantees"].push_back({{"sink", guarantee.sink},
                                          {"promise", doctor::name_of(guarantee.promise)},
                                          {"why", guarantee.why}});
    fmt::print("{}\n", json_indented(document));
}

void print_text(const Diagnosis& diagnosis) {
    for (const auto& finding : diagnosis.findings) {
        fmt::print("{:<11}  {:<8}  {}: {}\n", doctor::name_of(finding.severity), finding.component,
                   finding.check, shown(finding.text));
        if (!finding.remedy.empty())
            fmt::print("{:<11}  {:<8}  to mend it: {}\n", "", "", shown(finding.remedy));
    }
    fmt::print("\nWhat is promised of each post:\n");
    for (const auto& guarantee : diagnosis.guarantees)
        fmt::print("{:<8}  {:<13}  {}\n", guarantee.sink, doctor::name_of(guarantee.promise),
                   shown(guarantee.why));
}

}  // namespace

void add_doctor(CLI::App& program) {
    auto* command = program.add_subcommand(
        "doctor",
        "Ask every dependency whether all is well, and say how to mend what is not; writes nothing");
    auto common = std::make_shared<Common>();
    add_common(*command, *common, true);
    command->callback([common] {
        const Config config = load(*common);
        const Diagnosis diagnosis = doctor::examine(config);
        if (common->json)
            print_json(diagnosis);
        else
            print_text(diagnosis);
        switch (doctor::worst_of(diagnosis.findings)) {
            case Severity::ok:
            case Severity::warning:
                return;
            case Severity::error:
                throw Exit{failed, ""};
            case Severity::unreachable:
                throw Exit{unavailable, ""};
        }
    });
}

}  // namespace epilogue::cli
