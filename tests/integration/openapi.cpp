// What /openapi.json says of the callbacks' API and of the operator's endpoints, against a running worker.
#define BOOST_TEST_MODULE openapi
#include <set>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "base/process/process.h"
#include "schemas/verdict.h"
#include "tests/support/rig.h"
#include "worker/serve/callback_listing.h"

namespace {

using namespace epilogue;
using namespace epilogue::testing;
using Json = nlohmann::json;

const std::string api_key = "a-key-of-the-tests";

struct OpenapiEnvironment {
    Rig rig{"openapi", 1, {{"worker.api_key", api_key}}};
    WorkerProcess worker = rig.epilogue().worker();
    Json document = Json::parse(worker.get("/openapi.json").body);

    const Json& schema(const std::string& name) const {
        return document.at("components").at("schemas").at(name);
    }
};
OpenapiEnvironment& environment() {
    static OpenapiEnvironment one;
    return one;
}

std::set<std::string> names_in(const std::vector<Column>& columns) {
    std::set<std::string> names;
    for (const Column& column : columns) names.insert(column.name);
    return names;
}

std::set<std::string> members_of(const Json& schema) {
    std::set<std::string> names;
    for (const auto& [name, member] : schema.at("properties").items()) names.insert(name);
    return names;
}

}  // namespace

BOOST_AUTO_TEST_CASE(it_names_what_a_callback_is_shown_with) {
    const auto& listed = environment().schema("ListedCallback");
    BOOST_TEST((members_of(listed) == names_in(callback_list_columns())));
    auto shown = members_of(listed);
    shown.merge(members_of(environment().schema("Callback").at("allOf").at(1)));
    BOOST_TEST((shown == names_in(callback_columns())));
    BOOST_TEST((listed.at("properties").at("status").at("enum").get<std::vector<std::string>>() ==
                callback_statuses()));
}

BOOST_AUTO_TEST_CASE(it_names_every_trigger) {
    std::set<std::string> triggers;
    for (const auto* some : {&all_verdicts(), &all_notices()})
        for (const Verdict verdict : *some) triggers.emplace(name_of(verdict));
    BOOST_TEST((environment().schema("Trigger").at("enum").get<std::set<std::string>>() == triggers));
}

BOOST_AUTO_TEST_CASE(its_examples_register) {
    auto& [rig, worker, document] = environment();
    const auto& examples = document.at("paths")
                               .at("/api/callbacks")
                               .at("post")
                               .at("requestBody")
                               .at("content")
                               .at("application/json")
                               .at("examples");
    BOOST_TEST(!examples.empty());
    for (const auto& [name, example] : examples.items()) {
        HttpRequest request;
        request.method = "POST";
        request.url = worker.url("/api/callbacks");
        request.headers = {"Content-Type: application/json", "X-Session-API-Key: " + api_key};
        request.body = example.at("value").dump();
        const auto answer = HttpClient().send(request);
        BOOST_TEST(answer.status / 100 == 2, name << ": " << answer.body);
    }
}

// The fuzzer also asks what the document forbids, with and without the key, and holds each answer against the
// document: status, headers, body; a 5xx but the documented ones, or an undocumented answer, is a failure.
BOOST_AUTO_TEST_CASE(every_answer_is_one_that_it_describes) {
    const auto& worker = environment().worker;
    std::vector<std::string> words{EPILOGUE_FUZZER, "run", worker.url("/openapi.json")};
    for (const char* word :
         {"--header", "X-Session-API-Key: a-key-of-the-tests", "--seed", "1", "--max-examples", "40",
          "--no-color", "--generation-database", "none",
          // Left out: that a processor takes its processor_json is not in the schema; a cancelled callback is
          // still shown; and methods that HTTP has not are a 400 before any path is looked at.
          "--exclude-checks", "positive_data_acceptance,use_after_free,unsupported_method"})
        words.emplace_back(word);
    const TempDir folder;  // where it leaves what it remembers
    const auto fuzzed = process::run({.argv = words, .folder = folder.path()}, std::chrono::minutes(4));
    BOOST_TEST(fuzzed.status == 0, fuzzed.out << fuzzed.err);
}
