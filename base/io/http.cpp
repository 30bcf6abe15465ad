#include "base/io/http.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <stop_token>
#include <utility>

#include <curl/curl.h>

#include "base/http_unanswered.h"
#include "base/io/curl_handles.h"
#include "base/io/curl_options.h"
#include "base/io/egress_guard.h"
#include "base/text.h"

namespace epilogue {
namespace {

constexpr std::size_t max_header_bytes = std::size_t{64} << 10U;

/// This thread's handles, as new but with their open connections; nullptr when libcurl has no memory.
const CurlHandles* handles_of_this_thread() {
    thread_local const CurlHandles handles;
    if (!handles.multi || !handles.easy) return nullptr;
    curl_easy_reset(handles.easy.get());
    return &handles;
}

/// What the callbacks fill.
struct ResponseBuffer {
    HttpAnswer& answer;
    std::size_t max_body = 0;
    std::size_t header_bytes = 0;
    bool too_large = false;
};

// libcurl calls these from C: no exception may pass, a count that differs from `size` ends the transfer.
std::size_t on_header(char* bytes, std::size_t, std::size_t size, void* context) {
    try {
        ResponseBuffer& buffer = *static_cast<ResponseBuffer*>(context);
        const std::string_view line(bytes, size);
        if (line.starts_with("HTTP/")) {  // a new header section: the one before was a 1xx
            buffer.answer.headers.clear();
            buffer.header_bytes = 0;
        }
        buffer.header_bytes += size;
        const std::size_t colon = line.find(':');
        if (colon != std::string_view::npos && buffer.header_bytes <= max_header_bytes) {
            buffer.answer.headers[lowered(trimmed(line.substr(0, colon)))] =
                std::string(trimmed(line.substr(colon + 1)));
        }
        return size;
    } catch (const std::exception&) {
        return 0;
    }
}

std::size_t on_body(char* bytes, std::size_t, std::size_t size, void* context) {
    try {
        ResponseBuffer& buffer = *static_cast<ResponseBuffer*>(context);
        if (size > buffer.max_body - buffer.answer.body.size()) {
            buffer.too_large = true;
            return 0;
        }
        buffer.answer.body.append(bytes, size);
        return size;
    } catch (const std::exception&) {
        return 0;
    }
}

bool is_method(const std::string& method) {
    return !method.empty() &&
           std::all_of(method.begin(), method.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool has_line_break(const std::string& header) {
    return header.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos;
}

/// Why the request must not be sent at all; "" when it may be.
std::string objection(const HttpRequest& request) {
    if (request.timeout.count() <= 0) return "no time left";  // libcurl would read 0 as "no limit"
    if (request.stop.stop_requested()) return "stopped before it was sent";
    if (!is_method(request.method)) return "the method is no word in capitals";
    if (std::any_of(request.headers.begin(), request.headers.end(), has_line_break)) {
        return "a header field holds a line break";
    }
    return "";
}

/// The header list of `request`; nullptr when there is no memory.
CurlList header_list(const HttpRequest& request) {
    CurlList list;
    for (const std::string& header : request.headers) {
        if (!append(list, header.c_str())) return nullptr;
    }
    // Without a value: what libcurl would add by itself. "Expect" makes it wait and, on a 417, send again;
    // a form's "Content-Type" would be untrue.
    if (!append(list, "Expect:") || !append(list, "Content-Type:")) return nullptr;
    return list;
}

void set_method(CurlOptions& options, const HttpRequest& request) {
    const bool harmless = request.method == "GET" || request.method == "HEAD";
    if (request.method == "HEAD") {
        options.set(CURLOPT_NOBODY, 1L);
    } else if (request.method == "GET" && request.body.empty()) {
        options.set(CURLOPT_HTTPGET, 1L);
    } else {
        options.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
        options.set(CURLOPT_POSTFIELDS, request.body.c_str());
        options.set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
    // When a reused connection dies before the first byte of an answer, libcurl takes it for an idle one that
    // the server had closed and sends the request again on a new one: also a POST, also one that was applied,
    // and no option turns that off. On a connection of its own it never does. So only reads share
    // connections.
    if (!harmless) {
        options.set(CURLOPT_FRESH_CONNECT, 1L);
        options.set(CURLOPT_FORBID_REUSE, 1L);
    }
}

void set_transport(CurlOptions& options, const HttpRequest& request) {
    options.set(CURLOPT_URL, request.url.c_str());
    options.set(CURLOPT_PROTOCOLS_STR, "http,https");
    options.set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    options.set(CURLOPT_TIMEOUT_MS, request.timeout.count());
    options.set(CURLOPT_FOLLOWLOCATION, 0L);
    set_common_options(options);
}

/// True when the transfer that failed with `code` cannot have sent a byte of the request.
bool provably_unsent(CURL* handle, CURLcode code) {
    long request_size = 0;
    curl_off_t connected = 0;
    curl_off_t secured = 0;
    const char* scheme = nullptr;
    if (curl_easy_getinfo(handle, CURLINFO_REQUEST_SIZE, &request_size) != CURLE_OK ||
        curl_easy_getinfo(handle, CURLINFO_CONNECT_TIME_T, &connected) != CURLE_OK ||
        curl_easy_getinfo(handle, CURLINFO_APPCONNECT_TIME_T, &secured) != CURLE_OK ||
        curl_easy_getinfo(handle, CURLINFO_SCHEME, &scheme) != CURLE_OK || request_size != 0) {
        return false;
    }
    switch (code) {
        case CURLE_URL_MALFORMAT:
        case CURLE_UNSUPPORTED_PROTOCOL:
        case CURLE_COULDNT_RESOLVE_HOST:
        case CURLE_COULDNT_RESOLVE_PROXY:
        case CURLE_COULDNT_CONNECT:
        case CURLE_SSL_CONNECT_ERROR:
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_SSL_CERTPROBLEM:
        case CURLE_SSL_CIPHER:
        case CURLE_SSL_ISSUER_ERROR:
            return true;
        case CURLE_OPERATION_TIMEDOUT: {
            // REQUEST_SIZE counts what a finished write took, and TLS may have put out part of an unfinished
            // one: only a connection that was never ready is proof.
            const bool tls = scheme != nullptr && lowered(scheme) == "https";
            return (tls ? secured : connected) == 0;
        }
        default:
            return false;
    }
}

/// libcurl's words for the failure. They name host and port at most; a query is cut out all the same.
std::string cause_of(CURLcode code, const char* details, const std::string& url) {
    std::string cause = *details != '\0' ? details : curl_easy_strerror(code);
    const std::size_t mark = url.find('?');
    if (mark != std::string::npos && mark + 1 < url.size()) {
        cause = replaced(cause, std::string_view(url).substr(mark + 1), "...");
    }
    return cause;
}

/// Fills in outcome, status and cause after the transfer ended with `code`.
void conclude(CURL* handle, CURLcode code, const char* details, const HttpRequest& request,
              const ResponseBuffer& buffer) {
    HttpAnswer& answer = buffer.answer;
    answer.timed_out = code == CURLE_OPERATION_TIMEDOUT;
    if (code == CURLE_OK) {
        long status = 0;
        curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
        answer.status = static_cast<int>(status);
        if (status >= 200) {
            answer.outcome = HttpOutcome::answered;
            return;
        }
        answer.cause = "no final answer, status " + std::to_string(status);
    } else if (provably_unsent(handle, code)) {
        answer.outcome = HttpOutcome::not_sent;
        answer.cause = cause_of(code, details, request.url);
    } else if (buffer.too_large) {
        answer.cause = "the answer is larger than " + std::to_string(request.max_answer_bytes) + " bytes";
    } else {
        answer.cause = code == CURLE_ABORTED_BY_CALLBACK ? "stopped" : cause_of(code, details, request.url);
    }
    // A part of an answer must not be taken for one.
    answer.status = 0;
    answer.headers.clear();
    answer.body.clear();
}

/// A request that was not sent because every address of its host is barred says so.
void note_refusal(const EgressGuard& guard, HttpAnswer& answer) {
    if (answer.outcome != HttpOutcome::not_sent || guard.refusal().empty()) return;
    answer.is_barred = true;
    answer.cause = guard.refusal();
}

HttpAnswer transfer(const HttpRequest& request) {
    if (std::string reason = objection(request); !reason.empty()) return unsent(std::move(reason));
    const CurlHandles* const handles = handles_of_this_thread();
    const CurlList headers = header_list(request);
    if (handles == nullptr || headers == nullptr) return unsent("out of memory");
    CURL* const handle = handles->easy.get();

    HttpAnswer answer;
    ResponseBuffer buffer{answer, request.max_answer_bytes};
    char details[CURL_ERROR_SIZE] = "";
    CurlOptions options(handle);
    set_transport(options, request);
    set_method(options, request);
    options.set(CURLOPT_HTTPHEADER, headers.get());
    options.set(CURLOPT_HEADERFUNCTION, &on_header);
    options.set(CURLOPT_HEADERDATA, static_cast<void*>(&buffer));
    options.set(CURLOPT_WRITEFUNCTION, &on_body);
    options.set(CURLOPT_WRITEDATA, static_cast<void*>(&buffer));
    options.set(CURLOPT_ERRORBUFFER, static_cast<char*>(details));
    EgressGuard guard(request);
    if (!guard.install(handle) || !options.all_taken()) {
        curl_easy_reset(handle);
        return unsent("libcurl does not take an option");
    }

    const CURLcode code = perform(*handles, request.stop);
    conclude(handle, code, static_cast<const char*>(details), request, buffer);
    note_refusal(guard, answer);
    curl_easy_reset(handle);  // it must not keep pointers to what ends here
    return answer;
}

}  // namespace

HttpClient::HttpClient() {
    static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
    static_cast<void>(initialised);  // should it fail, curl_easy_init tries again and send() reports
}

HttpAnswer HttpClient::send(const HttpRequest& request) const {
    try {
        HttpAnswer answer = transfer(request);
        answer.received_at = system_now();
        return answer;
    } catch (const std::exception&) {
        HttpAnswer answer;
        answer.cause = "out of memory";  // shorter than a std::string's own room: does not throw again
        return answer;
    }
}

std::function<HttpAnswer(const HttpRequest&)> over_http() {
    return [http = HttpClient()](const HttpRequest& request) { return http.send(request); };
}

}  // namespace epilogue
