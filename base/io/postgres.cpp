#include "base/io/postgres.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include <libpq-fe.h>
#include <poll.h>

#include "base/text.h"

namespace epilogue {
namespace {

constexpr const char* reach_timeout_s = "4";  // a host of two addresses is given up within ten seconds
constexpr std::chrono::seconds answer_timeout{60};

struct CloseResult {
    void operator()(PGresult* result) const { PQclear(result); }
};
using Answer = std::unique_ptr<PGresult, CloseResult>;

struct CloseOptions {
    void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};

/// libpq's messages have several lines, and end with one.
std::string in_one_line(std::string_view message) {
    std::string line;
    for (const std::string& part : split(message, '\n')) (line += line.empty() ? "" : "; ") += part;
    return line;
}

/// "%40" and the like as what they stand for; nullopt when that is not how it is written.
std::optional<std::string> percent_decoded(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string decoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            decoded += text[i];
            continue;
        }
        const std::string pair = lowered(text.substr(i + 1, 2));
        const std::size_t high = pair.size() == 2 ? digits.find(pair[0]) : std::string_view::npos;
        const std::size_t low = pair.size() == 2 ? digits.find(pair[1]) : std::string_view::npos;
        if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
        decoded += static_cast<char>(high * digits.size() + low);
        i += 2;
    }
    return decoded;
}

/// The socket is readable (or writable) before `end`.
bool is_ready(int socket, short events, std::chrono::steady_clock::time_point end) {
    while (true) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        if (left.count() <= 0) return false;
        pollfd waited{socket, events, 0};
        const int ready = ::poll(&waited, 1, static_cast<int>(left.count()));
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return false;
    }
}

std::vector<PostgresRow> rows_of(const PGresult& result) {
    std::vector<PostgresRow> rows(static_cast<std::size_t>(PQntuples(&result)));
    const int columns = PQnfields(&result);
    for (int i = 0; i < PQntuples(&result); ++i) {
        PostgresRow& row = rows[static_cast<std::size_t>(i)];
        for (int column = 0; column < columns; ++column) {
            const auto size = static_cast<std::size_t>(PQgetlength(&result, i, column));
            row.push_back(PQgetisnull(&result, i, column) != 0
                              ? std::nullopt
                              : std::optional(std::string(PQgetvalue(&result, i, column), size)));
        }
    }
    return rows;
}

}  // namespace

Result<PostgresAddress> PostgresAddress::parse(const std::string& url) {
    constexpr std::array<std::string_view, 2> schemes{"postgres://", "postgresql://"};
    const auto scheme =
        std::ranges::find_if(schemes, [&](std::string_view start) { return url.starts_with(start); });
    if (scheme == schemes.end()) return fatal("expected postgres://USER@HOST:PORT/DATABASE");
    const std::size_t begin = scheme->size();
    const std::size_t end = std::min(url.find_first_of("/?", begin), url.size());
    const std::size_t at = url.substr(0, end).rfind('@');
    if (at == std::string::npos && url.find('@', end) != std::string::npos)
        return fatal("a / in its password has to be written as %2F, a ? as %3F, an @ behind the host as %40");
    PostgresAddress address{url, {}};
    if (at != std::string::npos) {
        const std::size_t colon = url.substr(0, at).find(':', begin);
        if (colon != std::string::npos) {
            const auto password = percent_decoded(std::string_view(url).substr(colon + 1, at - colon - 1));
            if (!password) return fatal("its password: a % has to be written as %25");
            address = {url.substr(0, colon) + url.substr(at), Secret(*password)};
        }
    }
    if (address.url.find("password=", end) != std::string::npos)
        return fatal("a password stands before the @ of the URL, or in --password env:NAME or file:PATH");
    char* fault = nullptr;
    const std::unique_ptr<PQconninfoOption, CloseOptions> parsed(
        PQconninfoParse(address.url.c_str(), &fault));
    const std::string why = fault == nullptr ? "" : in_one_line(fault);
    PQfreemem(fault);
    if (!parsed) return fatal(why.empty() ? "not a PostgreSQL URL" : why);
    return address;
}

struct PostgresSession::Driver {
    PGconn* connection = nullptr;

    explicit Driver(PGconn* made) : connection(made) {}
    ~Driver() { PQfinish(connection); }
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;

    /// Sends what libpq has still to send, and waits until the whole answer is here.
    bool has_answer(std::chrono::steady_clock::time_point end) const {
        const int socket = PQsocket(connection);
        while (true) {
            const int unsent = PQflush(connection);
            if (unsent < 0) return false;
            if (unsent == 0 && PQisBusy(connection) == 0) return true;
            const auto events = static_cast<short>(unsent > 0 ? POLLIN | POLLOUT : POLLIN);
            if (!is_ready(socket, events, end) || PQconsumeInput(connection) == 0) return false;
        }
    }
};

PostgresSession::PostgresSession(std::unique_ptr<Driver> driver) : driver_(std::move(driver)) {}
PostgresSession::~PostgresSession() = default;

Failure PostgresSession::failed(const std::string& text) {
    if (PQstatus(driver_->connection) != CONNECTION_OK) broken_ = true;
    return retryable("PostgreSQL: " + in_one_line(text));
}

Result<std::unique_ptr<PostgresSession>> PostgresSession::open(const PostgresAddress& address) {
    // What stands behind the URL wins over it, what stands before it does not.
    std::vector<const char*> names{"connect_timeout", "fallback_application_name", "dbname",
                                   "client_encoding"};
    std::vector<const char*> values{reach_timeout_s, "epilogue import", address.url.c_str(), "UTF8"};
    if (!address.password.empty()) {
        names.push_back("password");
        values.push_back(address.password.reveal().c_str());
    }
    names.push_back(nullptr);
    values.push_back(nullptr);
    auto driver = std::make_unique<Driver>(PQconnectdbParams(names.data(), values.data(), 1));
    if (driver->connection == nullptr) return retryable("PostgreSQL: no memory for a connection");
    if (PQstatus(driver->connection) != CONNECTION_OK)
        return retryable("PostgreSQL: " + in_one_line(PQerrorMessage(driver->connection)));
    PQsetnonblocking(driver->connection, 1);
    std::unique_ptr<PostgresSession> session(new PostgresSession(std::move(driver)));
    TRY_VOID(session->query("SET default_transaction_read_only = on"));
    TRY_VOID(session->query("SET TimeZone = 'UTC'"));
    return session;
}

Result<std::vector<PostgresRow>> PostgresSession::query(const std::string& sql,
                                                        const std::vector<std::string>& values) {
    PGconn* const connection = driver_->connection;
    std::vector<const char*> texts;
    for (const std::string& value : values) texts.push_back(value.c_str());
    const auto end = std::chrono::steady_clock::now() + answer_timeout;
    if (PQsendQueryParams(connection, sql.c_str(), static_cast<int>(texts.size()), nullptr, texts.data(),
                          nullptr, nullptr, 0) == 0)
        return failed(PQerrorMessage(connection));
    std::vector<PostgresRow> rows;
    std::string fault;
    while (true) {
        if (!driver_->has_answer(end)) {
            broken_ = true;
            const std::string why = PQerrorMessage(connection);
            return failed(why.empty() ? "no answer within a minute" : why);
        }
        const Answer answer(PQgetResult(connection));
        if (!answer) break;
        const ExecStatusType status = PQresultStatus(answer.get());
        if (status == PGRES_TUPLES_OK) rows = rows_of(*answer);
        if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
            fault = PQresultErrorMessage(answer.get());
    }
    if (!fault.empty()) return failed(fault);
    return rows;
}

}  // namespace epilogue
