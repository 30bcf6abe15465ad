#include "ops/importer/import_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/text.h"

namespace epilogue {
namespace {

using Json = nlohmann::ordered_json;

/// In one line and without control characters: these texts are others'.
std::string harmless(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
    return text;
}

std::string lines_about_unreadable(const ImportReport& report) {
    std::string text;
    for (const UnreadableRow& row : report.unreadable)
        text += fmt::format("cannot be read: {} {} (conversation {}): {}\n", name_of(row.generation),
                            harmless(row.id), harmless(row.conversation_id), harmless(row.reason));
    return text;
}

std::string lines_about_keys(const ImportReport& report) {
    std::string text;
    for (const auto& [cloud_id, rows] : report.keys_left_out)
        text += fmt::format(
            "not taken over: the API key in {} row(s) of Jira's: set [jira{}] api_url, email and token, "
            "or their posts wait for it\n",
            rows, cloud_id.empty() ? "" : ".sites.\"" + harmless(cloud_id) + "\"");
    return text;
}

}  // namespace

std::string to_json(const ImportReport& report, const std::string& source, bool dry_run) {
    Json json{{"source", source},
              {"dry_run", dry_run},
              {"rows", report.rows},
              {"imported", report.imported},
              {"unchanged", report.unchanged},
              {"left",
               {{"not_active", report.not_active},
                {"posted_already", report.posted_already},
                {"tells_nobody", report.tells_nobody},
                {"said_before", report.passed_before}}},
              {"changed", Json::array()},
              {"unreadable", Json::array()},
              {"keys_left_out", Json::array()}};
    for (const ChangedRow& row : report.changed)
        json["changed"].push_back({{"generation", name_of(row.generation)},
                                   {"id", row.id},
                                   {"callback_id", row.callback_id.value},
                                   {"outcome", name_of(row.outcome)}});
    for (const UnreadableRow& row : report.unreadable)
        json["unreadable"].push_back({{"generation", name_of(row.generation)},
                                      {"id", row.id},
                                      {"conversation_id", row.conversation_id},
                                      {"reason", row.reason}});
    for (const auto& [cloud_id, rows] : report.keys_left_out)
        json["keys_left_out"].push_back({{"jira_cloud_id", cloud_id}, {"rows", rows}});
    return json_line(json);
}

std::string for_people(const ImportReport& report, bool dry_run) {
    std::string text = lines_about_unreadable(report) + lines_about_keys(report);
    for (const ChangedRow& row : report.changed)
        text += fmt::format("changed: {} {} (callback {}): {}\n", name_of(row.generation), harmless(row.id),
                            row.callback_id.value, sentence_of(row.outcome));
    return text + fmt::format(
                      "{} rows: {} imported, {} imported before, {} changed since, {} left ({} not "
                      "ACTIVE, {} posted already, {} tell nobody), {} cannot be read{}\n",
                      report.rows, report.imported, report.unchanged, report.changed.size(),
                      report.not_active + report.posted_already + report.tells_nobody + report.passed_before,
                      report.not_active, report.posted_already, report.tells_nobody, report.unreadable.size(),
                      dry_run ? "; --dry-run: nothing was written" : "");
}

}  // namespace epilogue
