// The document of `epilogue view --json` against its JSON Schema, which programs are written by.
#define BOOST_TEST_MODULE history_json
#include "worker/history/history_json.h"

#include <fstream>
#include <set>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

namespace {

using namespace epilogue;
using Json = nlohmann::json;

const Json& schema() {
    static const Json document = [] {
        std::ifstream file(EPILOGUE_SOURCE_DIR "/schemas/json/conversation_history.json");
        return Json::parse(file);
    }();
    return document;
}

bool has_type(const Json& value, const std::string& type) {
    return (type == "null" && value.is_null()) || (type == "string" && value.is_string()) ||
           (type == "integer" && value.is_number_integer()) || (type == "boolean" && value.is_boolean()) ||
           (type == "array" && value.is_array()) || (type == "object" && value.is_object());
}

std::string faults_of(const Json& value, const Json& rule, const std::string& at);

std::string faults_of_members(const Json& value, const Json& rule, const std::string& at) {
    std::string faults;
    const Json& members = rule.at("properties");
    for (const auto& [name, member] : value.items())
        faults += members.contains(name) ? faults_of(member, members.at(name), at + "/" + name)
                                         : at + "/" + name + " is not in the schema\n";
    for (const auto& name : rule.at("required"))
        if (!value.contains(name.get<std::string>()))
            faults += at + " lacks " + name.get<std::string>() + "\n";
    return faults;
}

/// What is wrong with `value`, by the part of JSON Schema that the document is written in; "": nothing.
std::string faults_of(const Json& value, const Json& rule, const std::string& at) {
    if (rule.contains("$ref"))
        return faults_of(value, schema().at(Json::json_pointer(rule.at("$ref").get<std::string>().substr(1))),
                         at);
    if (rule.contains("oneOf")) return value.is_null() ? "" : faults_of(value, rule.at("oneOf").at(1), at);
    if (rule.contains("enum")) {
        const auto& allowed = rule.at("enum");
        return std::find(allowed.begin(), allowed.end(), value) == allowed.end()
                   ? at + " is none of its enum\n"
                   : "";
    }
    const Json types = rule.at("type").is_array() ? rule.at("type") : Json::array({rule.at("type")});
    if (std::none_of(types.begin(), types.end(),
                     [&](const Json& type) { return has_type(value, type.get<std::string>()); }))
        return at + " is no " + types.dump() + "\n";
    std::string faults;
    if (value.is_array())
        for (std::size_t i = 0; i < value.size(); ++i)
            faults += faults_of(value.at(i), rule.at("items"), at + "/" + std::to_string(i));
    if (value.is_object()) faults += faults_of_members(value, rule, at);
    return faults;
}

/// A history in which each member says something.
ConversationHistory full_history() {
    constexpr Instant at{std::chrono::hours{24 * 365 * 50}};
    ConversationHistory history;
    history.id = ConversationId("c");
    for (const auto source : {HistorySource::tables, HistorySource::agent_server, HistorySource::topic})
        history.sources.push_back({source, SourceState::told, "", 2, at, at, {{1, 2, 3, 4}}});
    history.sources.at(1).state = SourceState::unavailable;
    history.sources.at(1).why = "does not answer";
    history.title = {"A title", HistorySource::agent_server};
    history.status = {"finished", HistorySource::tables};
    history.created_at = history.updated_at = history.last_event_at = {at, HistorySource::topic};
    history.partition = {1, HistorySource::tables};
    history.agent_url = {"http://server", HistorySource::tables};
    history.question = KeptQuestion{"gap", 2, "unreachable", at};
    history.callbacks.push_back({{7}, "ACTIVE", "watching", "log", "", at});
    HistoryTurn& turn = history.turns.emplace_back();
    turn.key = TurnKey("u1");
    turn.known_to = {HistorySource::tables, HistorySource::topic};
    turn.verdict = {Verdict::error, HistorySource::tables};
    turn.opened_at = turn.ended_at = {at, HistorySource::topic};
    turn.reason = {Reason{"LLMError", "no answer", ""}, HistorySource::topic};
    turn.words = {"Words.", HistorySource::tables};
    turn.summary = {HistorySummary{SummaryState::made, "digest", {"**Finished**", "", "", "", ""}},
                    HistorySource::topic};
    KeptDelivery& delivery = turn.deliveries.emplace_back();
    delivery.id = DeliveryId("d");
    delivery.state = "SENT";
    delivery.sent_at = at;
    return history;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_full_document_is_as_its_schema_says) {
    const Json document = Json::parse(to_json(full_history()));
    BOOST_TEST(faults_of(document, schema(), "") == "");
    BOOST_TEST(document.at("is_incomplete") == true);
    BOOST_TEST(document.at("turns").at(0).at("words").at("from") == "tables");
}

BOOST_AUTO_TEST_CASE(an_empty_one_too) {
    ConversationHistory empty;
    empty.turns.emplace_back().is_open = true;
    BOOST_TEST(faults_of(Json::parse(to_json(empty)), schema(), "") == "");
}

BOOST_AUTO_TEST_CASE(the_schema_is_not_kept_by_what_it_does_not_say) {
    Json document = Json::parse(to_json(full_history()));
    document["turns"][0]["verdict"]["value"] = "over";
    document["more"] = 1;
    document["sources"][0].erase("why");
    const std::string faults = faults_of(document, schema(), "");
    BOOST_TEST(faults.find("/turns/0/verdict/value") != std::string::npos);
    BOOST_TEST(faults.find("/more") != std::string::npos);
    BOOST_TEST(faults.find("/sources/0 lacks why") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_text_do_not_break_it) {
    ConversationHistory history = full_history();
    history.turns.at(0).words->value = "\xff\x1b[31m red";
    const Json document = Json::parse(to_json(history));
    BOOST_TEST(faults_of(document, schema(), "") == "");
}
