#include "ops/fake_platform/http_messages.h"

#include <charconv>

#include "base/text.h"

namespace epilogue::fake_platform {
Reply json_reply(int status, std::string body) {
    return {status, {{"content-type", "application/json; charset=utf-8"}}, std::move(body), Ending::answer};
}

Reply no_reply(Ending ending) {
    return {0, {}, "", ending};
}

std::map<std::string, std::string> parameters_of(std::string_view query) {
    std::map<std::string, std::string> parameters;
    for (const std::string& part : split(query, '&')) {
        const std::size_t equals = part.find('=');
        const std::string_view value =
            equals == std::string::npos ? std::string_view{} : std::string_view{part}.substr(equals + 1);
        parameters[decoded(std::string_view{part}.substr(0, equals))] = decoded(value);
    }
    return parameters;
}

std::string decoded(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        unsigned byte = 0;
        if (text[at] == '%' && at + 2 < text.size() &&
            std::from_chars(text.data() + at + 1, text.data() + at + 3, byte, 16).ptr ==
                text.data() + at + 3) {
            out += static_cast<char>(byte);
            at += 2;
        } else {
            out += text[at] == '+' ? ' ' : text[at];
        }
    }
    return out;
}

std::optional<std::int64_t> number_of(std::string_view text) {
    std::int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && at == end ? std::optional{number} : std::nullopt;
}

std::int64_t positive_of(const std::map<std::string, std::string>& parameters, const std::string& name,
                         std::int64_t otherwise) {
    const auto found = parameters.find(name);
    const auto number = found == parameters.end() ? std::nullopt : number_of(found->second);
    return number && *number > 0 ? *number : otherwise;
}

std::string header_of(const Request& request, const std::string& name) {
    const auto found = request.headers.find(name);
    return found == request.headers.end() ? "" : found->second;
}

}  // namespace epilogue::fake_platform
