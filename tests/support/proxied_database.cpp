#include "tests/support/proxied_database.h"

#include <stdexcept>

#include "base/ids.h"

namespace epilogue::testing {
namespace {

std::string new_database() {
    const std::string name = "proxied_" + random_uuid();
    ProxiedDatabase::server().create_database(name);
    return name;
}

std::unique_ptr<MysqlSession> opened(const MysqlSettings& settings) {
    auto session = MysqlSession::open(settings);
    if (!session) throw std::runtime_error(session.error().text);
    return std::move(*session);
}

}  // namespace

ProxiedDatabase::ProxiedDatabase()
    : name_(new_database()), proxy_(server().port(), Wire::mysql, [](std::int64_t session) {
          server().query("KILL " + std::to_string(session));
      }) {}

const Database& ProxiedDatabase::server() {
    static const Database one;
    return one;
}

MysqlSettings ProxiedDatabase::settings() const {
    MysqlSettings settings = server().settings(name_);
    settings.port = proxy_.port();
    return settings;
}

std::unique_ptr<MysqlSession> ProxiedDatabase::session() const {
    return opened(settings());
}

std::unique_ptr<MysqlSession> ProxiedDatabase::administrator() const {
    return opened(server().administrator());
}

std::vector<Row> ProxiedDatabase::query(const std::string& sql) const {
    return server().query(sql, name_);
}

std::int64_t ProxiedDatabase::number(const std::string& sql) const {
    return server().number(sql, name_);
}

bool ProxiedDatabase::has_session(std::int64_t id) const {
    return number("SELECT COUNT(*) FROM information_schema.processlist WHERE id=" + std::to_string(id)) == 1;
}

}  // namespace epilogue::testing
