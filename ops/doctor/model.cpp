#include "ops/doctor/model.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/io/http.h"
#include "worker/sources/llm_section.h"
#include "worker/sources/summary_section.h"

namespace epilogue::doctor {
namespace {

constexpr std::chrono::seconds answered_within{4};

ModelVisit ask(const std::string& name, const LlmModel& model) {
    HttpRequest request;
    request.url = model.base_url + "/models";
    if (!model.api_key.empty()) request.headers = {"Authorization: Bearer " + model.api_key.reveal()};
    request.timeout = answered_within;
    const HttpAnswer answer = HttpClient().send(request);
    ModelVisit visit{name, model.model, "", answer.status};
    if (answer.outcome != HttpOutcome::answered) visit.cause = answer.cause;
    visit.is_listed = answer.body.find('"' + model.model + '"') != std::string::npos;
    return visit;
}

}  // namespace

Findings visit_model(const Config& config) {
    const auto& summary = config.extensions.get<SummarySection>();
    const auto& models = config.extensions.get<LlmSection>().models;
    const auto model = models.find(summary.llm);
    if (std::ranges::find(summary.sources, "llm") == summary.sources.end() || model == models.end())
        return {};
    return {judge_model(ask(model->first, model->second))};
}

Finding judge_model(const ModelVisit& visit) {
    constexpr const char* summary = "summary";
    constexpr const char* check = "model";
    const std::string section = fmt::format("[llm.{}]", visit.name);
    if (!visit.cause.empty())
        return {Severity::warning, summary, check, section + " cannot be reached: " + visit.cause,
                "check base_url, and the network between here and there"};
    if (visit.status == 401 || visit.status == 403)
        return {Severity::warning, summary, check, section + " refuses the key: the next source is taken",
                "set its api_key"};
    if (visit.status != 200)
        return {Severity::warning, summary, check,
                fmt::format("{} answers {} to who asks for its models", section, visit.status),
                "check base_url: the API's paths, such as /chat/completions, are below it"};
    if (!visit.is_listed)
        return {Severity::warning, summary, check, section + " lists no model " + visit.model,
                "check model, unless the API lists only some of them"};
    return {Severity::ok, summary, check, section + " answers and has " + visit.model, ""};
}

}  // namespace epilogue::doctor
