#include "tests/agent/fake_llm.h"

#include <nlohmann/json.hpp>

namespace epilogue::testing {

using Json = nlohmann::json;
using fake_platform::json_reply;

std::string completion_json(const FakeCompletion& completion) {
    Json message{{"role", "assistant"}, {"content", completion.content}, {"refusal", nullptr}};
    if (!completion.refusal.empty()) {
        message["content"] = nullptr;
        message["refusal"] = completion.refusal;
    }
    return Json{{"id", "chatcmpl-1"},
                {"object", "chat.completion"},
                {"created", 1741569952},
                {"model", "stand-in"},
                {"choices",
                 {{{"index", 0},
                   {"message", message},
                   {"logprobs", nullptr},
                   {"finish_reason", completion.finish_reason}}}},
                {"usage",
                 {{"prompt_tokens", completion.tokens_in},
                  {"completion_tokens", completion.tokens_out},
                  {"total_tokens", completion.tokens_in + completion.tokens_out}}}}
        .dump();
}

FakeLlm::FakeLlm() {
    answer(FakeCompletion{"It works now: all tests pass."});
    server_ = std::make_unique<fake_platform::HttpServer>(
        static_cast<unsigned short>(0),
        [this](const fake_platform::Request& request) { return reply(request); });
}

std::string FakeLlm::url() const {
    return "http://127.0.0.1:" + std::to_string(server_->port()) + "/v1";
}

process::Settings FakeLlm::settings() const {
    return {{"summary.llm", "fast"},
            {"llm.fast.base_url", url()},
            {"llm.fast.model", "small"},
            {"llm.fast.api_key", "sk-test"},
            {"llm.fast.price_in", std::int64_t{2}}};
}

void FakeLlm::answer(Handler handler) {
    const std::lock_guard lock(mutex_);
    handler_ = std::move(handler);
}

void FakeLlm::answer(const FakeCompletion& completion) {
    answer([json = completion_json(completion)](const auto&) { return json_reply(200, json); });
}

void FakeLlm::fail(int status, const std::string& code) {
    const Json error{
        {"error", {{"message", "no"}, {"type", "an_error"}, {"param", nullptr}, {"code", code}}}};
    answer([status, text = error.dump()](const auto&) { return json_reply(status, text); });
}

std::vector<FakeLlm::Seen> FakeLlm::seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
}

fake_platform::Reply FakeLlm::reply(const fake_platform::Request& request) {
    if (request.method != "POST" || request.path != "/v1/chat/completions")
        return json_reply(404, R"({"error":{"message":"unknown"}})");
    Handler handler;
    {
        const std::lock_guard lock(mutex_);
        seen_.push_back({request.body, fake_platform::header_of(request, "authorization")});
        handler = handler_;
    }
    return handler(request);
}

}  // namespace epilogue::testing
