// One request as the fake platform sees it, and its reply: what passes between the HTTP server and the
// platforms.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace epilogue::fake_platform {

struct Request {
    std::string method;
    std::string path;                            ///< as sent, without the query
    std::string query;                           ///< as sent, without '?'
    std::map<std::string, std::string> headers;  ///< names in lower case
    std::string body;
    int peer = -1;  ///< the client's socket, only to notice that it left; -1: there is none
};

/// How the exchange ends.
enum class Ending {
    answer,  ///< the whole answer; the connection stays if the client wants it
    half,    ///< header fields and half of the body, then the end of the connection
    close,   ///< no byte, then the end of the connection (FIN)
    reset,   ///< no byte, then RST
};

struct Reply {
    int status = 200;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
    Ending ending = Ending::answer;
};

/// An answer that holds JSON text.
Reply json_reply(int status, std::string body);

/// A reply of which nothing is sent.
Reply no_reply(Ending ending);

/// The parameters of `query`, percent-decoded, '+' read as a space; the last of repeated ones.
std::map<std::string, std::string> parameters_of(std::string_view query);

/// The decimal number that `text` is, or nullopt.
std::optional<std::int64_t> number_of(std::string_view text);

/// The parameter `name` as a number from 1 on, `otherwise` when it is none.
std::int64_t positive_of(const std::map<std::string, std::string>& parameters, const std::string& name,
                         std::int64_t otherwise);

/// `text` percent-decoded.
std::string decoded(std::string_view text);

/// The header field `name` (lower case), or "" when it is absent.
std::string header_of(const Request& request, const std::string& name);

}  // namespace epilogue::fake_platform
