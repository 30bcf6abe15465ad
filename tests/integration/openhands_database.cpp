#include "tests/integration/openhands_database.h"

#include "base/ids.h"
#include "base/text.h"

namespace epilogue::testing {
namespace {

/// conversation_callbacks: alembic 049 and 051; event_callback: 076 and 080. Their foreign keys lead to
/// tables that have no part in this.
constexpr const char* tables = R"(
CREATE TYPE callbackstatus AS ENUM ('ACTIVE','COMPLETED','ERROR');
CREATE TABLE conversation_callbacks (
  id SERIAL PRIMARY KEY,
  conversation_id VARCHAR NOT NULL,
  status callbackstatus NOT NULL,
  processor_type VARCHAR NOT NULL,
  processor_json TEXT NOT NULL,
  created_at TIMESTAMP WITHOUT TIME ZONE DEFAULT CURRENT_TIMESTAMP,
  updated_at TIMESTAMP WITHOUT TIME ZONE DEFAULT CURRENT_TIMESTAMP);
CREATE INDEX ix_conversation_callbacks_conversation_id ON conversation_callbacks (conversation_id);
CREATE TYPE eventcallbackstatus AS ENUM ('ACTIVE','DISABLED','COMPLETED','ERROR');
CREATE TABLE event_callback (
  id UUID PRIMARY KEY,
  conversation_id UUID,
  status eventcallbackstatus NOT NULL DEFAULT 'ACTIVE',
  processor JSON,
  event_kind VARCHAR,
  created_at TIMESTAMP WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP,
  updated_at TIMESTAMP WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP);
CREATE TYPE eventcallbackresultstatus AS ENUM ('SUCCESS','ERROR');
CREATE TABLE event_callback_result (
  id UUID PRIMARY KEY,
  status eventcallbackresultstatus,
  event_callback_id UUID,
  event_id VARCHAR,
  conversation_id UUID,
  detail VARCHAR,
  created_at TIMESTAMP WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP);
GRANT SELECT ON conversation_callbacks, event_callback, event_callback_result TO reader;
)";

}  // namespace

PostgresServer& postgres_of_this_program() {
    static PostgresServer one;
    static const bool has_reader =
        (one.query("postgres", "CREATE ROLE reader LOGIN PASSWORD 'r3ad/only'"), true);
    (void)has_reader;
    return one;
}

std::string pg_quoted(const std::string& text) {
    return "'" + replaced(text, "'", "''") + "'";
}

OpenHandsDatabase::OpenHandsDatabase(PostgresServer& server, const std::string& name)
    : server_(server), name_(name) {
    server_.create_database(name_);
    query(tables);
}

std::string OpenHandsDatabase::url() const {
    return replaced(server_.url(name_, "reader"), "reader@", "reader:r3ad%2fonly@");
}

std::string OpenHandsDatabase::add_v0(const std::string& conversation, const std::string& type,
                                      const std::string& json, const std::string& status,
                                      const std::string& created_at) const {
    return query(
               "INSERT INTO conversation_callbacks (conversation_id, status, processor_type, "
               "processor_json, created_at) VALUES (" +
               pg_quoted(conversation) + "," + pg_quoted(status) + "," + pg_quoted(type) + "," +
               pg_quoted(json) + "," + created_at + ") RETURNING id")
        .at(0)
        .at(0)
        .value();
}

std::string OpenHandsDatabase::add_v1(const std::string& conversation, const std::string& processor,
                                      const std::string& status) const {
    const std::string id = random_uuid();
    query("INSERT INTO event_callback (id, conversation_id, status, processor, event_kind) VALUES (" +
          pg_quoted(id) + "," + (conversation.empty() ? "NULL" : pg_quoted(conversation)) + "," +
          pg_quoted(status) + "," + pg_quoted(processor) + ",'ConversationStateUpdateEvent')");
    return id;
}

void OpenHandsDatabase::add_result(const std::string& callback, const std::string& event,
                                   const std::string& status) const {
    query("INSERT INTO event_callback_result (id, status, event_callback_id, event_id, detail) VALUES (" +
          pg_quoted(random_uuid()) + "," + pg_quoted(status) + "," + pg_quoted(callback) + "," +
          pg_quoted(event) + ",'what was posted')");
}

std::string OpenHandsDatabase::content() const {
    std::string all;
    for (const char* table : {"conversation_callbacks", "event_callback", "event_callback_result"})
        for (const auto& row : query(std::string("SELECT xmin::text || ' ' || t::text FROM ") + table + " t"))
            all += row.at(0).value_or("") + "\n";
    return all;
}

const std::string github_v0 =
    "server.conversation_callback_processor.github_callback_processor.GithubCallbackProcessor";

std::string github_view(int number, const std::string& more) {
    return R"({"github_view":{"full_repo_name":"octo/imported","issue_number":)" + std::to_string(number) +
           R"(},"send_summary_instruction":true)" + more + "}";
}

std::string slack_v1(const std::string& channel) {
    return R"({"slack_view_data":{"channel_id":")" + channel +
           R"(","message_ts":"17.5","thread_ts":null,"team_id":"T1"},"kind":"SlackV1CallbackProcessor"})";
}

}  // namespace epilogue::testing
