// An HTTP request and its answer, as values. Who makes the request is elsewhere (base/io/http.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/instant.h"

namespace epilogue {

class EgressRules;
struct MailServer;

struct HttpRequest {
    std::string method = "GET";
    std::string url;
    std::vector<std::string> headers;  ///< "Name: value"
    std::string body;
    std::chrono::milliseconds timeout{20000};  ///< total: connect, send, answer
    std::size_t max_answer_bytes = std::size_t{16} << 20U;
    bool changes_nothing = false;  ///< for people, whatever its method: a token is asked for
    std::stop_token stop{};        ///< when it is requested the transfer is given up at once
    /// Where it may lead, judged when it connects (base/egress.h): for an address that comes from data. Null:
    /// anywhere, because the operator has named the address.
    std::shared_ptr<const EgressRules> egress{};
    /// How a mail server is spoken to, when it is no HTTP (base/mail_server.h).
    std::shared_ptr<const MailServer> mail{};
};

/// How far a request came.
enum class HttpOutcome {
    answered,   ///< status, headers and the whole body are here
    not_sent,   ///< provably nothing reached the server: refused, no route, no such host, TLS failed
    uncertain,  ///< something may have been applied: deadline, reset, half an answer
};

struct HttpAnswer {
    HttpOutcome outcome = HttpOutcome::uncertain;
    int status = 0;
    std::map<std::string, std::string> headers;  ///< names in lower case; the last of repeated ones
    std::string body;
    std::string cause;  ///< when not answered: what happened, without the URL's query and without secrets
    bool timed_out = false;  ///< not answered because the request's time was over
    bool is_barred = false;  ///< not sent because HttpRequest::egress bars every address of its host
    Instant received_at{};   ///< by the clock of the one who made the request
};

}  // namespace epilogue
