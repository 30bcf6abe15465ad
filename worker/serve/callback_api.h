// The API of callbacks (contract §7), apart from HTTP: what is asked, what is answered. The same code as the
// `callbacks` commands: registration_form.h, registration.h, callback_rows.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/config.h"
#include "base/ids.h"
#include "worker/apply/registration.h"
#include "worker/mysql/mysql_store.h"

namespace epilogue {

struct ApiRequest {
    std::string method;
    std::string path;
    std::multimap<std::string, std::string> parameters;
    std::string api_key;       ///< X-Session-API-Key
    std::string content_type;  ///< "": none
    std::optional<std::string> idempotency_key;
    std::string body;
};

struct ApiAnswer {
    int status = 200;
    std::string body;  ///< one JSON document; of an error {"detail": "…"}
    std::vector<std::pair<std::string, std::string>> headers = {};
};

/// An error as the API says it.
ApiAnswer api_error(int status, const std::string& detail);

/// What registrations take beside the configuration.
struct CallbackApiParts {
    MysqlSettings database;
    WatchRules watch;
    std::function<Result<Planner>(Store&)> planner;  ///< of this installation
};

/// Thread-safe. Each answer comes within some seconds: a database that does not answer is a 503.
class CallbackApi {
  public:
    /// Paths that begin so are its own.
    static constexpr std::string_view prefix = "/api/";
    static constexpr std::size_t max_body_bytes = std::size_t{1} << 20U;
    static constexpr int max_at_once = 16;  ///< more are asked to come again

    /// `config` outlives it. Off (403 for everything) while [worker] api_key is empty.
    CallbackApi(const Config& config, CallbackApiParts parts);

    bool is_on() const { return !api_key().empty(); }
    /// From now on requests need the key of `config`, and new sessions use its database password.
    void reload(const Config& config);
    /// The refusal of a request by what is known before its body; nullopt: read the body and ask answer().
    std::optional<ApiAnswer> refusal(const ApiRequest& head) const;
    /// Answers a request that was not refused.
    ApiAnswer answer(const ApiRequest& request);

  private:
    Secret api_key() const;
    ApiAnswer add(const ApiRequest& request);
    ApiAnswer list(const ApiRequest& request);
    ApiAnswer show(CallbackId id, int status = 200);
    ApiAnswer cancel(CallbackId id);

    const Config& config_;
    const CallbackApiParts parts_;
    mutable std::mutex mutex_;
    Secret api_key_;
    MysqlStore store_;
    std::atomic<int> under_way_ = 0;
};

}  // namespace epilogue
