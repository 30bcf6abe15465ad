// What makes the requests of all sinks: outside of them, once.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "base/http_message.h"
#include "sinks/port/dialogue.h"

namespace epilogue {

/// Performs one request within its timeout, once: no retry, no redirect. Thread-safe, does not throw.
using Send = std::function<HttpAnswer(const HttpRequest&)>;

/// Takes one line without its end; false when it was not written. Called from any thread; must not throw.
using WriteLine = std::function<bool(const std::string&)>;

/// The time since some moment, by a clock that is never set.
std::chrono::nanoseconds steady_time();

struct Transport {
    Send send;
    std::function<std::chrono::nanoseconds()> now = steady_time;  ///< what deadlines go by
};

/// The method of a request that is no HTTP: its body is a line for the program's own output.
inline constexpr std::string_view log_method = "LOG";
/// The request to write `line`. It is answered when the line was written, else not sent.
HttpRequest log_line(std::string line);
/// `send` for HTTP, and `write` for lines.
Send with_lines(Send send, WriteLine write);

/// Makes the requests of `exchange` until there is none left; all of them share `timeout`, which begins now.
void carry(Exchange& exchange, const Transport& transport, std::chrono::milliseconds timeout);

/// The outcome of `dialogue`: makes its requests, as carry() does, and waits for it.
template <class Outcome>
Outcome run(Dialogue<Outcome> dialogue, const Transport& transport, std::chrono::milliseconds timeout) {
    carry(dialogue.exchange(), transport, timeout);
    return dialogue.outcome();
}

}  // namespace epilogue
