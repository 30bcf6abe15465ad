// Baseline: the least that any consumer with state in a database can do. librdkafka reads, simdjson finds the
// conversation's status, one bulk upsert and one commit a batch write what changed and the positions. It
// keeps no turns, no words and no promises. One line of JSON when it is through: epilogue-bench-floor BROKERS
// TOPIC EVENTS PORT USER PASSWORD DATABASE
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include "base/io/mysql.h"
#include "bench/baselines/topic_reader.h"

namespace {

struct Conversation {
    std::string status;
    long events = 0;
};

/// Since the last commit.
struct Changed {
    std::map<std::string, Conversation> conversations;
    std::map<int, long> positions;
};

/// Ends the program when the database refuses.
void run(epilogue::MysqlSession& session, const std::string& sql) {
    if (const auto done = session.run(sql); !done) {
        std::fprintf(stderr, "%s\n", done.error().text.c_str());
        std::exit(1);
    }
}

/// The status when the event is one of a conversation's status; empty: it is another event.
std::string status_in(simdjson::ondemand::parser& parser, std::string& text) {
    simdjson::ondemand::document document;
    simdjson::ondemand::object event;
    std::string_view key;
    std::string_view status;
    if (parser.iterate(text).get(document) != simdjson::SUCCESS ||
        document.get_object().get(event) != simdjson::SUCCESS ||
        event["key"].get_string().get(key) != simdjson::SUCCESS || key != "execution_status" ||
        event["value"].get_string().get(status) != simdjson::SUCCESS)
        return {};
    return std::string(status);
}

void write(epilogue::MysqlSession& session, const Changed& changed) {
    std::vector<std::string> conversations;
    for (const auto& [id, now] : changed.conversations)
        conversations.push_back(fmt::format("('{}','{}',{})", id, now.status, now.events));
    std::vector<std::string> positions;
    for (const auto& [partition, next] : changed.positions)
        positions.push_back(fmt::format("({},{})", partition, next));
    run(session, "BEGIN");
    run(session, fmt::format("INSERT INTO plain VALUES {} ON DUPLICATE KEY UPDATE "
                             "status=IF(VALUES(status)='', status, VALUES(status)), "
                             "events=events+VALUES(events)",
                             fmt::join(conversations, ",")));
    run(session, fmt::format("REPLACE INTO positions VALUES {}", fmt::join(positions, ",")));
    run(session, "COMMIT");
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 8) return 64;
    epilogue::MysqlSettings settings;
    settings.port = std::atoi(argv[4]);
    settings.user = argv[5];
    settings.password = argv[6];
    settings.database = argv[7];
    const auto opened = epilogue::MysqlSession::open(settings);
    if (!opened) {
        std::fprintf(stderr, "%s\n", opened.error().text.c_str());
        return 1;
    }
    epilogue::MysqlSession& session = **opened;
    run(session,
        "CREATE TABLE plain (id VARBINARY(255) PRIMARY KEY, status VARCHAR(64) NOT NULL, events BIGINT)");
    run(session, "CREATE TABLE positions (part INT PRIMARY KEY, next BIGINT)");

    constexpr long batch = 5000;
    const long wanted = std::atol(argv[3]);
    epilogue::bench::TopicReader reader(argv[1], argv[2], "floor");
    simdjson::ondemand::parser parser;
    Changed changed;
    for (long events = 1; events <= wanted; ++events) {
        const auto message = reader.next();
        std::string text(static_cast<const char*>(message->payload), message->len);
        auto& now = changed.conversations[{static_cast<const char*>(message->key), message->key_len}];
        ++now.events;
        if (auto status = status_in(parser, text); !status.empty()) now.status = std::move(status);
        changed.positions[message->partition] = message->offset + 1;
        if (events % batch != 0 && events != wanted) continue;
        write(session, changed);
        changed = {};
    }
    epilogue::bench::tell_and_end(reader, wanted);
}
