// Answers without a server: what a test hands to a dialogue, and all requests that the dialogue then made.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "sinks/port/dialogue.h"

namespace epilogue::sink_test {

inline HttpAnswer answered(int status, const nlohmann::json& body,
                           std::map<std::string, std::string> headers = {}) {
    HttpAnswer answer;
    answer.outcome = HttpOutcome::answered;
    answer.status = status;
    answer.headers = std::move(headers);
    answer.body = body.dump();
    return answer;
}

inline HttpAnswer lost(HttpOutcome outcome = HttpOutcome::uncertain) {
    HttpAnswer answer;
    answer.outcome = outcome;
    answer.cause = "lost";
    return answer;
}

/// A dialogue's outcome when its requests get these answers, in this order, and what the requests were:
/// "GET https://…". Fewer or more requests than answers: the rest is empty, or what is missing "!".
template <class Outcome>
std::pair<Outcome, std::vector<std::string>> scripted(Dialogue<Outcome> dialogue,
                                                      const std::vector<HttpAnswer>& answers) {
    std::vector<std::string> asked;
    std::size_t next = 0;
    while (const HttpRequest* request = dialogue.request()) {
        asked.push_back(request->method + " " + request->url);
        dialogue.answer(next < answers.size() ? answers[next] : lost());
        ++next;
    }
    for (; next < answers.size(); ++next) asked.emplace_back("!");
    return {dialogue.outcome(), std::move(asked)};
}

}  // namespace epilogue::sink_test
