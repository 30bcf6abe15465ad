#include "ops/fake_platform/rules.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace epilogue::fake_platform {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::pair<std::string_view, FaultAction>, 11> actions{{
    {"apply_then_hang", FaultAction::apply_then_hang},
    {"hang", FaultAction::hang},
    {"apply_then_reset", FaultAction::apply_then_reset},
    {"reset", FaultAction::reset},
    {"apply_then_status", FaultAction::apply_then_status},
    {"status", FaultAction::status},
    {"apply_twice", FaultAction::apply_twice},
    {"hide", FaultAction::hide},
    {"delay", FaultAction::delay},
    {"half_answer", FaultAction::half_answer},
    {"suppress", FaultAction::suppress},
}};

constexpr std::array<std::string_view, 10> keys{"do", "method", "path",   "body",    "skip",
                                                "ms", "times",  "status", "headers", "answer"};

FaultAction action_of(const std::string& name) {
    for (const auto& [known, action] : actions) {
        if (known == name) return action;
    }
    throw std::invalid_argument("unknown \"do\": " + name);
}

std::optional<std::regex> regex_of(const Json& rule, const char* key) {
    if (!rule.contains(key)) return std::nullopt;
    return std::regex(rule.at(key).get<std::string>(), std::regex::ECMAScript | std::regex::optimize);
}

Fault fault_of(const Json& rule) {
    Fault fault;
    fault.name = rule.at("do").get<std::string>();
    fault.action = action_of(fault.name);
    fault.wait = std::chrono::milliseconds(rule.value("ms", std::int64_t{0}));
    fault.answer.status = rule.value("status", 500);
    if (fault.answer.status < 100 || fault.answer.status > 999) {
        throw std::invalid_argument("\"status\" is no HTTP status");
    }
    fault.answer.headers = {{"content-type", "application/json; charset=utf-8"}};
    if (rule.contains("headers")) {
        for (const auto& [name, value] : rule.at("headers").items()) {
            fault.answer.headers.emplace_back(name, value.get<std::string>());
        }
    }
    if (rule.contains("answer")) {
        const Json& answer = rule.at("answer");
        fault.answer.body = answer.is_string() ? answer.get<std::string>() : answer.dump();
    } else {
        fault.answer.body = R"({"message":"as scripted"})";
    }
    return fault;
}

Rule rule_of(const Json& json) {
    for (const auto& [key, value] : json.items()) {
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
            throw std::invalid_argument("unknown key in a rule: " + key);
        }
    }
    Rule rule;
    rule.method = json.value("method", "");
    rule.path = regex_of(json, "path");
    rule.body = regex_of(json, "body");
    const auto skip = json.value("skip", std::int64_t{0});
    const auto times = json.value("times", std::int64_t{1});
    if (skip < 0 || times < -1) throw std::invalid_argument("negative \"skip\" or \"times\"");
    rule.skip = static_cast<std::size_t>(skip);
    if (times >= 0) rule.left = static_cast<std::size_t>(times);
    rule.fault = fault_of(json);
    return rule;
}

bool matches(const Rule& rule, const Request& request) {
    return (rule.method.empty() || rule.method == request.method) &&
           (!rule.path || std::regex_search(request.path, *rule.path)) &&
           (!rule.body || std::regex_search(request.body, *rule.body));
}

}  // namespace

void RuleBook::read(std::string_view json) {
    std::vector<Rule> rules;
    bool append = false;
    try {
        const Json read = Json::parse(json);
        append = read.is_object();
        for (const Json& rule : append ? read.at("append") : read) rules.push_back(rule_of(rule));
    } catch (const Json::exception& error) {
        throw std::invalid_argument(error.what());
    } catch (const std::regex_error& error) {
        throw std::invalid_argument(error.what());
    }
    if (!append) rules_.clear();
    std::move(rules.begin(), rules.end(), std::back_inserter(rules_));
}

std::optional<Fault> RuleBook::next(const Request& request) {
    for (Rule& rule : rules_) {
        if (rule.left == std::size_t{0} || !matches(rule, request)) continue;
        if (rule.skip > 0) {
            --rule.skip;
            continue;
        }
        if (rule.left) --*rule.left;
        return rule.fault;
    }
    return std::nullopt;
}

}  // namespace epilogue::fake_platform
