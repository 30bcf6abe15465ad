#include "worker/serve/callback_api.h"

#include <algorithm>
#include <chrono>

#include <nlohmann/json.hpp>

#include "base/ids.h"
#include "base/json_text.h"
#include "base/text.h"
#include "worker/serve/callback_listing.h"
#include "worker/serve/registration_form.h"
#include "worker/store/callback_rows.h"

namespace epilogue {
namespace {

constexpr std::string_view collection = "/api/callbacks";
constexpr std::int64_t max_listed = 1000;

/// How long the database may take: a client waits, and one of the server's few threads with it.
constexpr std::chrono::seconds connect_within{2};
constexpr std::chrono::seconds answer_within{5};

MysqlSettings impatient(MysqlSettings settings) {
    settings.connect_timeout = connect_within;
    settings.answer_timeout = answer_within;
    return settings;
}

/// Another store, in which nothing is begun again after `answer_within`: a row that is kept locked
/// must not hold up its client five times.
class HastyStore final : public Store {
  public:
    explicit HastyStore(Store& store) : store_(store) {}

    Result<void> transact(const Work& work, const Check& is_done) override {
        const auto deadline = std::chrono::steady_clock::now() + answer_within;
        return store_.transact(
            [&](Transaction& transaction) -> Result<void> {
                if (std::chrono::steady_clock::now() > deadline)
                    return retryable("the database is too slow, or a row is locked for long");
                return work(transaction);
            },
            is_done);
    }
    Result<void> read_only(const Work& work) override { return store_.read_only(work); }
    Result<void> end_session(std::int64_t id) override { return store_.end_session(id); }
    Result<Installation> installation() override { return store_.installation(); }

  private:
    Store& store_;
};

/// The id in "/api/callbacks/ID".
std::optional<CallbackId> id_in(std::string_view path) {
    if (!path.starts_with(collection) || path.substr(collection.size(), 1) != "/") return std::nullopt;
    const auto id = integer_in(path.substr(collection.size() + 1));
    return id && *id > 0 ? std::optional(CallbackId{*id}) : std::nullopt;
}

bool is_read(const ApiRequest& request) {
    return request.method == "GET" || request.method == "HEAD";
}

ApiAnswer not_allowed(const std::string& methods) {
    ApiAnswer answer = api_error(405, "the method is none of " + methods);
    answer.headers.emplace_back("Allow", methods);
    return answer;
}

ApiAnswer come_again(const std::string& detail, int seconds) {
    ApiAnswer answer = api_error(503, detail);
    answer.headers.emplace_back("Retry-After", std::to_string(seconds));
    return answer;
}

/// What the client can mend is a 422, the rest is over sooner or later.
ApiAnswer failed(const Error& error) {
    constexpr int retry_after_s = 5;
    if (error.remedy == Remedy::poison) return api_error(422, error.text);
    if (is_missing_table(error))
        return come_again("the database's tables are older than this version needs: run epilogue migrate",
                          retry_after_s);
    return come_again("the database is unavailable: " + error.text, retry_after_s);
}

bool is_json_type(std::string_view content_type) {
    return lowered(trimmed(content_type.substr(0, content_type.find(';')))) == "application/json";
}

/// The filter that the parameters ask for; or which of them is wrong, and what was expected.
tl::expected<CallbackFilter, std::string> filter_of(
    const std::multimap<std::string, std::string>& parameters) {
    CallbackFilter filter;
    const auto wrong = [](const std::string& text) { return tl::unexpected(text); };
    for (const auto& [name, value] : parameters) {
        const auto number = integer_in(value);
        if (name == "status") {
            const auto& known = callback_statuses();
            if (std::find(known.begin(), known.end(), value) == known.end())
                return wrong("status: expected ACTIVE, COMPLETED or ERROR");
            filter.status = value;
        } else if (name == "conversation_id" || name == "conversation") {
            filter.conversation = value;
        } else if (name == "dormant") {
            if (value != "true" && value != "false") return wrong("dormant: expected true or false");
            filter.dormant = value == "true";
        } else if (name == "limit") {
            if (!number || *number < 1 || *number > max_listed)
                return wrong("limit: expected 1 to " + std::to_string(max_listed));
            filter.limit = *number;
        } else if (name == "after") {
            if (!number || *number < 0) return wrong("after: expected the id of a callback");
            filter.after = {*number};
        } else {
            return wrong("expected none but status, conversation_id, dormant, limit and after as parameters");
        }
    }
    return filter;
}

}  // namespace

ApiAnswer api_error(int status, const std::string& detail) {
    const nlohmann::json body{{"detail", detail}};
    return {status, json_line(body) + "\n", {}};
}

CallbackApi::CallbackApi(const Config& config, CallbackApiParts parts)
    : config_(config),
      parts_(std::move(parts)),
      api_key_(config.worker.api_key),
      store_(impatient(parts_.database), StoreObserver{}) {}

void CallbackApi::reload(const Config& config) {
    store_.change_password(config.database.password.reveal());
    const std::lock_guard lock(mutex_);
    api_key_ = config.worker.api_key;
}

Secret CallbackApi::api_key() const {
    const std::lock_guard lock(mutex_);
    return api_key_;
}

std::optional<ApiAnswer> CallbackApi::refusal(const ApiRequest& head) const {
    if (!is_on())
        return api_error(403, "the API is off: set [worker] api_key (EPILOGUE_WORKER_API_KEY) to turn it on");
    if (!is_same(api_key(), head.api_key)) {
        ApiAnswer answer =
            api_error(401, head.api_key.empty() ? "X-Session-API-Key: expected [worker] api_key"
                                                : "X-Session-API-Key: it is not [worker] api_key");
        answer.headers.emplace_back("WWW-Authenticate", "X-Session-API-Key");
        return answer;
    }
    if (head.path == collection) {
        if (is_read(head)) return std::nullopt;
        if (head.method != "POST") return not_allowed("GET, HEAD, POST");
        if (!is_json_type(head.content_type))
            return api_error(415, "Content-Type: expected application/json");
        if (!head.idempotency_key) return std::nullopt;
        if (is_request_key(*head.idempotency_key)) return std::nullopt;
        return api_error(400, "Idempotency-Key: " + std::string(expected_request_key));
    }
    if (!id_in(head.path)) return api_error(404, "there is nothing at this path");
    return is_read(head) || head.method == "DELETE" ? std::nullopt
                                                    : std::optional(not_allowed("DELETE, GET, HEAD"));
}

ApiAnswer CallbackApi::answer(const ApiRequest& request) {
    struct Place {
        std::atomic<int>& taken;
        explicit Place(std::atomic<int>& count) : taken(count) { ++taken; }
        ~Place() { --taken; }
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;
    };
    const Place place(under_way_);
    if (under_way_ > max_at_once) return come_again("too many requests at the same time", 1);
    const auto id = id_in(request.path);
    if (!id) return is_read(request) ? list(request) : add(request);
    return is_read(request) ? show(*id) : cancel(*id);
}

ApiAnswer CallbackApi::add(const ApiRequest& request) {
    if (request.body.size() > max_body_bytes)
        return api_error(413, "the body: expected at most " + std::to_string(max_body_bytes) + " bytes");
    const auto form = form_from_json(request.body);
    if (!form) return api_error(form.error().is_json ? 422 : 400, form.error().detail);
    auto wanted = request_of(*form, config_, parts_.watch);
    if (!wanted) return failed(wanted.error());
    if (request.idempotency_key)
        wanted->kept = IdempotentRequest{*request.idempotency_key, sha256_hex(request.body), ""};
    HastyStore store(store_);
    const auto planner = parts_.planner(store);
    if (!planner) return failed(planner.error());
    const auto registered = register_callback(store, *planner, *wanted);
    if (!registered) return failed(registered.error());
    const bool is_new = !registered->existed && !registered->is_equal;
    ApiAnswer answer = show(registered->callback_id, is_new ? 201 : 200);
    answer.headers.emplace_back(
        "Location", std::string(collection) + "/" + std::to_string(registered->callback_id.value));
    if (registered->existed) answer.headers.emplace_back("Idempotent-Replayed", "true");
    if (registered->is_equal) answer.headers.emplace_back("Already-Registered", "true");
    return answer;
}

ApiAnswer CallbackApi::list(const ApiRequest& request) {
    const auto filter = filter_of(request.parameters);
    if (!filter) return api_error(422, filter.error());
    const auto rows = list_callbacks(store_, *filter);
    if (!rows) return failed(rows.error());
    return {200, array_json(callback_list_columns(), *rows) + "\n", {}};
}

ApiAnswer CallbackApi::show(CallbackId id, int status) {
    const auto row = find_callback(store_, id);
    if (!row) return failed(row.error());
    if (!*row) return api_error(404, no_callback(id));
    return {status, object_json(callback_columns(), **row) + "\n", {}};
}

ApiAnswer CallbackApi::cancel(CallbackId id) {
    HastyStore store(store_);
    const auto known = cancel_callback(store, id);
    if (!known) return failed(known.error());
    return show(id);
}

}  // namespace epilogue
