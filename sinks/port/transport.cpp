#include "sinks/port/transport.h"

#include <utility>

namespace epilogue {

std::chrono::nanoseconds steady_time() {
    return std::chrono::steady_clock::now().time_since_epoch();
}

HttpRequest log_line(std::string line) {
    HttpRequest request;
    request.method = log_method;
    request.body = std::move(line);
    return request;
}

Send with_lines(Send send, WriteLine write) {
    return [send = std::move(send), write = std::move(write)](const HttpRequest& request) {
        if (request.method != log_method) return send(request);
        HttpAnswer answer;
        const bool written = write(request.body);
        answer.outcome = written ? HttpOutcome::answered : HttpOutcome::not_sent;
        if (!written) answer.cause = "the line could not be written";
        return answer;
    };
}

void carry(Exchange& exchange, const Transport& transport, std::chrono::milliseconds timeout) {
    const auto until = transport.now() + timeout;
    while (HttpRequest* request = exchange.request()) {
        request->timeout = std::chrono::duration_cast<std::chrono::milliseconds>(until - transport.now());
        exchange.answer(transport.send(*request));
    }
}

}  // namespace epilogue
