#include "tests/support/fake_platform_process.h"

#include <stdexcept>

#include <nlohmann/json.hpp>

#include "tests/support/eventually.h"

namespace epilogue::testing {
namespace {

using Json = nlohmann::json;

constexpr Milliseconds answer_deadline{60000};

/// The port it says it listens on, in its first line.
unsigned short port_of(Process& process) {
    const auto line =
        eventually("the fake platform says its port", answer_deadline, [&]() -> std::optional<std::string> {
            const auto out = process.out();
            if (out.ends_with('\n')) return out;
            if (!process.running()) throw std::runtime_error("the fake platform ended: " + process.err());
            return std::nullopt;
        });
    return Json::parse(*line).at("port").get<unsigned short>();
}

}  // namespace

FakePlatformProcess::FakePlatformProcess()
    : process_({{EPILOGUE_FAKE_PLATFORM_EXECUTABLE}}), port_(port_of(process_)) {}

std::string FakePlatformProcess::url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
}

Json FakePlatformProcess::control(const std::string& method, const std::string& path, const Json& body,
                                  std::chrono::milliseconds timeout) const {
    HttpRequest request;
    request.method = method;
    request.url = url("/_control" + path);
    request.timeout = timeout;
    request.max_answer_bytes = std::size_t{1} << 30U;  // the log of a long run
    if (!body.is_null()) {
        request.headers = {"Content-Type: application/json"};
        request.body = body.dump();
    }
    const auto answer = http_.send(request);
    if (answer.outcome != HttpOutcome::answered) throw std::runtime_error("fake platform: " + answer.cause);
    if (answer.status / 100 != 2) throw std::runtime_error("fake platform: " + path + ": " + answer.body);
    return Json::parse(answer.body);
}

void FakePlatformProcess::rules(const Json& rules) const {
    control("POST", "/rules", rules, answer_deadline);
}

void FakePlatformProcess::release(bool drop) const {
    control("POST", "/release", {{"drop", drop}}, answer_deadline);
}

void FakePlatformProcess::reset() const {
    control("POST", "/reset", Json::object(), answer_deadline);
}

std::map<std::string, std::size_t> FakePlatformProcess::counts() const {
    return control("GET", "/counts", nullptr, answer_deadline).get<std::map<std::string, std::size_t>>();
}

std::vector<VisibleComment> FakePlatformProcess::visible() const {
    std::vector<VisibleComment> comments;
    for (const auto& json : control("GET", "/visible", nullptr, answer_deadline))
        comments.push_back({json.at("id").get<std::int64_t>(), json.at("platform").get<std::string>(),
                            json.at("path").get<std::string>(), json.at("author").get<std::string>(),
                            json.at("body").get<std::string>(), json.at("thread").get<std::string>(),
                            json.at("metadata").get<std::string>()});
    return comments;
}

Json FakePlatformProcess::log(std::size_t after) const {
    return control("GET", "/log?after=" + std::to_string(after), nullptr, answer_deadline);
}

void FakePlatformProcess::wait_held(std::size_t count, std::chrono::milliseconds timeout) const {
    wait_for("held", count, timeout);
}

void FakePlatformProcess::wait_for(const std::string& counted, std::size_t count,
                                   std::chrono::milliseconds timeout) const {
    const auto path =
        "/wait?" + counted + "=" + std::to_string(count) + "&timeout_ms=" + std::to_string(timeout.count());
    const auto answer = control("GET", path, nullptr, timeout + answer_deadline);
    if (!answer.at("reached").get<bool>())
        throw GaveUp("the fake platform counts " + std::to_string(count) + " " + counted, timeout);
}

}  // namespace epilogue::testing
