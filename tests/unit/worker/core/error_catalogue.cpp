// The catalogue of errors, and docs/errors.md, which is printed from it.
#define BOOST_TEST_MODULE error_catalogue
#include "worker/core/error_catalogue.h"

#include <fstream>
#include <set>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/golden.h"

using namespace epilogue;
using Of = CatalogueEntry::Of;

namespace {

std::string retry_of(const CatalogueEntry& entry) {
    if (entry.retry == Retry::helps) return "yes";
    return entry.retry == Retry::helps_later ? "later" : "no";
}

std::string mender_of(const CatalogueEntry& entry) {
    if (entry.mender == Mender::you) return "you";
    return entry.mender == Mender::wait ? "wait" : "your administrator";
}

std::string table_of(Of of) {
    std::string text =
        "| code | what happened | trying again helps | who can mend it | what to do |\n"
        "| --- | --- | --- | --- | --- |\n";
    for (const CatalogueEntry& entry : error_catalogue()) {
        if (entry.of != of) continue;
        text += "| `" + std::string(entry.code) + "` | " +
                std::string(phrase(Language::english, entry.sentence)) + " | " + retry_of(entry) + " | " +
                mender_of(entry) + " | " + std::string(phrase(Language::english, entry.advice)) + " |\n";
    }
    return text;
}

std::string page() {
    return "# Errors\n\n"
           "Why an agent stopped, as a post says it. This page is printed from "
           "`worker/core/error_catalogue.cpp` by\n"
           "`unit_worker_core_error_catalogue`; with `EPILOGUE_UPDATE_GOLDEN=1` it writes the page anew.\n\n"
           "A post names the code behind the verdict, then says what happened in one sentence, and what to "
           "do on its line "
           "*Next*.\nThe text of an exception is never posted: it holds addresses, paths and keys. "
           "`[summary] language` has "
           "the same sentences\nin other languages. An error is looked up by its code; one of V1 whose code "
           "is not here by "
           "its kind; any other has the\nneutral sentence \"An error that is not in our catalogue\" with its "
           "code.\n\n"
           "## V1: the code of `ConversationErrorEvent`\n\n"
           "Also what stands before the colon of V0's free texts.\n\n" +
           table_of(Of::v1_code) + "\n## V1: the kind in its classification\n\n" + table_of(Of::v1_kind) +
           "\n## V1: codes that tell less than their kind\n\nClasses of the language and of libraries, "
           "which many causes have. They count where the server gives no kind.\n\n" +
           table_of(Of::v1_wrapper) +
           "\n## V0: the reason of `agent_state_changed`\n\nOne with blanks stands for all reasons that "
           "begin with it.\n\n" +
           table_of(Of::v0_reason);
}

/// The codes and reasons in the recordings, and V1's kinds.
std::set<std::string> recorded_codes() {
    std::set<std::string> codes;
    const std::string folder = std::string(EPILOGUE_SOURCE_DIR) + "/tests/data/recordings/";
    std::ifstream expected(folder + "expected.jsonl");
    for (std::string line; std::getline(expected, line);) {
        const auto recording = nlohmann::json::parse(line);
        for (const auto& turn : recording.at("turns"))
            if (turn.at("error").is_object()) codes.insert(turn.at("error").at("code").get<std::string>());
    }
    std::ifstream shapes(folder + "shapes_v1.jsonl");
    for (std::string line; std::getline(shapes, line);) {
        const auto event = nlohmann::json::parse(line).value("event", nlohmann::json::object());
        if (event.value("kind", "") == "ConversationErrorEvent")
            codes.insert(event.at("code").get<std::string>());
    }
    return codes;
}

/// The codes of tests/data/error_codes.txt, where their sources are named; a line "## source" stands above.
std::set<std::string> written_codes() {
    std::set<std::string> codes;
    std::ifstream file(std::string(EPILOGUE_SOURCE_DIR) + "/tests/data/error_codes.txt");
    bool has_source = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("## ")) has_source = true;
        if (line.empty() || line.starts_with("#")) continue;
        BOOST_TEST(has_source, line << " has no source");
        BOOST_TEST(codes.insert(line).second, line << " stands twice");
    }
    return codes;
}

bool is_known(std::string_view code, std::string_view kind = "") {
    return catalogue_entry(code, kind).sentence != Phrase::unknown_error;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_page_says_what_the_table_says) {
    BOOST_TEST(difference_from_file("docs/errors.md", page()) == "",
               "EPILOGUE_UPDATE_GOLDEN=1 writes docs/errors.md anew");
}

BOOST_AUTO_TEST_CASE(every_code_of_the_recordings_is_in_the_catalogue) {
    const auto codes = recorded_codes();
    BOOST_TEST(codes.size() >= 8U);
    for (const std::string& code : codes) BOOST_TEST(is_known(code), code);
}

BOOST_AUTO_TEST_CASE(every_code_that_a_server_can_give_has_its_row_and_no_row_is_without_a_source) {
    const auto written = written_codes();
    std::set<std::string> in_table;
    for (const CatalogueEntry& entry : error_catalogue())
        if (entry.of != Of::v1_kind) in_table.emplace(entry.code);
    for (const std::string& code : written) {
        BOOST_TEST(in_table.contains(code), code << " has no sentence");
        BOOST_TEST(is_known(code), code);
    }
    for (const std::string& code : in_table) BOOST_TEST(written.contains(code), code << " has no source");
}

BOOST_AUTO_TEST_CASE(a_class_of_the_language_tells_less_than_the_kind) {
    BOOST_TEST((catalogue_entry("ValueError", "config").sentence == Phrase::settings_wrong));
    BOOST_TEST((catalogue_entry("openai.OpenAIError", "auth").sentence == Phrase::provider_refused_key));
    BOOST_TEST((catalogue_entry("ValueError", "unknown").sentence == Phrase::server_failed));
    BOOST_TEST((catalogue_entry("ConversationRunError", "").sentence == Phrase::server_failed));
}

BOOST_AUTO_TEST_CASE(every_kind_of_the_servers_is_in_the_catalogue_but_unknown) {
    for (const char* kind :
         {"auth", "quota", "rate_limit", "config", "transient", "agent_action", "internal"})
        BOOST_TEST(is_known("NewError", kind), kind);
    BOOST_TEST(!is_known("NewError", "unknown"));
    BOOST_TEST(!is_known("NewError", ""));
}

BOOST_AUTO_TEST_CASE(no_code_stands_twice) {
    std::set<std::pair<Of, std::string_view>> codes;
    for (const CatalogueEntry& entry : error_catalogue())
        BOOST_TEST(codes.insert({entry.of, entry.code}).second, entry.code);
}

BOOST_AUTO_TEST_CASE(a_code_is_found_whatever_stands_around_it) {
    const auto sentence = [](std::string_view code) { return catalogue_entry(code, "").sentence; };
    BOOST_TEST((sentence("LLMRateLimitError") == Phrase::provider_limits_rate));
    BOOST_TEST((sentence("RateLimitError: litellm.RateLimitError: 429") == Phrase::provider_limits_rate));
    BOOST_TEST((sentence("litellm.exceptions.AuthenticationError: key") == Phrase::provider_refused_key));
    BOOST_TEST((sentence("RuntimeError: Agent reached maximum iteration. Current iteration: 9") ==
                Phrase::iterations_used_up));
    BOOST_TEST((sentence("RuntimeError: something else") == Phrase::server_failed));
    BOOST_TEST((sentence("NewError: something else") == Phrase::unknown_error));
    BOOST_TEST((sentence("") == Phrase::error_without_code));
    BOOST_TEST((sentence("`@everyone`") == Phrase::error_without_code));
}

BOOST_AUTO_TEST_CASE(a_known_code_says_more_than_its_kind) {
    BOOST_TEST(
        (catalogue_entry("MaxIterationsReached", "agent_action").sentence == Phrase::iterations_used_up));
}

BOOST_AUTO_TEST_CASE(the_neutral_sentence_has_the_code_and_never_the_exceptions_text) {
    const std::string sentence = error_sentence(Language::english, "NewError: 'secret'", "");
    BOOST_TEST(sentence == "An error that is not in our catalogue: `NewError`.");
    BOOST_TEST(error_sentence(Language::german, "NewError: 'secret'", "") ==
               "Ein Fehler, der nicht in unserem Katalog steht: `NewError`.");
    BOOST_TEST(error_sentence(Language::english, "", "") == "The reason is not known.");
}
