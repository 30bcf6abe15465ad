#define BOOST_TEST_MODULE llm_section
#include "worker/sources/llm_section.h"

#include <fstream>

#include <boost/test/unit_test.hpp>

#include "base/process/temp_dir.h"
#include "base/text.h"
#include "worker/sources/registry.h"
#include "worker/sources/summary_section.h"

namespace {

using namespace epilogue;

Result<Config> loaded(const std::string& toml, const Environment& environment = {}) {
    static const ConfigSchema schema({.summary = summary_sections()});
    const process::TempDir folder;
    const std::string path = folder.path() / "epilogue.toml";
    std::ofstream(path) << toml;
    auto config = load_config(path, environment, schema);
    if (!config) return fatal(replaced(config.error().text, path, "F"));
    return config;
}

std::string refusal(const std::string& toml, const Environment& environment = {}) {
    const auto config = loaded(toml, environment);
    return config ? "" : config.error().text;
}

const std::string fast = "[llm.fast]\nbase_url = \"https://api.example.com/v1/\"\nmodel = \"small\"\n";

}  // namespace

BOOST_AUTO_TEST_CASE(a_model_has_an_address_a_name_and_limits_of_its_own) {
    const auto config = loaded(fast +
                                   "api_key = \"env:KEY\"\nmax_tokens = 100\ncontext_tokens = 4000\n"
                                   "limit_name = \"max_completion_tokens\"\nprice_in = 1\nprice_out = 2.5\n"
                                   "tokens_per_day = 0\ncost_per_day = 3.5\n[llm.other]\n"
                                   "base_url = \"http://127.0.0.1:8000\"\nmodel = \"m\"\n",
                               {{"KEY", "sk-1"}});
    BOOST_REQUIRE(config.has_value());
    const auto& models = config->extensions.get<LlmSection>().models;
    BOOST_REQUIRE(models.size() == 2U);
    const LlmModel& model = models.at("fast");
    BOOST_TEST(model.base_url == "https://api.example.com/v1");
    BOOST_TEST(model.model == "small");
    BOOST_TEST(model.api_key.reveal() == "sk-1");
    BOOST_TEST(model.max_tokens == 100);
    BOOST_TEST(model.context_tokens == 4000);
    BOOST_TEST(model.limit_name == "max_completion_tokens");
    BOOST_TEST(model.price_in == 1.0);
    BOOST_TEST(model.price_out == 2.5);
    BOOST_TEST(model.tokens_per_day == 0);
    BOOST_TEST(model.cost_per_day == 3.5);
    BOOST_TEST(models.at("other").limit_name == "max_tokens");
    BOOST_TEST(models.at("other").api_key.empty());
}

BOOST_AUTO_TEST_CASE(its_key_may_come_from_a_variable) {
    const auto config = loaded(fast, {{"EPILOGUE_LLM_FAST_API_KEY", "sk-2"}});
    BOOST_REQUIRE(config.has_value());
    BOOST_TEST(config->extensions.get<LlmSection>().models.at("fast").api_key.reveal() == "sk-2");
    for (const char* variable : {"EPILOGUE_LLM_SLOW_API_KEY", "EPILOGUE_LLM_FAST_MODEL"})
        BOOST_TEST(refusal(fast, {{variable, "x"}}).find(variable) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_a_model_is_named_with_its_line) {
    BOOST_TEST(refusal("[llm]\nfast = 5") ==
               "F:2: [llm] fast: expected a model as a table [llm.fast], got 5");
    BOOST_TEST(refusal("[llm.fast]\nmodel = \"m\"") == "F:1: [llm] fast: base_url is missing");
    BOOST_TEST(refusal("[llm.fast]\nbase_url = \"http://x\"") == "F:1: [llm] fast: model is missing");
    BOOST_TEST(refusal("[llm.fast]\nbase_url = \"x\"")
                   .starts_with("F:2: [llm] fast.base_url: expected an http:// or https:// URL"));
    BOOST_TEST(refusal(fast + "max_token = 5") ==
               "F:4: [llm] fast.max_token: unknown key; did you mean \"max_tokens\"?");
    BOOST_TEST(
        refusal(fast + "max_tokens = 1").starts_with("F:4: [llm] fast.max_tokens: expected an integer"));
    BOOST_TEST(refusal(fast + "price_in = -1") ==
               "F:4: [llm] fast.price_in: expected a number from 0 to 1000000, got -1");
    BOOST_TEST(refusal(fast + "cost_per_day = 1.0") ==
               "F:1: [llm] fast: cost_per_day needs price_in and price_out");
    BOOST_TEST(refusal(fast + "api_key = \"env:MISSING\"") ==
               "F:1: [llm]: fast.api_key: environment variable MISSING is not set");
    BOOST_TEST(refusal(fast + "api_key = 5").find("got a number") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_source_llm_needs_a_model_that_there_is) {
    const std::string sources = "[summary]\nsources = [\"llm\"]\n";
    BOOST_TEST(refusal(sources) ==
               "F:2: [summary] sources: llm is among them: set [summary] llm to the name "
               "of a model, [llm.NAME]");
    BOOST_TEST(refusal(sources + "llm = \"fest\"\n" + fast) ==
               "F:3: [summary] llm: there is no section [llm.fest]; did you mean \"fast\"?");
    BOOST_TEST(refusal(sources + "llm = \"fast\"\n" + fast) == "");
    BOOST_TEST(refusal("[summary]\nllm_template_file = \"nowhere.txt\"") ==
               "F:2: [summary] llm_template_file: cannot read nowhere.txt");
}
