#define BOOST_TEST_MODULE text_file
#include "worker/sources/text_file.h"

#include <fstream>

#include <boost/test/unit_test.hpp>

#include "base/process/temp_dir.h"
#include "worker/sources/registry.h"
#include "worker/sources/summary_section.h"

namespace {

using namespace epilogue;

/// What is wrong with [summary] question_file when that file holds `text`; "": nothing.
std::string objection(const std::string& text) {
    const process::TempDir folder;
    const std::string path = folder.path() / "question.txt";
    std::ofstream(path, std::ios::binary) << text;
    Config config;
    config.extensions.edit<SummarySection>().question_file.path = path;
    const ConfigKind kind = text_file(place(&SummarySection::question_file), {"task", "last_words"});
    const auto problem = kind.resolve(config, {});
    if (!problem) {
        BOOST_TEST(config.extensions.get<SummarySection>().question_file.text == text);
        return "";
    }
    BOOST_TEST(problem->text.find(path) != std::string::npos, problem->text);
    return problem->text;
}

bool says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_file_of_text_is_read_when_the_configuration_is_resolved) {
    BOOST_TEST(objection("How did it go?\n") == "");
    BOOST_TEST(objection("{task} and {last_words}, {\"json\": {}} and { blanks }") == "");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_sent_is_refused_with_the_files_name) {
    BOOST_TEST(says(objection(" \n"), "is empty"));
    BOOST_TEST(says(objection("a\xff"), "is not UTF-8"));
    BOOST_TEST(says(objection(std::string(max_text_file_bytes + 1, 'a')), "more than 65536 bytes"));
    BOOST_TEST(says(objection("{tusk}"), "has the placeholder {tusk}, expected one of task, last_words"));
}

BOOST_AUTO_TEST_CASE(a_file_that_is_not_there_is_refused_and_none_is_fine) {
    Config config;
    const ConfigKind kind = text_file(place(&SummarySection::question_file));
    BOOST_TEST(!kind.resolve(config, {}).has_value());
    config.extensions.edit<SummarySection>().question_file.path = "nowhere/question.txt";
    BOOST_TEST(kind.resolve(config, {})->text == "cannot read nowhere/question.txt");
}
