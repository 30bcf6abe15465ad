#include "base/io/smtp.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <stop_token>
#include <string_view>
#include <utility>

#include <curl/curl.h>
#include <sys/socket.h>

#include "base/control_character.h"
#include "base/http_unanswered.h"
#include "base/io/curl_handles.h"
#include "base/io/curl_options.h"
#include "base/mail_server.h"

namespace epilogue {
namespace {

constexpr std::size_t max_reply_bytes = std::size_t{8} << 10U;
constexpr int first_refusal = 400;
constexpr int login_failed = 535;

/// One transfer, as the callbacks see it.
struct Transfer {
    std::string_view left;     ///< of the message
    bool was_read = false;     ///< all of it: libcurl sends the end by itself, maybe by now
    bool is_message = false;   ///< the sender was named: the login is over
    bool awaits_reply = true;  ///< to the greeting, or to what was said last
    bool is_over = false;      ///< we have said QUIT
    std::string reply;         ///< the newest of the server's
    bool is_whole = true;      ///< that reply, to its last line
    curl_socket_t socket = CURL_SOCKET_BAD;
    std::stop_token stop{};
};

// libcurl calls these from C: no exception may pass.
std::size_t on_read(char* to, std::size_t size, std::size_t count, void* context) {
    Transfer& transfer = *static_cast<Transfer*>(context);
    const std::size_t bytes = std::min(size * count, transfer.left.size());
    std::memcpy(to, transfer.left.data(), bytes);
    transfer.left.remove_prefix(bytes);
    transfer.was_read = transfer.left.empty();
    transfer.awaits_reply = true;
    return bytes;
}

/// A line of a reply: "250-more follows", "250 the last one".
std::size_t on_reply(char* bytes, std::size_t, std::size_t size, void* context) {
    try {
        Transfer& transfer = *static_cast<Transfer*>(context);
        if (transfer.is_over) return size;
        const std::string_view line(bytes, size);
        if (transfer.is_whole) transfer.reply.clear();
        if (transfer.reply.size() + size <= max_reply_bytes) transfer.reply += line;
        constexpr std::size_t behind_code = 3;
        transfer.is_whole = line.size() <= behind_code || line[behind_code] != '-';
        if (transfer.is_whole) transfer.awaits_reply = false;
        return size;
    } catch (const std::exception&) {
        return 0;
    }
}

/// What is said to the server, and all else that libcurl tells.
int on_said(CURL*, curl_infotype type, char* bytes, std::size_t size, void* context) {
    if (type != CURLINFO_HEADER_OUT) return 0;
    Transfer& transfer = *static_cast<Transfer*>(context);
    const std::string_view line(bytes, size);
    if (line.starts_with("QUIT")) {
        transfer.is_over = true;
        ::shutdown(transfer.socket, SHUT_RD);  // libcurl would wait for its answer, beyond the deadline
        return 0;
    }
    transfer.awaits_reply = true;
    transfer.is_message = transfer.is_message || line.starts_with("MAIL FROM:");
    return 0;
}

/// Asked once a second while libcurl waits for a reply by itself, to the end of the message: perform() cannot
/// end that.
int on_progress(void* context, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<const std::stop_token*>(context)->stop_requested() ? 1 : 0;
}

std::size_t on_nothing(char*, std::size_t size, std::size_t count, void*) {
    return size * count;
}

int on_socket(void* context, curl_socket_t socket, curlsocktype) {
    static_cast<Transfer*>(context)->socket = socket;
    return CURL_SOCKOPT_OK;
}

/// Why the request must not be sent at all; "" when it may be.
std::string objection(const HttpRequest& request) {
    if (request.timeout.count() <= 0) return "no time left";  // libcurl would read 0 as "no limit"
    if (request.stop.stop_requested()) return "stopped before it was sent";
    if (request.method != mail_method || request.mail == nullptr) return "this is no mail";
    if (std::any_of(request.headers.begin(), request.headers.end(), has_control_character))
        return "an address holds a control character";
    return "";
}

/// The recipients; false when there is no memory.
bool list_recipients(const HttpRequest& request, CurlList& recipients) {
    return std::all_of(request.headers.begin(), request.headers.end(), [&](const std::string& header) {
        return !header.starts_with(mail_to) || append(recipients, header.c_str() + mail_to.size());
    });
}

std::string sender_of(const HttpRequest& request) {
    for (const std::string& header : request.headers)
        if (header.starts_with(mail_from)) return header.substr(mail_from.size());
    return {};
}

void set_server(CurlOptions& options, const HttpRequest& request) {
    const MailServer& server = *request.mail;
    set_common_options(options);
    options.set(CURLOPT_URL, (request.url + "/" + server.hello).c_str());
    options.set(CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    options.set(CURLOPT_TIMEOUT_MS, request.timeout.count());
    options.set(CURLOPT_USE_SSL, static_cast<long>(server.must_encrypt ? CURLUSESSL_ALL : CURLUSESSL_NONE));
    if (!server.user.empty()) {
        options.set(CURLOPT_USERNAME, server.user.c_str());
        options.set(CURLOPT_PASSWORD, server.password.c_str());
    }
    options.set(CURLOPT_FRESH_CONNECT, 1L);
    options.set(CURLOPT_FORBID_REUSE, 1L);
}

void set_callbacks(CurlOptions& options, Transfer& transfer) {
    options.set(CURLOPT_HEADERFUNCTION, &on_reply);
    options.set(CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
    options.set(CURLOPT_WRITEFUNCTION, &on_nothing);
    options.set(CURLOPT_READFUNCTION, &on_read);
    options.set(CURLOPT_READDATA, static_cast<void*>(&transfer));
    options.set(CURLOPT_SOCKOPTFUNCTION, &on_socket);
    options.set(CURLOPT_SOCKOPTDATA, static_cast<void*>(&transfer));
    options.set(CURLOPT_DEBUGFUNCTION, &on_said);
    options.set(CURLOPT_DEBUGDATA, static_cast<void*>(&transfer));
    options.set(CURLOPT_VERBOSE, 1L);  // only then is on_said called
    options.set(CURLOPT_XFERINFOFUNCTION, &on_progress);
    options.set(CURLOPT_XFERINFODATA, static_cast<void*>(&transfer.stop));
    options.set(CURLOPT_NOPROGRESS, 0L);  // only then is on_progress called
}

HttpAnswer concluded(CURLcode code, int status, const Transfer& transfer, const char* details) {
    HttpAnswer answer;
    answer.timed_out = code == CURLE_OPERATION_TIMEDOUT;
    answer.headers[mail_phase] = transfer.is_message ? phase_message : phase_login;
    const bool is_refused = status >= first_refusal && !transfer.awaits_reply;
    if (code == CURLE_OK || is_refused) {
        answer.outcome = HttpOutcome::answered;
        answer.status = status;
        answer.body = transfer.reply;
    } else if (code == CURLE_LOGIN_DENIED && !transfer.awaits_reply) {
        answer.outcome = HttpOutcome::answered;
        answer.status = login_failed;
        answer.body = "the server offers no way to log in that we know";
    } else {
        answer.outcome = transfer.was_read ? HttpOutcome::uncertain : HttpOutcome::not_sent;
        answer.cause = code == CURLE_ABORTED_BY_CALLBACK ? "stopped"
                       : *details != '\0'                ? details
                                                         : curl_easy_strerror(code);
    }
    return answer;
}

HttpAnswer transferred(const HttpRequest& request) {
    if (std::string reason = objection(request); !reason.empty()) return unsent(std::move(reason));
    Transfer transfer;
    transfer.left = request.body;
    transfer.stop = request.stop;
    char details[CURL_ERROR_SIZE] = "";
    const std::string sender = sender_of(request);
    CurlList recipients;
    const CurlHandles handles;  // they end before what they point to
    if (!handles.multi || !handles.easy || !list_recipients(request, recipients))
        return unsent("out of memory");
    CurlOptions options(handles.easy.get());
    set_server(options, request);
    set_callbacks(options, transfer);
    options.set(CURLOPT_ERRORBUFFER, static_cast<char*>(details));
    if (recipients == nullptr) {
        options.set(CURLOPT_CUSTOMREQUEST, "NOOP");
    } else {
        options.set(CURLOPT_MAIL_FROM, sender.c_str());
        options.set(CURLOPT_MAIL_RCPT, recipients.get());
        options.set(CURLOPT_UPLOAD, 1L);
        options.set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    }
    if (!options.all_taken()) return unsent("libcurl does not take an option");
    const CURLcode code = perform(handles, request.stop);
    long status = 0;
    curl_easy_getinfo(handles.easy.get(), CURLINFO_RESPONSE_CODE, &status);
    return concluded(code, static_cast<int>(status), transfer, static_cast<const char*>(details));
}

}  // namespace

HttpAnswer send_mail(const HttpRequest& request) {
    try {
        HttpAnswer answer = transferred(request);
        answer.received_at = system_now();
        return answer;
    } catch (const std::exception&) {
        HttpAnswer answer;
        answer.cause = "out of memory";  // shorter than a std::string's own room: does not throw again
        return answer;
    }
}

std::function<HttpAnswer(const HttpRequest&)> with_mail(std::function<HttpAnswer(const HttpRequest&)> http) {
    return [http = std::move(http)](const HttpRequest& request) {
        return request.method == mail_method ? send_mail(request) : http(request);
    };
}

}  // namespace epilogue
