// A database of a case's own, reached through a proxy that can break its connections.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tests/support/database.h"
#include "tests/support/fault_proxy.h"

namespace epilogue::testing {

/// An empty database of one server of this program, and the only way to it. Errors are std::runtime_error.
/// Thread-safe.
class ProxiedDatabase {
  public:
    ProxiedDatabase();

    static const Database& server();

    FaultProxy& proxy() { return proxy_; }
    const FaultProxy& proxy() const { return proxy_; }
    /// Through the proxy, as the user.
    MysqlSettings settings() const;
    /// A new session of the product through the proxy.
    std::unique_ptr<MysqlSession> session() const;
    /// A new session of the administrator, not through the proxy.
    std::unique_ptr<MysqlSession> administrator() const;

    /// Past the proxy, as administrator: rows, or the one number that a query answers.
    std::vector<Row> query(const std::string& sql) const;
    std::int64_t number(const std::string& sql) const;
    /// Whether the server still has this session.
    bool has_session(std::int64_t id) const;

  private:
    const std::string name_;
    FaultProxy proxy_;
};

}  // namespace epilogue::testing
