#include "tests/agent/unsteady_receiver.h"

#include <future>

#include "base/io/http.h"

namespace epilogue::testing {

UnsteadyReceiver::UnsteadyReceiver(unsigned short relay)
    : relay_(relay), server_(0, [this](const auto& request) { return answer(request); }) {}

void UnsteadyReceiver::set(Mood mood) {
    const std::lock_guard lock(mutex_);
    mood_ = mood;
}

fake_platform::Reply UnsteadyReceiver::answer(const fake_platform::Request& request) {
    Mood mood;
    int lot = 0;
    std::chrono::milliseconds held{0};
    {
        const std::lock_guard lock(mutex_);
        mood = mood_;
        lot = std::uniform_int_distribution<int>(0, 99)(random_);
        held = std::chrono::milliseconds(std::uniform_int_distribution<long>(0, mood.slow.count())(random_));
    }
    if (mood.is_down || lot < mood.refused_percent) {
        ++refused_;
        return mood.is_down ? fake_platform::no_reply(fake_platform::Ending::reset)
                            : fake_platform::json_reply(500, "{}");
    }
    if (lot < mood.refused_percent + mood.slow_percent)
        static_cast<void>(std::promise<void>().get_future().wait_for(held));
    HttpRequest passed;
    passed.method = request.method;
    passed.url = "http://127.0.0.1:" + std::to_string(relay_) + request.path;
    for (const char* name : {"content-type", "authorization", "x-session-api-key"})
        if (const auto found = request.headers.find(name); found != request.headers.end())
            passed.headers.push_back(found->first + ": " + found->second);
    passed.body = request.body;
    const auto answered = HttpClient().send(passed);
    ++passed_;
    if (answered.outcome != HttpOutcome::answered)
        return fake_platform::no_reply(fake_platform::Ending::reset);
    return fake_platform::json_reply(answered.status, answered.body);
}

}  // namespace epilogue::testing
